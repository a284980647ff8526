"""Is it the version, or one process of it?

Processes differ for good (host, zone, cache), which no number of requests averages out. So the tolerated ratio is
widened by what stable's own processes differ, and by what earlier good releases differed (F7):

    r0 * exp(q * sqrt(spread^2 (1/canary processes + 1/stable processes) + releases^2))

with q a t-quantile, since the spread is itself an estimate. And when harm rests on one process of several, leaving it
out must leave the evidence standing, else it is held: "pod or version?".

Example: spread 0.3, three canary and ten stable processes: q = 2.82, 1.1 * exp(2.82 * 0.3 * 0.658) = 1.92.
Example: spread 0, nothing known of releases: 1.1.
Example: three processes with 30, 0 and 1 bad of 100 each: the first carries 97 % of the excess, and
without it nothing is left.
Source: the log-normal model of rates; Student's t. Limits: calibrated, not proved; one process of a canary can't be
told from its host.
"""

import numpy as np

from control.engine.evidence.bets import HARM_GRID, log_e, log_mean
from control.engine.evidence.terms import Columns, Floats, Ints

T95 = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81, 1.80, 1.78, 1.77, 1.76, 1.75)
T99 = (31.82, 6.96, 4.54, 3.75, 3.36, 3.14, 3.00, 2.90, 2.82, 2.76, 2.72, 2.68, 2.65, 2.62, 2.60)
"""The 95 and 99 % quantiles of Student's t with 1, 2, ... degrees of freedom. Processes take the wider one: several
tests look at them at once.
"""
RELIABLE_AT = 10.0
"""Bad events a process from which its rate is taken for its own."""
PRIOR_WEIGHT = 4.0
"""Degrees of freedom that the spread of earlier shifts is worth, and as many more for each good release among them."""
CHANCE = 1.5
"""How many times the variance that chance explains is taken for chance, since a few processes tell it badly."""
WIDEST = 10.0
CARRIES = 0.8
"""The part of the excess that makes one process suspect."""
FEWEST = 3
"""Processes of the canary below which one can't be told from the version."""


def spread(totals: Floats, phi: Floats, terms: Columns) -> Floats:
    """The sd of log rates between stable's processes (runs, tests), shrunk to what earlier shifts say.

    Units: `totals` (runs, tests, processes, 2).
    """
    beyond, trust = seen_spread(totals, phi)
    weight = PRIOR_WEIGHT * (1.0 + terms.known)
    return np.asarray(np.sqrt((weight * terms.spread**2 + trust * beyond) / (weight + trust)))


def seen_spread(totals: Floats, phi: Floats) -> tuple[Floats, Floats]:
    """The variance of log rates beyond chance as these processes alone show it, and the degrees of freedom that it is
    worth (runs, tests).
    """
    n, bad = totals[..., 0], totals[..., 1]
    active = n > 0
    number = active.sum(axis=-1)
    in_all = np.maximum(n.sum(axis=-1), 1.0)
    rate = np.maximum(bad.sum(axis=-1) / in_all, 1e-300)
    relative = np.where(active, bad / np.where(active, n, 1.0) / rate[..., None], 1.0)
    varies = np.where(active, (relative - 1.0) ** 2, 0.0).sum(axis=-1) / np.maximum(number - 1, 1)
    chance = np.where(active, phi[..., None] / np.maximum(n * rate[..., None], 1e-9), 0.0).sum(axis=-1)
    beyond = np.log1p(np.maximum(0.0, varies - CHANCE * chance / np.maximum(number, 1)))
    trust = np.maximum(number - 1, 0) * np.minimum(1.0, bad.sum(axis=-1) / np.maximum(number, 1) / RELIABLE_AT)
    return beyond, trust


def widening(sigma: Floats, canary: Floats, stable: Floats, terms: Columns) -> Floats:
    """The factor on the tolerated ratio (F7) (runs, tests). Units: `canary`, `stable` are processes (runs, tests)."""
    between = (_quantile(T99, stable) * sigma) ** 2 * (1.0 / np.maximum(canary, 1.0) + 1.0 / np.maximum(stable, 1.0))
    releases = (_quantile(T95, terms.known) * terms.releases) ** 2
    return np.minimum(np.exp(np.sqrt(between + releases)), WIDEST)


def _quantile(table: tuple[float, ...], number: Floats) -> Floats:
    degrees = np.clip(number - 1, 1, len(table)).astype(int)
    return np.asarray(np.array(table)[degrees - 1])


def suspect(canary: Floats, stable: Floats, phi: Floats, ratio: Floats, extra: Floats, hold_at: float) -> Ints:
    """Which process alone carries a test's harm (runs, tests), -1 for none.

    One is named if it carries most of the excess and what is left without it is not even suspected. From totals over
    the run, as one poll: a description that can only hold a rollback, never cause one.
    Units: `canary` (runs, tests, processes, 2); `stable` (runs, tests, 2); others (runs, tests) or (tests,).
    """
    n, bad = canary[..., 0], canary[..., 1]
    active = (n > 0).sum(axis=-1)
    rate = stable[..., 1] / np.maximum(stable[..., 0], 1.0)
    over = np.maximum(bad - n * rate[..., None], 0.0)
    worst = over.argmax(axis=-1)
    carried = over.max(axis=-1) >= CARRIES * np.maximum(over.sum(axis=-1), 1e-9)
    picked = np.take_along_axis(canary, worst[..., None, None], axis=-2)[..., 0, :]
    rest = canary.sum(axis=-2) - picked
    left = log_e(rest[..., None, :], stable[..., None, :], ratio, extra, HARM_GRID) / phi[..., None]
    one = (active >= FEWEST) & carried & (over.max(axis=-1) > 0) & (log_mean(left) < np.log(hold_at))
    enough = rest[..., 0] >= 0.5 * picked[..., 0] * (active - 1)
    return np.where(one & enough, worst, -1)
