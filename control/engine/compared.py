"""What does one test say, in plain numbers? The counts of both versions, what was tolerated, and the odds.

Findings are arrays over runs and tests; this is a row of them for one run. A decision keeps the row that it rests on as
facts, so that its sentence stays true when the counts have gone on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from control.engine.codec import Numbers
from control.engine.evidence import Findings, Margin, Terms
from control.engine.evidence.interval import Sums, interval


@dataclass(frozen=True, slots=True)
class Counted:
    """One version's side: requests, and bad ones (or tries, or slow ones)."""

    requests: int
    bad: int

    @property
    def rate(self) -> float | None:
        return self.bad / self.requests if self.requests else None


@dataclass(frozen=True, slots=True)
class Difference:
    """Canary's rate minus stable's, with bounds that hold at every look. Units: bad requests a request."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One test. `log_harm` and `log_proof` are logs of its evidence, `tolerated` as it is widened by what processes
    and releases differ anyway, `phi` the dispersion of bad requests.
    """

    test: str
    metric: str
    canary: Counted
    stable: Counted
    tolerated: Margin
    proven: Margin
    log_harm: float
    log_proof: float
    phi: float

    def facts(self, log_harm: float) -> dict[str, str]:
        """The row as facts of a decision that rests on evidence of this size (all tests together)."""
        return {
            "test": self.test,
            "metric": self.metric,
            "canaryRequests": str(self.canary.requests),
            "canaryBad": str(self.canary.bad),
            "stableRequests": str(self.stable.requests),
            "stableBad": str(self.stable.bad),
            "ratio": repr(self.tolerated.ratio),
            "extra": repr(self.tolerated.extra),
            "logHarm": repr(log_harm),
        }


def comparisons(terms: Terms, found: Findings) -> tuple[Comparison, ...]:
    """Every test of the run, in order, without bounds on the difference: nothing is decided from those."""
    return tuple(
        Comparison(
            test=test.name,
            metric=test.metric,
            canary=Counted(*_whole(found.counts[0, i, :2])),
            stable=Counted(*_whole(found.counts[0, i, 2:])),
            tolerated=Margin(float(found.ratio[0, i]), test.tolerated.extra),
            proven=test.proven,
            log_harm=float(found.log_harm[0, i]),
            log_proof=float(found.log_proof[0, i]),
            phi=float(found.phi[0, i]),
        )
        for i, test in enumerate(terms.tests)
    )


def _whole(counts: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> tuple[int, int]:
    return int(counts[0]), int(counts[1])


def differences(terms: Terms, sums: Numbers) -> tuple[Difference | None, ...]:
    """The difference of each test, None where nothing was compared."""
    if not sums.values:
        return (None,) * len(terms.tests)
    found = interval(terms, Sums.of(terms, sums.values))
    rows = zip(found.estimate[0], found.low[0], found.high[0], strict=True)
    return tuple(None if math.isnan(each[0]) else Difference(*map(float, each)) for each in rows)


def from_facts(facts: Mapping[str, str]) -> tuple[Comparison, float] | None:
    """The row that a decision kept, and the log of the evidence for harm; None where it kept none."""
    if "test" not in facts:
        return None
    canary, stable = (Counted(int(facts[f"{name}Requests"]), int(facts[f"{name}Bad"])) for name in ("canary", "stable"))
    tolerated, log_harm = Margin(float(facts["ratio"]), float(facts["extra"])), float(facts["logHarm"])
    row = Comparison(facts["test"], facts["metric"], canary, stable, tolerated, tolerated, log_harm, 0.0, 1.0)
    return row, log_harm
