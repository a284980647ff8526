"""Terms and polls for tests of the evidence: one test, one stratum and no processes until a test says so."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from control.engine.evidence import Margin, Poll, Prior, Terms, Test, Tide, fresh, weigh

TOLERATED, PROVEN = Margin(1.1, 0.0005), Margin(1.25, 0.005)
SURE = Prior(phi=1.0, weight=1e6)
"""Independent requests, known for certain."""


def one_test(name: str = "outcomes", **changes: Any) -> Test:
    plain = Test(name, name, TOLERATED, PROVEN, 1.0, counted=name == "outcomes", prior=SURE)
    return replace(plain, **changes)


def terms(*tests: Test, **changes: Any) -> Terms:
    return replace(Terms(tests or (one_test(),), bake_s=0.0), **changes)


def poll(canary: Any, stable: Any, *, slots: int = 8, **changes: Any) -> Poll:
    """Units: `canary`, `stable` of shape (runs, tests, strata, 2) or, for one run of one test, (n, bad)."""
    of_canary, of_stable = _whole(canary), _whole(stable)
    runs, tests = of_canary.shape[:2]
    yes = np.ones(runs, bool)
    plain = Poll(
        canary=of_canary,
        stable=of_stable,
        stable_pods=np.zeros((runs, tests, slots, 2)),
        canary_pods=np.zeros((runs, tests, slots, 2)),
        harm=yes,
        proof=yes,
        warm=~yes,
        share=np.full(runs, np.nan),
        sent=np.zeros((runs, 2)),
    )
    return replace(plain, **changes)


def _whole(counts: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(counts, float)
    return array.reshape(1, 1, 1, 2) if array.ndim == 1 else array


def learned(of: Terms, polls: Sequence[Poll], start: Tide | None = None) -> Tide:
    tide = start if start is not None else fresh(of, len(polls[0].harm))
    for each in polls:
        tide = weigh(of, tide, each)
    return tide


def of_processes(rows: Sequence[tuple[int, int]], slots: int = 8) -> np.ndarray[Any, Any]:
    """One run of one test: (requests, bad) by process. Shape (1, 1, slots, 2)."""
    found = np.zeros((1, 1, slots, 2))
    found[0, 0, : len(rows)] = np.reshape(rows, (-1, 2))
    return found
