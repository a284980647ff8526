"""Does the new version keep its objective, now that nothing is left to compare it with?

After 100 % only an absolute promise can be tested: at most a share `1 - objective` of requests fails. With n requests,
x of them bad, and a bet on "m times that":

    E = m^x * exp(-(m - 1) * n * (1 - objective))

which is F1 of `bets` with infinitely many requests of stable: its expectation is at most 1 while the objective is kept,
for independent requests, however often one looks.

Example: objective 99.5 %, 5 of 100 failed: log E(m=5) = 5 ln 5 - 4 * 100 * 0.005 = 6.0: 400 : 1 that it is broken.
Example: 1 of 200 failed: log E(m=5) = ln 5 - 4 = -2.4: the bet loses.
Example: 0 of 0: log E = 0.
Source: Ville 1939; the exponential (Poisson) bet on rare events.
"""

import numpy as np

from control.engine.evidence.bets import HARM_GRID, grown, mixed
from control.engine.evidence.terms import Bools, Floats


def fresh_guard(runs: int = 1) -> tuple[Floats, Floats]:
    """Nothing seen yet: the logs of the bets (runs, 1, grid), and the polls (runs,)."""
    return np.full((runs, 1, len(HARM_GRID)), -np.inf), np.zeros(runs)


def weigh_guard(
    guard: tuple[Floats, Floats], requests: Floats, bad: Floats, objective: float, phi: float = 1.0
) -> tuple[Floats, Floats]:
    """The bets after a poll. Units: `requests`, `bad` (runs,); `objective` is a share, 0 to 1; `phi` the dispersion."""
    log_w, polls = guard
    grid = np.asarray(HARM_GRID)
    counts: Bools = np.asarray(requests, float) > 0
    gained = bad[:, None] * np.log(grid) - (grid - 1.0) * requests[:, None] * (1.0 - objective)
    later = polls + counts
    return grown(log_w, (gained / phi)[:, None, :], later, counts), later


def log_broken(guard: tuple[Floats, Floats]) -> Floats:
    """log of the evidence that the objective is broken (runs,)."""
    return mixed(*guard)[:, 0]
