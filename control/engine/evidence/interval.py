"""By how much does the canary's bad rate differ from stable's? Bounds that hold at every look at once.

For any difference d, of either sign, the claim "the canary's rate is at least stable's plus d" is tested by the bet
that harm is tested by, with ratio 1 and a factor A < 1:

    E_d = A^x * B^y * exp((1 - A) * n_canary * d),      B = 1 + (1 - A) * n_canary / n_stable

Its expectation is at most exp((A - 1) n_canary (p - q - d)) by the same two lines, so at most 1 while the claim holds.
The product over polls has one exponent that is linear in d, so that two running sums a factor hold the test of every d
at once (L the part without d, N the slope), and

    log E_d = log mean over the factors of exp(L + N d)

rises with d. The smallest d at which it reaches 1 / gamma is the upper bound: by Ville's inequality it ever falls below
the true difference with probability at most gamma. Factors A > 1 test "at most stable's plus d" and give the lower
bound. Swapping the versions maps A to B and N d to itself: nothing special happens at d = 0.

Where the difference drifts, what is bounded is its mean, weighted by n_canary n_stable / n a poll. That weight is the
estimate's, too (Mantel and Haenszel), so that a share that grows while the rates drift is no difference. The same sums
give the ratio of the rates, for those who keep what a release did.

Choosing A: as for harm, A = q(m) / q(1) from the realised share, for m from far below 1 to far above. Metrics that one
request can add several bad tries to, and clumped failures, temper the exponent (1 / tries, 1 / phi), as for harm.

Example: 0 bad of 1,000 beside 0 of 9,000: the upper bound is (ln 40 + ln 6) / 980 = 0.55 %, a little less for the other
factors' help (the rule of three has 0.37 % for one look), the lower one -0.07 %.
Example: 50 of 2,500 beside 68 of 22,500: 1.7 %, from 0.88 % to 2.84 %.
Example: nothing counted yet: from -100 % to 100 %, and no estimate.

Source: Ville 1939; Howard et al., "Time-uniform, nonparametric, nonasymptotic confidence sequences", 2021 (inverting
tests that hold at any time); Mantel & Haenszel 1959; Greenland & Robins 1985 (the ratio's variance).
Limits: it speaks of the processes that ran. How much of it is their hosts' doing, a single pod can't tell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from control.engine.evidence.bets import log_factors, log_mean
from control.engine.evidence.dispersion import phi
from control.engine.evidence.terms import Floats, Terms, columns
from control.engine.evidence.tide import CAP, CAPPED_FROM, Poll, Tide, dispersion

BELOW = (0.02, 0.5, 0.8, 0.92, 0.97, 0.99)
ABOVE = tuple(1.0 / times for times in BELOW)
"""Rates that are bet on, as multiples of stable's: for the upper bound, and for the lower one."""
COVERED = 0.95
"""How often both bounds hold, at all looks together: half of the rest is each one's."""
FACTORS = np.array(BELOW + ABOVE)
PARTS = 7
_LOG_BAR = math.log(2.0 / (1.0 - COVERED))
_STEPS, _NEAR = 40, 1e-9


@dataclass(frozen=True, slots=True)
class Sums:
    """What all polls so far add up to, for each run and test: L and N of each factor, and the parts of the estimates.

    Units: `below` and `above` of shape (runs, tests, factors, 2), `weighted` of shape (runs, tests, 7): the sums of
    differences times weights and of weights; and, windows of warming up left out, the sums of bad requests, each
    version's times the other's share, of weights, of the ratio's variance, and of canary requests.
    """

    below: Floats
    above: Floats
    weighted: Floats

    def numbers(self) -> list[float]:
        """A run of length 1 as floats, bit for bit: 31 a test."""
        return [float(each) for field in fields(self) for each in np.ravel(getattr(self, field.name)[0])]

    @staticmethod
    def of(terms: Terms, numbers: Sequence[float]) -> "Sums":
        """The run whose `numbers` these are. Raises: ValueError when they are of other tests."""
        tests = len(terms.tests)
        below, above = 2 * tests * len(BELOW), 2 * tests * len(ABOVE)
        flat = np.array(numbers, dtype=np.float64)
        if flat.size != below + above + PARTS * tests:
            raise ValueError(f"{flat.size} numbers are no sums of {tests} tests")
        return Sums(
            flat[:below].reshape(1, tests, len(BELOW), 2),
            flat[below : below + above].reshape(1, tests, len(ABOVE), 2),
            flat[below + above :].reshape(1, tests, PARTS),
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """Canary's rate minus stable's. Units: bad requests (or tries) a request, each of shape (runs, tests); the estimate
    is nan while nothing was compared.
    """

    estimate: Floats
    low: Floats
    high: Floats


def fresh_interval(terms: Terms, runs: int = 1) -> Sums:
    """Nothing is known yet."""
    tests = len(terms.tests)
    below, above = (np.zeros((runs, tests, len(grid), 2)) for grid in (BELOW, ABOVE))
    return Sums(below, above, np.zeros((runs, tests, PARTS)))


def widen(terms: Terms, tide: Tide, sums: Sums, poll: Poll) -> Sums:
    """The sums with what one poll adds: one call beside `weigh`, with the same terms, tide before the poll, and poll.

    The lower bound speaks of harm and takes the polls that may count as such; the upper one those of settled weights.
    Windows of warming up are part of what callers saw, and of the difference, but not of what releases are like.
    """
    column = columns(terms)
    both = poll.canary.sum(axis=2), poll.stable.sum(axis=2)
    noise = dispersion(tide, column, phi(tide.seen, column), both)
    added = _added(poll, noise, np.maximum(noise, column.tries))
    harm, proof = (each[:, None, None] for each in (poll.harm, poll.proof))
    return Sums(
        sums.below + np.where(proof[..., None], added[..., : len(BELOW), :], 0.0),
        sums.above + np.where(harm[..., None], added[..., len(BELOW) :, :], 0.0),
        sums.weighted + np.where(harm | proof, _compared(poll), 0.0),
    )


def _added(poll: Poll, phi: Floats, tempered: Floats) -> Floats:
    """L and N of one poll for each factor (runs, tests, factors, 2), those below 1 first, strata multiplied."""
    n_c, x, n_s, y = _four(poll)
    times = np.minimum(FACTORS, np.where(phi > CAPPED_FROM, CAP, np.inf)[..., None])
    log_a, log_b, a = log_factors(n_c, n_s, 1.0, times[..., None, :])
    log_e = (x[..., None] * log_a + y[..., None] * log_b).sum(axis=-2)
    slope = ((1.0 - a) * n_c[..., None]).sum(axis=-2)
    return np.asarray(np.stack([log_e, slope], axis=-1) / tempered[..., None, None])


def _four(poll: Poll) -> tuple[Floats, Floats, Floats, Floats]:
    return poll.canary[..., 0], poll.canary[..., 1], poll.stable[..., 0], poll.stable[..., 1]


def _compared(poll: Poll) -> Floats:
    """What the estimates are made of, summed over the strata in which both versions were asked."""
    n_c, x, n_s, y = _four(poll)
    both = (n_c > 0) & (n_s > 0)
    share = np.where(both, n_c / np.where(both, n_c + n_s, 1.0), 0.0)
    rest = np.where(both, 1.0 - share, 0.0)
    of_both = [x * rest, y * share, n_c * rest, (x + y) * share * rest, np.where(both, n_c, 0.0)]
    parts = np.stack(of_both, axis=-1).sum(axis=-2)
    warmed_up = np.where(poll.warm[:, None, None], 0.0, parts)
    return np.concatenate([parts[..., :1] - parts[..., 1:2], parts[..., 2:3], warmed_up], axis=-1)


def interval(terms: Terms, sums: Sums) -> Difference:
    """The difference and its bounds: wrong at any time of a run with probability at most 1 - `COVERED`."""
    most = columns(terms).tries
    weighted, weight = sums.weighted[..., 0], sums.weighted[..., 1]
    mean = np.where(weight > 0, weighted / np.where(weight > 0, weight, 1.0), np.nan)
    estimate = np.clip(mean, -most, most)
    high = _least(sums.below[..., 0], sums.below[..., 1], most)
    low = -_least(sums.above[..., 0], -sums.above[..., 1], most)
    return Difference(estimate, np.fmin(low, estimate), np.fmax(high, estimate))


def log_ratio(sums: Sums, phi: Floats) -> tuple[Floats, Floats]:
    """The log of canary's rate over stable's, and the variance that chance gives it; nan while nothing was compared.

    One bad request is added, divided like the traffic: it moves no ratio of two that are alike, and none is infinite.
    Example: 14 of 410 beside 9 of 3,702 is ln 12.9 = 2.55 with a variance of 1/14.1 + 1/9.9 = 0.17.
    Example: 0 of 410 beside 0 of 3,702 is 0 with a variance of 11: it says nothing.
    """
    of_canary, of_stable, weight, varied, requests = np.moveaxis(sums.weighted[..., 2:], -1, 0)
    rest = np.where(requests > 0, weight / np.where(requests > 0, requests, 1.0), np.nan)
    one = rest * (1.0 - rest)
    above, under = of_canary + one, of_stable + one
    known = above * under > 0
    variance = np.where(known, (varied + one) / np.where(known, above * under, 1.0), np.nan)
    ratio = np.log(np.where(known, above / np.where(known, under, 1.0), 1.0))
    return np.where(known, ratio, np.nan), np.maximum(phi, 1.0) * variance


def _least(log_e: Floats, slope: Floats, most: Floats) -> Floats:
    """The least d with log mean exp(L + N d) at the bar, within +-most.

    By Newton's steps from the right: the curve is convex and rises, so that each step ends at the bar or above it, and
    wherever one stops the bound holds.
    """
    known = slope > 0
    alone = (_LOG_BAR + math.log(slope.shape[-1]) - log_e) / np.where(known, slope, 1.0)
    d = np.minimum(np.where(known, alone, np.inf).min(axis=-1), most)
    for _ in range(_STEPS):
        above, steep = _height(log_e + slope * d[..., None], slope)
        if not (above > _NEAR).any():
            break
        d = np.where((above > 0) & (steep > 0), d - above / np.where(steep > 0, steep, 1.0), d)
    return np.asarray(np.clip(d, -most, most))


def _height(log_e: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """How far the log of the mean is above the bar, and how steep."""
    parts = np.exp(log_e - log_e.max(axis=-1, keepdims=True))
    return log_mean(log_e) - _LOG_BAR, (parts * slope).sum(axis=-1) / parts.sum(axis=-1)
