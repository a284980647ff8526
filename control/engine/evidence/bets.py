"""How much does one poll say? The bets, as pure arithmetic on counts.

The claim under test: the canary's bad rate is at most r0 times stable's plus d. For one poll, with n requests of which
x were bad on the canary and y on stable, and any factor A chosen without looking at x and y:

    E = A^x * B^y * exp(-(A - 1) * n_canary * d),      B = 1 - (A - 1) * r0 * n_canary / n_stable           (F1)

While the claim holds and A > 1, the expectation of E is at most 1, whatever happened before; with A < 1 the same holds
for the opposite claim, "at least r0 times stable's plus d", so that a large E then shows that the canary is no worse.

    Proof. Given the past, let request i of the canary be bad with probability p_i, request j of stable with q_j, all
    independent. Since 1 + u <= e^u, the canary's factor has expectation prod(1 + p_i (A-1)) <= exp((A-1) sum p_i),
    and stable's prod(1 + q_j (B-1)) <= exp((B-1) sum q_j), which needs B >= 0. With p and q the average rates, sum
    p_i = n_canary p, (B-1) sum q_j = -(A-1) r0 n_canary q. All exponents add up to (A-1) n_canary (p - r0 q - d), which
    is at most 0 for A > 1 when p <= r0 q + d, and for A < 1 when p >= r0 q + d.    QED

Choosing A: were the canary's rate r times stable's, a bad request would fall to the canary with chance
q(r) = s r / (s r + 1 - s), s being the realised share of requests. A = q(m r0) / q(r0) bets on "m times what is
tolerated", and then B = (1 - q(m r0)) / (1 - q(r0)), which is never below 0. Without stable (s = 1) or without canary
(s = 0) nothing is learned and E = 1.

Tries: x counts retries, of which one request can have up to R. For X in 0..R, A^(X/R) <= 1 + (X/R)(A - 1) by convexity,
so that the proof goes through for E^(1/R), p and q now being retries a request.

Strata (who sends; hit or miss) multiply, each with its own share: another mix is no difference between versions.

Example: s = 0.1 (410 canary, 3,690 stable), r0 = 1.1, m = 5: q(1.1) = 0.1089, q(5.5) = 0.3793, A = 3.48, B = 0.697.
Example: 14 of 410 bad against 9 of 3,702, d = 0.0005: log E(m=5) = 14 ln 3.49 + 9 ln 0.697 - 2.49 * 410 * 0.0005 =
13.7.
Example: 0 of 410 against 9 of 3,702: log E(m=5) = 9 ln 0.697 - 0.51 = -3.8: the bet loses, nothing is wrong.
Source: Ville 1939; Lindon & Malek, "Anytime-valid inference for multinomial count data", 2022 (two integers a poll
suffice); Turner, Ly & Grünwald, "Generic e-variables for exact sequential k-sample tests", 2024.
"""

from functools import reduce
from typing import Any

import numpy as np

from control.engine.evidence.terms import Bools, Floats

HARM_GRID = (1.7, 4.0, 10.0, 40.0)
"""Bets on "m times what is tolerated": four suffice, and cost ln 4 at most."""
PROOF_GRID = (0.2, 0.5, 0.8)
"""Bets on "only m times the margin". At large shares only those near 1 can grow."""
UPPER_GRID = (0.0, 0.25, 0.5, 0.7, 0.85, 0.9, 0.95, 0.98)
DEAD = -1e30
"""log of 0, but finite: a bet that is lost for good, times no event, is still nothing."""


def log_factors(canary: Any, stable: Any, ratio: Any, grid: Any) -> tuple[Floats, Floats, Floats]:
    """ln A, ln B and A for each point of the grid, from the requests of each version.

    Units: `canary`, `stable`, `ratio` broadcast to a shape S; `grid` is (points,) or S + (points,). Results have shape
    S + (points,). Where a version has no requests, A = B = 1.
    """
    n_c, n_s = np.asarray(canary, float), np.asarray(stable, float)
    both = ((n_c > 0) & (n_s > 0))[..., None]
    odds = (ratio * n_c / np.where(n_s > 0, n_s, 1.0))[..., None]
    points = np.asarray(grid, float)
    shrink = np.where(both, (odds + 1.0) / (odds * points + 1.0), 1.0)
    a = np.where(both, points * shrink, 1.0)
    log_a = np.where(a > 0, np.log(np.where(a > 0, a, 1.0)), DEAD)
    return log_a, np.log(shrink), a


def log_e(canary: Floats, stable: Floats, ratio: Any, extra: Any, grid: Any) -> Floats:
    """log E of one poll for each point of the grid, strata multiplied (F1), before tries and dispersion.

    Units: `canary`, `stable` of shape (..., strata, 2): requests and bad ones; `ratio`, `extra` of the shape before
    strata, or scalars; `grid` (points,) or of that shape + (points,). Result: that shape + (points,).
    """
    n_c, x, y = canary[..., 0], canary[..., 1], stable[..., 1]
    points = np.asarray(grid, float)
    by_stratum = points if points.ndim == 1 else points[..., None, :]
    log_a, log_b, a = log_factors(n_c, stable[..., 0], _wide(ratio), by_stratum)
    gained = x[..., None] * log_a + y[..., None] * log_b
    return np.asarray((gained - (a - 1.0) * n_c[..., None] * _wide(extra)[..., None]).sum(axis=-2))


def log_e_of_block(x: Floats, y: Floats, log_a: Floats, log_b: Floats) -> Floats:
    """log of (x A + y B) / (x + y): averages inside a poll where F1 multiplies (F5), 0 when nothing was bad.

    It holds for clumps of any size that go one way as a whole, and can gain no more than ln A a poll.
    """
    bad = (x + y)[..., None]
    mean = (x[..., None] * np.exp(log_a) + y[..., None] * np.exp(log_b)) / np.where(bad > 0, bad, 1.0)
    return np.where(bad > 0, np.log(np.maximum(mean, 1e-300)), 0.0)


def log_mean(log_values: Floats) -> Floats:
    """log of the mean over the last axis (F2), without overflow; all of them -inf stays -inf.

    The axis is short: point by point over whole arrays is four times as fast as numpy's reductions along it.
    """
    points = np.moveaxis(log_values, -1, 0)
    top = reduce(np.maximum, points)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(reduce(np.add, np.exp(points - safe)) / len(points)))


def log_merged(log_values: Floats, log_weights: Floats) -> Floats:
    """log of the weighted mean over tests (F4): valid however they depend on each other (Vovk & Wang 2021).

    Units: (runs, tests) to (runs,); weights sum to 1.
    """
    return np.asarray(np.logaddexp.reduce(log_values + log_weights, axis=-1))


def log_start(polls: Floats) -> Floats:
    """log of the stake that is newly laid at poll k (F3): 1/2 at the first, 1 / (2 k (k - 1)) later; all sum to 1."""
    k = np.maximum(polls, 1.0)
    return np.asarray(np.where(k <= 1, -np.log(2.0), -np.log(2.0) - np.log(k) - np.log(np.maximum(k - 1.0, 1.0))))


def log_kept(polls: Floats) -> Floats:
    """log of the stake that has not been laid after k polls: 1 / (2 k), all of it before the first."""
    return np.where(polls >= 1, -np.log(2.0) - np.log(np.maximum(polls, 1.0)), 0.0)


def grown(log_w: Floats, log_e_of_poll: Floats, polls: Floats, counts: Bools) -> Floats:
    """The bets after a poll (F3): W <- (W + new stake) * E where the poll counts, else as they were.

    Stakes laid over time let a fault that begins late be found in time: what spoke for the canary before can't be held
    against the newest stake. Costs ln 2 when the canary is bad from the start.
    Units: `log_w`, `log_e_of_poll` (runs, tests, grid); `polls` (runs,) with this one; `counts` (runs,).
    """
    staked = np.logaddexp(log_w, log_start(polls)[:, None, None])
    return np.where(counts[:, None, None], staked + log_e_of_poll, log_w)


def mixed(log_w: Floats, polls: Floats) -> Floats:
    """log of the evidence of each test: the grid's mean and the stake that is not laid yet."""
    return np.asarray(np.logaddexp(log_mean(log_w), log_kept(polls)[:, None]))


def _wide(value: Any) -> Floats:
    """One more axis at the end, for strata; scalars stay."""
    array = np.asarray(value, float)
    return array[..., None] if array.ndim else array
