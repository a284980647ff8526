"""Which weight comes next? From findings to a course, as arrays: the part of a decision that is arithmetic.

The next weight comes from the failure budget (F8): with R requests a second, a delay D until a decision is taken and
followed, and U the excess rate that can't be ruled out yet, a share w risks w R D U failed requests in a stage. No
stage may risk more than a part rho of what the budget has left:

    w <= rho * (budget - excess so far) / (R * D * U)                                                          (F8)

Without excess U falls like 1/requests, so that the weight grows by itself, faster where the evidence is good.

Example: budget 50, 50 requests a second, D = 30 s, U = 1: w <= 25 / 1500 = 1.7 %: the first rung is 1 %.
Example: the same at 500 a second: 0.17 %: 0.1 %.
Example: at 0.2 a second: any share: the rung at `learn_at`.
Source: error budgets and risk as size times duration (the SRE Workbook, "Canarying Releases"). Limits: the promise is
on the mean, for rates as they were while it was learned; a later fault costs what it costs until it is found.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from control.engine.evidence.bets import PROOF_GRID, log_factors
from control.engine.evidence.findings import Findings
from control.engine.evidence.terms import Bools, Floats, Ints, Terms, columns

TINY = 1e-9
AGAINST, CAUTIOUS = float(np.log(2.0)), 0.05
"""Where a proof of being no worse has become half as likely, nothing climbs above this share: most of a fault is seen
there as soon as above, for less. Units: log E; share.
"""
CHANCE_SD = 3.0
"""An excess within so many sd of none is bad luck, which is no cost of the version, and no reason to stop it."""
PUSH_S = 15.0
"""What a stage is taken to last beyond its polls and lag: writing, acknowledging, a fault's first sign. Units: s."""


class Action(IntEnum):
    """What the evidence asks for. In order: the first that applies is taken."""

    ROLL_BACK = 0
    """There is harm."""
    SPENT = 1
    """The excess has used up the budget, and is more than bad luck: no verdict on the version."""
    POD = 2
    """There would be harm, but one process alone carries it."""
    SUSPECTED = 3
    MISMATCH = 4
    """Requests do not follow the weights."""
    OUTAGE = 5
    """Stable itself is failing."""
    WAITING = 6
    """Too few polls at this weight."""
    PROMOTE = 7
    BAKE = 8
    """Every proof leans the right way: from here it is proven once, for as long as the bake lasts at least."""
    BAKING = 9
    ADVANCE = 10
    UNPROVEN = 11
    """Nothing speaks against it, too little for it."""
    CAPPED = 12
    """More ready endpoints are needed."""
    BUDGETED = 13
    """A higher weight would risk too much of the budget for what is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where each run stands. Units: arrays of (runs,).

    `share` of the canary now; `polls` with data at it; `rate` requests a second of both versions; `cap` the highest
    share that the ready endpoints carry; `baking`, `baked_s`: whether, and how long, it has been watched once more;
    `ready`: whether all else allows a step (settled, not warming up).
    """

    share: Floats
    polls: Floats
    rate: Floats
    cap: Floats
    baking: Bools
    baked_s: Floats
    ready: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """`action` (runs,) of `Action`; `share` (runs,) the canary's share that it leads to."""

    action: Ints
    share: Floats


def course(terms: Terms, found: Findings, at: Standing) -> Course:
    """What to do now, for each run."""
    harmful = found.log_total >= terms.log_harm
    proven = (found.log_proof >= terms.log_proof).all(axis=-1)
    bakes = terms.bake_s > 0
    top = terms.bake_at if bakes else 1.0
    high = at.share >= _rung(terms, terms.bake_at if bakes else terms.learn_at) - TINY
    done = proven & high
    next_share, why_not = _next(terms, found, at, top)
    conditions = {
        Action.ROLL_BACK: harmful & (found.pod < 0),
        Action.SPENT: overspent(terms, found),
        Action.POD: harmful,
        Action.SUSPECTED: found.log_total >= np.log(terms.hold_at),
        Action.MISMATCH: found.log_misrouted >= terms.log_harm,
        Action.OUTAGE: found.outage,
        Action.WAITING: ~at.ready | (at.polls < terms.dwell_polls),
        Action.PROMOTE: done & (at.cap >= 1.0) & _baked(terms, at),
        Action.CAPPED: done & _baked(terms, at),
        Action.BAKE: _leaning(found) & high & ~at.baking & bakes,
        Action.BAKING: at.baking,
        Action.ADVANCE: next_share > at.share + TINY,
    }
    action = np.select(list(conditions.values()), [int(each) for each in conditions], why_not)
    to_zero = (action == Action.ROLL_BACK) | (action == Action.SPENT)
    up = np.where(action == Action.PROMOTE, 1.0, np.where(action == Action.ADVANCE, next_share, at.share))
    return Course(action, np.where(to_zero, 0.0, up))


def overspent(terms: Terms, found: Findings) -> Bools:
    """Has the excess used up the budget, and is it more than bad luck (runs,)?"""
    return np.asarray(found.excess >= np.maximum(terms.budget, CHANCE_SD * found.excess_sd))


def _baked(terms: Terms, at: Standing) -> Bools:
    return np.asarray((at.baking & (at.baked_s >= terms.bake_s)) | (terms.bake_s <= 0))


def _leaning(found: Findings) -> Bools:
    """Does every proof of being no worse lean the right way?"""
    return np.asarray((found.log_proof > 0).all(axis=-1))


def _rung(terms: Terms, most: float) -> float:
    """The highest rung that is at most `most`; the lowest where none is."""
    return max((rung for rung in terms.rungs if rung <= most + TINY), default=terms.rungs[0])


def _next(terms: Terms, found: Findings, at: Standing, top: float) -> tuple[Floats, Ints]:
    """The highest rung that all limits allow, and which limit keeps it from the one above the present share."""
    against = (found.log_proof < -AGAINST).any(axis=-1)
    learning = np.where(against, min(CAUTIOUS, terms.learn_at), terms.learn_at)
    proof = np.minimum(np.where(_leaning(found), 1.0, learning), top)
    budget = allowed(terms, at.rate, found.upper, found.excess)
    rungs = np.array(terms.rungs)
    here = np.searchsorted(rungs, at.share + TINY)
    most = np.minimum.reduce([proof, at.cap, budget])
    to = np.minimum(np.searchsorted(rungs, most + TINY, side="right"), here + terms.jump) - 1
    above = rungs[np.minimum(here, len(rungs) - 1)]
    at_the_end = here >= len(rungs)
    why = np.select(
        [at_the_end | (above > proof + TINY), above > at.cap + TINY, above > budget + TINY],
        [Action.UNPROVEN, Action.CAPPED, Action.BUDGETED],
        Action.UNPROVEN,
    )
    return rungs[np.maximum(to, 0)], why


def allowed(terms: Terms, rate: Any, upper: Any, excess: Any) -> Floats:
    """The highest share whose next stage risks no more than `rho` of the budget that is left (F8)."""
    left = np.maximum(terms.budget - np.maximum(excess, 0.0), 0.0)
    stage = np.asarray(rate, float) * stage_s(terms) * np.asarray(upper, float)
    return np.where(stage > 0, terms.rho * left / np.where(stage > 0, stage, 1.0), 1.0)


def stage_s(terms: Terms) -> float:
    """How long a stage lasts at least: its polls, and until a decision has been followed. Units: seconds."""
    return terms.dwell_polls * terms.poll_s + terms.lag_s + PUSH_S


def first_share(terms: Terms, rate: Any) -> Floats:
    """The first rung at this rate: the highest whose every request might fail within the budget's part (runs,)."""
    most = np.minimum(allowed(terms, np.atleast_1d(rate), 1.0, 0.0), terms.learn_at)
    rungs = np.array(terms.rungs)
    return rungs[np.maximum(np.searchsorted(rungs, most + TINY, side="right") - 1, 0)]


def requests_needed(terms: Terms, test: int, rate: float, share: float, phi: float = 1.0) -> float:
    """Canary requests until a version as good as stable is proven within the margin of one test, as expected.

    Units: `rate` is stable's bad rate, 0 to 1; inf where no bet of the grid grows.
    """
    column = columns(terms)
    ratio, extra = column.proof_ratio[test], column.proof_extra[test]
    log_a, log_b, a = log_factors(share, 1.0 - share, ratio, PROOF_GRID)
    others = (1.0 - share) / share
    growth = float((rate * log_a + rate * others * log_b + (1.0 - a) * extra).max())
    needed = (terms.log_proof + np.log(len(PROOF_GRID))) * max(phi, float(column.tries[test]))
    return needed / growth if growth > 0 else float("inf")


def budget_needed(rate: float, canary_requests: float, share: float, phi: float = 1.0) -> float:
    """The budget below which a good version might use it up by chance: 3 sd of its failures beyond stable's.

    Units: `rate` is stable's bad rate; `share` the canary's while most of those requests are sent.
    """
    return CHANCE_SD * float(np.sqrt(phi * canary_requests * rate / max(1.0 - share, TINY)))
