"""iter8 v1, mSPRT and peeking with a z-test: comparisons of failures with stable, on cumulative counts.

iter8 (v1, HotCloud 2020): Beta posteriors of both failure rates; the canary wins once it is within the tolerance with
99 %, and loses below 1 %; traffic follows that probability, with at most 10 points more a minute, from 10 % on.
mSPRT (Johari et al. 2022): the normal mixture ratio of the difference, tau = 1 point, alpha = 1 %; only "worse" rolls
back. z-peeking: a one-sided test at 1 % each quarter of a minute, as dashboards invite to. The two have no rule for
promotion; they get Flagger's steps (10 % a minute).
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from tests.bench.canary.policies.policy import METRICS, UNNAMED, Bools, Case, End, Floats, Wish
from tests.bench.canary.policies.windows import Window
from tests.bench.canary.rates import FAILED, REQUESTS
from tests.bench.canary.telemetry import Seen

OUTCOMES = METRICS.index("outcomes")
STEPS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 1.0])
ALPHA, TAU = 0.01, 0.01
TOLERATED_RATIO, TOLERATED_EXTRA = 1.1, 0.0005
NODES = (np.arange(16) + 0.5) / 16
SURE = 0.99
FEWEST = 5.0
"""Canary requests below which a z-test is not even tried."""


class Kind(StrEnum):
    ITER8 = "iter8"
    MSPRT = "msprt"
    PEEKING = "z-peeking"


@dataclass(frozen=True, slots=True, eq=False)
class Sequential:
    """`sums` (runs, 2 versions, channels) since the beginning."""

    kind: Kind
    case: Case
    window: Window
    share: Floats
    lag_ticks: int = 1

    @classmethod
    def of(cls, case: Case, kind: Kind) -> "Sequential":
        return cls(kind, case, Window.of(case.runs, 60.0), np.full(case.runs, STEPS[0]))

    def begin(self) -> Floats:
        return self.share

    def take(self, where: NDArray[np.intp]) -> "Sequential":
        return replace(self, case=self.case.take(where), window=self.window.take(where), share=self.share[where])

    def see(self, tick: int, seen: Seen, share: Floats, settled: Bools) -> tuple[Self, Wish]:
        later = replace(self, window=self.window.add(seen, self.case.stable))
        n, x = later.window.sums[..., REQUESTS], later.window.sums[..., FAILED]
        match self.kind:
            case Kind.ITER8:
                return later._bayes(tick, n, x)
            case Kind.MSPRT:
                return later._stepwise(tick, msprt(n, x) >= 1.0 / ALPHA)
            case Kind.PEEKING:
                worse = z_score(n, x) > 2.326 if (tick + 1) % 3 == 0 else np.zeros(len(share), bool)
                return later._stepwise(tick, worse)

    def _stepwise(self, tick: int, bad: Bools) -> tuple["Sequential", Wish]:
        step = min((tick + 1) // self.window.ticks, len(STEPS) - 1)
        promoted = step == len(STEPS) - 1
        share = np.where(bad, 0.0, STEPS[step])
        end = np.where(bad, End.ROLLED_BACK, End.PROMOTED if promoted else End.GOING)
        return self, Wish(share, end, np.where(bad, OUTCOMES, UNNAMED))

    def _bayes(self, tick: int, n: Floats, x: Floats) -> tuple["Sequential", Wish]:
        if not self.window.over(tick):
            return self, Wish.same(self.share)
        fine = within(n, x)
        bad, wins = fine <= 1.0 - SURE, fine >= SURE
        share = np.clip(np.minimum(fine, self.share + 0.1), 0.1, 0.9)
        share = np.where(bad, 0.0, np.where(wins, 1.0, share))
        end = np.select([bad, wins], [End.ROLLED_BACK, End.PROMOTED], End.GOING)
        return replace(self, share=share), Wish(share, end, np.where(bad, OUTCOMES, UNNAMED))


def within(n: Floats, x: Floats) -> Floats:
    """The posterior chance that the canary is within the tolerance (runs,). Units: (runs, versions)."""
    a, b = 1.0 + x, 1.0 + n - x
    stable = betaincinv(a[:, :1], b[:, :1], NODES)
    most = np.minimum(TOLERATED_RATIO * stable + TOLERATED_EXTRA, 1.0)
    return np.asarray(betainc(a[:, 1:], b[:, 1:], most).mean(axis=-1))


def _difference(n: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Canary's rate minus stable's, and its variance under equal rates; nothing without requests."""
    enough = (n >= FEWEST).all(axis=-1)
    safe = np.where(n > 0, n, 1.0)
    rate, pooled = x / safe, x.sum(axis=-1) / safe.sum(axis=-1)
    variance = pooled * (1.0 - pooled) * (1.0 / safe).sum(axis=-1)
    return np.where(enough, rate[:, 1] - rate[:, 0], 0.0), np.where(enough & (variance > 0), variance, np.inf)


def msprt(n: Floats, x: Floats) -> Floats:
    """The mixture likelihood ratio, 0 where the canary is not worse (runs,)."""
    difference, v = _difference(n, x)
    finite = np.where(np.isfinite(v), v, 1.0)
    ratio = np.sqrt(finite / (finite + TAU**2)) * np.exp(
        np.minimum(TAU**2 * difference**2 / (2 * finite * (finite + TAU**2)), 700.0)
    )
    return np.where((difference > 0) & np.isfinite(v), ratio, 0.0)


def z_score(n: Floats, x: Floats) -> Floats:
    difference, v = _difference(n, x)
    return difference / np.sqrt(v)
