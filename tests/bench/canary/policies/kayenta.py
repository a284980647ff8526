"""Kayenta: Mann-Whitney on per-minute points of the canary and of a fresh baseline of equal size.

After NetflixACAJudge: per metric, all pairwise differences of the points; a 98 % interval of their location; the canary
is "high" when the interval's lower end is above a quarter of the estimated shift. A metric without data, or with
constant equal data, passes; with half of the metrics without data the judgement fails. The score is the part of metrics
that pass; below `marginal` the canary is rolled back. Metrics are failures, retries and P99.
Simplified: the interval comes from sorted differences without ties' correction.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.draws import binomial
from tests.bench.canary.policies.policy import METRICS, UNNAMED, Bools, Case, End, Floats, Ints, Wish
from tests.bench.canary.policies.windows import Window, p99_ms
from tests.bench.canary.rates import CHANNELS, FAILED, REQUESTS, RETRIED, SLOW
from tests.bench.canary.telemetry import Seen

SHARE = 0.1
Z98 = 2.326
EFFECT = 0.25
MARGINAL = 75.0
JUDGED = (METRICS.index("outcomes"), METRICS.index("attempts"), METRICS.index("latency"))
THINNING = 40
"""Luck's channel of the baseline's own noise."""
MOST_POINTS = 60


@dataclass(frozen=True, slots=True)
class Rules:
    """Judged each `every` minutes from minute `first` on; promoted at minute `last`."""

    name: str
    first: int
    every: int
    last: int


KAYENTA = Rules("kayenta-30m", 30, 30, 60)
KAYENTA_OFTEN = Rules("kayenta-1m", 5, 1, 30)
RULES = {rules.name: rules for rules in (KAYENTA, KAYENTA_OFTEN)}


@dataclass(frozen=True, slots=True, eq=False)
class Kayenta:
    """`points` (runs, 2 versions, metrics, minutes): baseline's, then the canary's; nan where there was no request."""

    rules: Rules
    case: Case
    window: Window
    points: Floats
    lag_ticks: int = 1

    @classmethod
    def of(cls, case: Case, rules: Rules) -> "Kayenta":
        points = np.full((case.runs, 2, len(JUDGED), MOST_POINTS), np.nan)
        return cls(rules, case, Window.of(case.runs, 60.0), points)

    def begin(self) -> Floats:
        return np.full(self.case.runs, SHARE)

    def take(self, where: NDArray[np.intp]) -> "Kayenta":
        return replace(self, case=self.case.take(where), window=self.window.take(where), points=self.points[where])

    def see(self, tick: int, seen: Seen, share: Floats, settled: Bools) -> tuple[Self, Wish]:
        window = self.window.add(seen, self.case.stable)
        if not window.over(tick):
            return replace(self, window=window), Wish.same(np.full(len(share), SHARE))
        minute = (tick + 1) // window.ticks
        points = self.points.copy()
        points[..., minute - 1] = _points(_paired(window.sums, self.case, minute))
        later = replace(self, window=window.emptied(), points=points)
        judged = minute >= self.rules.first and (minute - self.rules.first) % self.rules.every == 0
        bad, named = _judged(points[..., :minute]) if judged else (np.zeros(len(share), bool), None)
        return later, _wish(bad, named, promotes=minute >= self.rules.last)


def _wish(bad: Bools, named: Ints | None, *, promotes: bool) -> Wish:
    share = np.where(bad, 0.0, 1.0 if promotes else SHARE)
    end = np.where(bad, End.ROLLED_BACK, End.PROMOTED if promotes else End.GOING)
    none = np.full(len(bad), UNNAMED)
    return Wish(share, end, none if named is None else np.where(bad, named, UNNAMED))


def _paired(sums: Floats, case: Case, minute: int) -> Floats:
    """The window's sums with stable thinned to a baseline of the canary's size."""
    stable, canary = sums[:, 0], sums[:, 1]
    part = np.minimum(canary[:, REQUESTS] / np.maximum(stable[:, REQUESTS], 1.0), 1.0)[:, None]
    u = case.luck.uniform(THINNING, minute, (len(CHANNELS),))
    baseline = binomial(u, stable, np.broadcast_to(part, stable.shape))
    return np.stack([baseline, canary], axis=1)


def _points(sums: Floats) -> Floats:
    """Each metric's value of the minute (runs, versions, metrics)."""
    n = np.where(sums[..., REQUESTS] > 0, sums[..., REQUESTS], np.nan)
    slow = np.minimum.accumulate(sums[..., SLOW:], axis=-1)
    latency = p99_ms(np.concatenate([sums[..., :SLOW], slow], axis=-1))
    return np.stack([sums[..., FAILED] / n, sums[..., RETRIED] / n, latency], axis=-1)


def _judged(points: Floats) -> tuple[Bools, Ints]:
    """Which canaries fail, and by which metric."""
    high, silent = _high(points[:, 0], points[:, 1])
    score = 100.0 * (1.0 - (high | silent).mean(axis=-1))
    lacking = silent.mean(axis=-1) >= 0.5
    bad = np.where(lacking, True, score < MARGINAL)
    return bad, np.where(lacking, UNNAMED, np.array(JUDGED)[high.argmax(axis=-1)])


def _high(baseline: Floats, canary: Floats) -> tuple[Bools, Bools]:
    """Which metrics are classified "high", and which have no data (runs, metrics). Units: (runs, metrics, minutes)."""
    differences = (canary[..., :, None] - baseline[..., None, :]).reshape(*canary.shape[:-1], -1)
    n_c, n_b = (np.isfinite(each).sum(axis=-1) for each in (canary, baseline))
    pairs, silent = n_c * n_b, (n_c < 2) | (n_b < 2)
    ordered = np.sort(differences, axis=-1)
    reach = Z98 * np.sqrt(pairs * (n_c + n_b + 1) / 12.0)
    low = _at(ordered, np.maximum(np.round(pairs / 2.0 - reach), 0.0))
    shift = (_at(ordered, np.floor((pairs - 1) / 2.0)) + _at(ordered, np.floor(pairs / 2.0))) / 2.0
    with np.errstate(invalid="ignore"):
        return (low > EFFECT * np.abs(shift)) & (low > 0) & ~silent, silent


def _at(ordered: Floats, rank: Floats) -> Floats:
    index = np.clip(rank, 0, ordered.shape[-1] - 1).astype(int)
    return np.take_along_axis(ordered, index[..., None], axis=-1)[..., 0]
