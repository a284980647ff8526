"""What was promised to whom? The constants of one shift's evidence: tests, margins, error chances, budget and course.

All of it is settled before a poll is looked at; nothing here depends on what the canary did.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Margin:
    """What is tolerated: `ratio` times stable's rate plus `extra`. Units: extra is bad requests (or tries) a request.

    Example: Margin(1.1, 0.0005) on a stable rate of 0.3 % tolerates 0.38 %.
    """

    ratio: float
    extra: float


@dataclass(frozen=True, slots=True)
class Prior:
    """What earlier shifts of the service say about one test.

    `phi` is the dispersion of bad events (variance over mean; 1: independent requests), `weight` the degrees of
    freedom it rests on, `reference` the bad events a process and poll at which it was measured (0: unknown). `spread`
    is the sd of log rates between processes, `releases` the sd of the log ratio canary/stable between good releases
    beyond what chance explains, `known` how many releases that rests on. `common` is by how much more those ratios
    varied than phi explains (variance over variance): noise that all processes of a version share.
    """

    phi: float = 2.0
    weight: float = 0.0
    reference: float = 0.0
    spread: float = 0.0
    releases: float = 0.0
    known: int = 0
    common: float = 1.0

    @property
    def dispersion(self) -> float:
        """All of it: between processes, and what they share."""
        return self.phi * self.common


UNKNOWN = Prior()


@dataclass(frozen=True, slots=True)
class Test:
    """One rate that is compared between the versions.

    A latency metric has one test an edge: "latency>250ms" of the metric "latency". `tolerated` is the margin beyond
    which there is harm, `proven` the one within which a promotion must be shown to be. `weight` is its part of the
    stake, of any sum. `tries` is the most that one request can add to bad. `counted`: its excess costs budget.
    """

    name: str
    metric: str
    tolerated: Margin
    proven: Margin
    weight: float
    tries: int = 1
    counted: bool = False
    prior: Prior = UNKNOWN


RUNGS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything that a shift's evidence was promised with.

    `alpha`: at most this chance that a version within tolerance is ever rolled back. `beta`: at most this chance that
    one outside the proven margin is promoted. `hold_at`: evidence for harm (a ratio) from which nothing advances.
    `budget`: excess failed requests that the shift may cost. `rungs`: the shares it may stand at below 100 %.
    `learn_at`: the highest share before non-inferiority leans the right way. `bake_s`, `bake_at`: how long, and at
    which share, it is watched once more before 100 % (0: not at all). `dwell_polls`: polls with data at a weight before
    the next. `poll_s`, `lag_s`: time between polls, and from a decision until the traffic follows it. `rho`: part of
    the budget that is left which one stage may risk. `jump`: rungs a stage may climb. `outage`: bad rate of stable
    itself from which it is stable that fails. Units: shares and rates 0 to 1, seconds, requests.
    """

    tests: tuple[Test, ...]
    alpha: float = 0.01
    beta: float = 0.05
    hold_at: float = 5.0
    budget: float = 50.0
    rungs: tuple[float, ...] = RUNGS
    learn_at: float = 0.2
    bake_s: float = 600.0
    bake_at: float = 0.2
    dwell_polls: int = 2
    poll_s: float = 5.0
    lag_s: float = 5.0
    rho: float = 0.5
    jump: int = 2
    outage: float = 0.05

    @property
    def log_harm(self) -> float:
        """log E from which there is harm: ln(1/alpha)."""
        return -log(self.alpha)

    @property
    def log_proof(self) -> float:
        """log E from which non-inferiority is proven: ln(1/beta)."""
        return -log(self.beta)


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The terms of all tests as arrays of shape (tests,), in the order of the tests."""

    ratio: Floats
    extra: Floats
    proof_ratio: Floats
    proof_extra: Floats
    log_weight: Floats
    tries: Floats
    counted: Bools
    phi: Floats
    phi_weight: Floats
    reference: Floats
    spread: Floats
    releases: Floats
    known: Floats
    common: Floats


@lru_cache(maxsize=64)
def columns(terms: Terms) -> Columns:
    tests, priors = terms.tests, [test.prior for test in terms.tests]
    weights = np.array([test.weight for test in tests])
    return Columns(
        ratio=np.array([test.tolerated.ratio for test in tests]),
        extra=np.array([test.tolerated.extra for test in tests]),
        proof_ratio=np.array([test.proven.ratio for test in tests]),
        proof_extra=np.array([test.proven.extra for test in tests]),
        log_weight=np.log(weights / weights.sum()),
        tries=np.array([float(test.tries) for test in tests]),
        counted=np.array([test.counted for test in tests]),
        phi=np.array([prior.phi for prior in priors]),
        phi_weight=np.array([prior.weight for prior in priors]),
        reference=np.array([prior.reference for prior in priors]),
        spread=np.array([prior.spread for prior in priors]),
        releases=np.array([prior.releases for prior in priors]),
        known=np.array([float(prior.known) for prior in priors]),
        common=np.array([prior.common for prior in priors]),
    )
