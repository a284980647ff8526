"""What does the evidence say now? Numbers that a decision, a sentence and a screen are made of."""

from dataclasses import dataclass

import numpy as np

from control.engine.evidence.bets import log_mean, log_merged, mixed
from control.engine.evidence.dispersion import in_all, phi
from control.engine.evidence.pods import suspect
from control.engine.evidence.terms import Bools, Columns, Floats, Ints, Terms, columns
from control.engine.evidence.tide import CAPPED_FROM, Tide, tolerated

ENOUGH_BAD = 10
"""Bad requests of stable from which the averaging bets (F5) may hold the multiplying ones (F6) back."""
CATASTROPHE = np.log(1e6)
"""Evidence of F6 that needs no second opinion. Units: log E."""
EXCESSES = np.geomspace(0.0005, 1.0, 34)
"""Bounds on the excess rate that are looked at. Units: bad requests a request."""
LATELY = 50.0
"""Requests of stable of late from which its own failing is told."""


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Units: (runs, tests) or (runs,), in the order of the tests.

    `log_harm`, `log_proof`: log of the evidence for harm, and for being within the proven margin. `log_total`: harm
    over all tests. `upper`: with confidence 1 - beta, the excess rate of failed requests is below this. `excess`,
    `excess_sd`: failed requests beyond stable's rate so far. `phi`: dispersion; `ratio`: the tolerated ratio, widened.
    `pod`: the process slot that alone carries the leading test's harm, or -1. `log_misrouted`: evidence that requests
    do not follow the weights. `outage`: stable itself is failing. `leading`: the test that says most.
    """

    log_harm: Floats
    log_total: Floats
    log_proof: Floats
    upper: Floats
    excess: Floats
    excess_sd: Floats
    phi: Floats
    ratio: Floats
    pod: Ints
    log_misrouted: Floats
    outage: Bools
    counts: Floats
    leading: Ints


def findings(terms: Terms, tide: Tide) -> Findings:
    column = columns(terms)
    seen_phi = phi(tide.seen, column)
    ratio, extra = tolerated(tide, column, seen_phi, np.zeros(len(tide.polls), bool))
    log_harm = harm(tide, column, in_all(seen_phi, column))
    leading = (log_harm + column.log_weight).argmax(axis=-1)
    rows = np.arange(len(leading))
    by_test = suspect(tide.canary_pods, tide.counts[..., 2:], seen_phi, ratio, extra, terms.hold_at)
    return Findings(
        log_harm=log_harm,
        log_total=log_merged(log_harm, column.log_weight),
        log_proof=log_mean(tide.proof),
        upper=upper(terms, tide),
        excess=tide.excess,
        excess_sd=np.sqrt(tide.excess_variance),
        phi=seen_phi,
        ratio=ratio,
        pod=by_test[rows, leading],
        log_misrouted=mixed(tide.routing, tide.routing_polls)[:, 0],
        outage=(tide.lately[:, 0] >= LATELY) & (tide.lately[:, 1] >= terms.outage * tide.lately[:, 0]),
        counts=tide.counts,
        leading=leading,
    )


def harm(tide: Tide, column: Columns, seen_phi: Floats) -> Floats:
    """log of the evidence for harm (runs, tests).

    Where events clump, the smaller of both kinds of bets: it is valid if either is. A catastrophe needs one only. What
    speaks for harm is divided by what the dispersion turned out to be beyond what was known when the bets were made;
    that only ever takes evidence away.
    """
    multiplied, averaged = mixed(tide.harm, tide.polls), mixed(tide.block, tide.polls)
    both = (seen_phi > CAPPED_FROM) & (tide.counts[..., 3] >= ENOUGH_BAD) & (multiplied < CATASTROPHE)
    least = np.where(both, np.minimum(multiplied, averaged), multiplied)
    return np.where(least > 0, least / underestimated(tide, column, seen_phi), least)


def underestimated(tide: Tide, column: Columns, seen_phi: Floats) -> Floats:
    """By how much the bets were tempered too little, as is known now (runs, tests): at least 1. Stable's processes may
    have shown more clumps since.

    Example: bets tempered by 2 over 100 requests, and by 5 over 200; it is 6 now: 6 / 4 = 1.5.
    """
    requests = tide.counts[..., 0]
    now = np.maximum(seen_phi, column.tries)
    used = np.where(tide.used > 0, tide.used / np.where(requests > 0, requests, 1.0), now)
    return np.asarray(np.maximum(now, used) / used)


def upper(terms: Terms, tide: Tide) -> Floats:
    """The smallest excess rate that can be ruled out (runs,); 1 while none can. The worst of the counted tests; of all
    tests where none is counted, so that shares grow with what is known.
    """
    counted = columns(terms).counted
    counted = counted if counted.any() else ~counted
    log, gain = tide.upper_log[:, counted, :, None], tide.upper_gain[:, counted, :, None]
    ruled_out = log_mean(np.moveaxis(log + gain * EXCESSES, -2, -1)) >= terms.log_proof
    smallest = np.where(ruled_out, EXCESSES, 1.0).min(axis=-1)
    return np.asarray(smallest.max(axis=-1))
