"""Does the new version keep its objective, now that nothing is left to compare it with?

After 100 % only an absolute promise can be tested: at most a part `limit` of requests fails, 1 - objective as a rule.
With n requests, x of them bad, and a bet on "m times that":

    E = m^x * exp(-(m - 1) * n * limit)

which is F1 of `bets` with infinitely many requests of stable: its expectation is at most 1 while the promise is kept,
for independent requests, however often one looks.

Example: limit 0.5 %, 5 of 100 failed: log E(m=5) = 5 ln 5 - 4 * 100 * 0.005 = 6.0: 400 : 1 that it is broken.
Example: 1 of 200 failed: log E(m=5) = ln 5 - 4 = -2.4: the bet loses.
Example: 0 of 0: log E = 0.
Source: Ville 1939; the exponential (Poisson) bet on rare events.
"""

from typing import Any

import numpy as np

from control.engine.evidence.bets import HARM_GRID, grown, mixed
from control.engine.evidence.terms import Bools, Floats, Margin

UNPROMISED = 3.0
"""How many times stable's rate is let pass where stable did not keep its objective either: rates that nobody promised
rise and fall with the hour.
"""


def limit_of(objective: float, failing: Any, tolerated: Margin) -> Floats:
    """The part of requests that may fail, where stable's was `failing` while it was compared.

    What the objective allows, or what was tolerated all along where that is more; where stable itself did not keep the
    objective, `UNPROMISED` times what it did.
    Example: 99.5 %, failing 0.3 %, tolerated 1.1 times that plus 0.05 %: 0.5 %. Example: failing 2 %: 6 %.
    """
    allowed, seen = 1.0 - objective, np.asarray(failing, float)
    kept = np.maximum(allowed, seen * tolerated.ratio + tolerated.extra)
    return np.minimum(np.where(seen > allowed, UNPROMISED * seen, kept), 1.0)


def fresh_guard(runs: int = 1) -> tuple[Floats, Floats]:
    """Nothing seen yet: the logs of the bets (runs, 1, grid), and the polls (runs,)."""
    return np.full((runs, 1, len(HARM_GRID)), -np.inf), np.zeros(runs)


def weigh_guard(
    guard: tuple[Floats, Floats], requests: Floats, bad: Floats, limit: Any, phi: Any = 1.0
) -> tuple[Floats, Floats]:
    """The bets after a poll. Units: `requests`, `bad` (runs,); `limit` (the part of requests that may fail) and `phi`
    (the dispersion) (runs,) or one for all.
    """
    log_w, polls = guard
    grid = np.asarray(HARM_GRID)
    counts: Bools = np.asarray(requests, float) > 0
    may_fail = np.asarray(requests * limit)
    gained = (bad[:, None] * np.log(grid) - (grid - 1.0) * may_fail[:, None]) / np.asarray(phi, float)[..., None]
    later = polls + counts
    return grown(log_w, gained[:, None, :], later, counts), later


def log_broken(guard: tuple[Floats, Floats]) -> Floats:
    """log of the evidence that the objective is broken (runs,)."""
    return mixed(*guard)[:, 0]
