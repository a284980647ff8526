"""Does the canary keep its objective, now that it has all traffic? What is watched at 100 %, and for a while after.

Nothing is left to compare with, so the objective alone is tested, or what was tolerated all along where that is more.
Where stable itself did not keep its objective during the run, three times of what it did is the measure: such a service
is not rolled back for it, and rates that nobody promised rise and fall with the hour.
"""

from dataclasses import replace
from datetime import datetime

import numpy as np

from control.engine.codec import Numbers
from control.engine.evidence import Tide, findings
from control.engine.evidence.guard import fresh_guard, limit_of, log_broken, weigh_guard
from control.engine.evidence.terms import Floats
from control.engine.phase import Phase
from control.engine.readings import Tally
from control.engine.state import Guard, ShiftState
from control.engine.terms import terms_of
from control.spec import TrafficShift

OUTCOMES = "outcomes"


def new_guard(shift: TrafficShift, state: ShiftState) -> Guard | None:
    """What is watched from 100 % on; None where the spec wants no such window."""
    if not shift.rollback_window:
        return None
    limit, phi = 1.0 - shift.objective, 1.0
    if state.watched is not None and state.tide.values:
        terms = terms_of(shift, state.watched)
        found = findings(terms, Tide.of(terms, state.tide.values))
        for index, test in enumerate(terms.tests):
            if test.name == OUTCOMES:
                limit = float(limit_of(shift.objective, state.flow.failing or 0.0, test.tolerated))
                phi = float(found.phi[0, index])
    return Guard(limit, max(phi, 1.0))


def guarded(state: ShiftState, canary: Tally) -> ShiftState:
    """The state with what the canary did since the last look, once every proxy gives it all traffic."""
    guard, at_full = state.guard, state.share == 1 and state.acknowledged_at is not None
    if guard is None or not at_full or not canary.requests:
        return state
    requests, bad = np.array([float(canary.requests)]), np.array([float(canary.failures)])
    (log_w,), polls = _weighed(guard, requests, bad)
    grown = replace(
        guard,
        bets=Numbers.of(log_w[0]),
        polls=float(polls[0]),
        requests=guard.requests + canary.requests,
        bad=guard.bad + canary.failures,
    )
    return replace(state, guard=grown)


def _weighed(guard: Guard, requests: Floats, bad: Floats) -> tuple[Floats, Floats]:
    return weigh_guard(_arrays(guard), requests, bad, guard.limit, guard.phi)


def _arrays(guard: Guard) -> tuple[Floats, Floats]:
    log_w, polls = fresh_guard()
    if guard.bets.values:
        log_w, polls = np.array([[guard.bets.values]]), np.array([guard.polls])
    return log_w, polls


def log_guard(guard: Guard | None) -> float:
    """log of the evidence that the objective is broken; 0 while nothing is watched."""
    return 0.0 if guard is None else float(log_broken(_arrays(guard))[0])


def relieved(shift: TrafficShift, state: ShiftState, now: datetime) -> ShiftState:
    """The state without its guard, once the window after 100 % is over."""
    if state.guard is None or state.phase is not Phase.PROMOTED or state.finished_at is None:
        return state
    return state if now < state.finished_at + shift.rollback_window else replace(state, guard=None)
