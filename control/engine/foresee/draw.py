"""What could one poll bring? Requests and bad ones of both versions, drawn at random for many runs at once.

Requests arrive independently of each other (Poisson), and each goes wrong by its version's chance. Real failures come
in clumps more often than these: what is foreseen is fair weather.
"""

import numpy as np

from control.engine.evidence.terms import Floats
from control.engine.foresee.assumed import Setting
from control.spec import BuiltInName

STABLE, CANARY = 0, 1


def drawn(at: Setting, share: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Stable's and the canary's counts by process (runs, tests, processes, 2): requests and bad ones.

    Units: `share` (runs,) of the canary now.
    """
    each = at.given.per_s * at.poll_s / at.given.processes
    return _version(at, each * (1 - share), STABLE, rng), _version(at, each * share, CANARY, rng)


def _version(at: Setting, expected: Floats, version: int, rng: np.random.Generator) -> Floats:
    n = rng.poisson(np.repeat(expected[:, None], at.given.processes, axis=1))
    counts = np.zeros((len(n), len(at.terms.tests), n.shape[1], 2))
    counts[..., 0] = n[:, None, :]
    for test in _in_order(at):
        counts[:, test, :, 1] = _bad(at, counts, test, version, rng)
    return counts


def _in_order(at: Setting) -> list[int]:
    """What others are a part of comes first; retries come last, being made of failures."""
    tests = at.terms.tests
    return sorted(range(len(tests)), key=lambda i: (tests[i].metric == BuiltInName.ATTEMPTS, -at.rates[i, STABLE]))


def _bad(at: Setting, counts: Floats, test: int, version: int, rng: np.random.Generator) -> Floats:
    if at.terms.tests[test].metric == BuiltInName.ATTEMPTS:
        return _retries(at, counts, test, version, rng)
    outer, rate = at.among[test], at.rates[test, version]
    if outer < 0:
        return _binomial(rng, counts[:, test, :, 0], rate)
    whole = at.rates[outer, version]
    return _binomial(rng, counts[:, outer, :, 1], min(1.0, rate / whole) if whole > 0 else 0.0)


def _retries(at: Setting, counts: Floats, test: int, version: int, rng: np.random.Generator) -> Floats:
    """A request that failed has been tried as often as it may be."""
    tries = at.terms.tests[test].tries
    failed = next((counts[:, i, :, 1] for i, each in enumerate(at.terms.tests) if each.counted), None)
    if failed is None:
        failed = _binomial(rng, counts[:, test, :, 0], at.rates[test, version] / tries)
    return np.asarray(tries * failed)


def _binomial(rng: np.random.Generator, n: Floats, rate: float) -> Floats:
    return np.asarray(rng.binomial(n.astype(np.int64), rate), float)
