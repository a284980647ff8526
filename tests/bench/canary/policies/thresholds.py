"""Flagger and Argo Rollouts: the canary's own numbers against fixed thresholds, once an interval.

Flagger (1.44, controller/scheduler): success rate and P99 over the last minute, each minute; a failed check counts,
no passed check ever takes one back, and an empty answer is a failed check; at the limit the weight goes to 0. A passed
check raises the weight. Argo Rollouts (1.9, analysis/analysis.go): a success condition each interval beside a list of
weights; more failed measurements than `failureLimit` abort; errors (no data) abort after more than four in a row.
Neither looks at stable.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.policies.policy import METRICS, UNNAMED, Bools, Case, End, Floats, Ints, Wish
from tests.bench.canary.policies.windows import Window, no_data, p99_ms, success
from tests.bench.canary.telemetry import Seen

OUTCOMES, LATENCY = METRICS.index("outcomes"), METRICS.index("latency")
P99_MS = 500.0
CONSECUTIVE_ERRORS = 4


@dataclass(frozen=True, slots=True)
class Rules:
    """`steps`: weights, one a `pause_s`; `limit`: how many failed checks are borne (Flagger: at it, Argo: beyond it);
    `success`: the least part of requests (0: an oracle sets it for the service); `errors_fail`: whether no data is a
    failed check; `waits`: whether a failed check keeps the weight from rising.
    """

    name: str
    steps: tuple[float, ...]
    pause_s: float
    every_s: float
    success: float
    limit: int
    errors_fail: bool
    waits: bool
    p99_ms: float = np.inf

    @property
    def tuned(self) -> bool:
        return self.success == 0.0


def linear(step: float) -> tuple[float, ...]:
    return tuple(round(step * i, 4) for i in range(1, round(0.5 / step) + 1))


FLAGGER = Rules("flagger", linear(0.1), 60.0, 60.0, 0.99, 5, errors_fail=True, waits=True, p99_ms=P99_MS)
FLAGGER_SLOW = replace(FLAGGER, name="flagger-5x10", steps=linear(0.05), limit=10)
FLAGGER_TUNED = replace(FLAGGER, name="flagger-tuned", success=0.0)
ARGO = Rules("argo", (0.2, 0.4, 0.6, 0.8), 600.0, 300.0, 0.95, 4, errors_fail=False, waits=False)
ARGO_STRICT = Rules("argo-99-0", linear(0.1), 60.0, 60.0, 0.99, 1, errors_fail=False, waits=False)
ARGO_LENIENT = replace(ARGO_STRICT, name="argo-99-3", limit=4)
RULES = {rules.name: rules for rules in (FLAGGER, FLAGGER_SLOW, FLAGGER_TUNED, ARGO, ARGO_STRICT, ARGO_LENIENT)}


def oracle(base: Floats) -> Floats:
    """The threshold of one who knows the service: 0.9 points below its usual success, 99 % at most."""
    return np.minimum(0.99, 1.0 - base - 0.009)


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """`at` (runs,): the step; `since`: ticks at it; `failed`, `errors`: checks failed in all, and errors in a row."""

    rules: Rules
    case: Case
    window: Window
    at: Ints
    since: Floats
    failed: Floats
    errors: Floats
    lag_ticks: int = 1

    @classmethod
    def of(cls, case: Case, rules: Rules) -> "Thresholds":
        none = np.zeros(case.runs)
        return cls(rules, case, Window.of(case.runs, rules.every_s), none.astype(np.int64), none, none, none)

    def begin(self) -> Floats:
        return np.full(self.case.runs, self.rules.steps[0])

    def take(self, where: NDArray[np.intp]) -> "Thresholds":
        arrays = {name: getattr(self, name)[where] for name in ("at", "since", "failed", "errors")}
        return replace(self, case=self.case.take(where), window=self.window.take(where), **arrays)

    def see(self, tick: int, seen: Seen, share: Floats, settled: Bools) -> tuple[Self, Wish]:
        window = self.window.add(seen, self.case.stable)
        later = replace(self, window=window, since=self.since + 1)
        steps = np.array(self.rules.steps)
        looks = window.over(tick)
        passed, named = later._checked() if looks else (np.ones(len(share), bool), np.full(len(share), UNNAMED))
        if looks:
            later = later._counted(passed)
        broken = (later.failed >= self.rules.limit) | (later.errors > CONSECUTIVE_ERRORS)
        ripe = (later.since * 5.0 >= self.rules.pause_s - 1e-9) & (passed if self.rules.waits else True) & ~broken
        ripe = ripe & looks if self.rules.waits else ripe
        at = later.at + ripe
        promoted = at >= len(steps)
        end = np.select([broken, promoted], [End.ROLLED_BACK, End.PROMOTED], End.GOING)
        wanted = np.where(broken, 0.0, np.where(promoted, 1.0, steps[np.minimum(at, len(steps) - 1)]))
        return replace(later, at=at, since=np.where(ripe, 0.0, later.since)), Wish(
            wanted, end, np.where(broken, named, UNNAMED)
        )

    def _checked(self) -> tuple[Bools, Ints]:
        """Which runs pass the check, and what the others fail by."""
        of_canary = self.window.sums[:, 1]
        least = oracle(self.case.base) if self.rules.tuned else self.rules.success
        with np.errstate(invalid="ignore"):
            good, quick = success(of_canary) >= least, p99_ms(of_canary) <= self.rules.p99_ms
        quick = quick | (self.rules.p99_ms == np.inf)
        return good & quick, np.where(good, LATENCY, OUTCOMES)

    def _counted(self, passed: Bools) -> "Thresholds":
        silent = no_data(self.window.sums[:, 1])
        failed = ~passed & (self.rules.errors_fail | ~silent)
        errors = np.where(silent & (not self.rules.errors_fail), self.errors + 1, 0.0)
        return replace(self, window=self.window.emptied(), failed=self.failed + failed, errors=errors)
