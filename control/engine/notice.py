"""What does one tick notice of the world, beside the counts? What is in place, in force, foreign, out of sight.

Facts only: nothing here moves a weight.
"""

from dataclasses import replace
from datetime import datetime

import numpy as np

from control.engine.codec import Numbers
from control.engine.decision import Cause, Decision
from control.engine.drift import foreign
from control.engine.evidence import Tide, resized
from control.engine.explain import seconds_text
from control.engine.gauges import breached
from control.engine.journal import noted
from control.engine.observation import Observation, RouteNow
from control.engine.state import Drift, Intent, ShiftState, Window
from control.engine.terms import terms_of
from control.spec import Mode, TrafficShift

SIGHT: dict[Cause, str] = {
    Cause.ROUTE_UNREADABLE: "the routes can be read",
    Cause.METRICS_UNAVAILABLE: "the metrics can be read",
    Cause.ENDPOINTS_UNKNOWN: "the ready endpoints are known",
}
"""Troubles of not seeing, and what is so when they end. They come and go without a decision."""


def notice(state: ShiftState, seen: Observation, shift: TrafficShift, now: datetime) -> ShiftState:
    """The state with what is in place, in force or foreign, what can't be seen, and which gauge is out of its range."""
    seeing = _blind_since(_sees_again(state, seen, shift, now), seen, now)
    gauged = replace(seeing, breaches=breached(shift, seeing, seen, now))
    return _in_force(_foreign_since(_confirmed(gauged, seen), seen, now), seen, shift, now)


def _sees_again(state: ShiftState, seen: Observation, shift: TrafficShift, now: datetime) -> ShiftState:
    """The end of every trouble of sight that is over, told."""
    lasting = tuple(cause for cause in state.troubled if _lasts(cause, seen))
    for cause in state.troubled:
        if cause not in lasting:
            state = noted(state, Decision(Cause.READABLE_AGAIN, facts={"what": SIGHT[cause]}), now, name=shift.name)
    return replace(state, troubled=lasting)


def _lasts(cause: Cause, seen: Observation) -> bool:
    match cause:
        case Cause.ROUTE_UNREADABLE:
            return any(route.problem is cause for route in seen.routes)
        case Cause.ENDPOINTS_UNKNOWN:
            return seen.canary_endpoints is None
        case _:
            return not seen.readable or bool(seen.troubles)


def _blind_since(state: ShiftState, seen: Observation, now: datetime) -> ShiftState:
    """Counted from the first look that failed while the canary had traffic; a clock that was set back counts anew."""
    if seen.readable or not state.share:
        return replace(state, blind_since=None)
    return replace(state, blind_since=min(state.blind_since or now, now))


def _confirmed(state: ShiftState, seen: Observation) -> ShiftState:
    """Routes that have what the intent says are done, whoever wrote it: a write that we did not live to confirm
    counts.
    """
    intent = state.intent
    if intent is None:
        return state
    done = tuple(sorted({*intent.done, *(route.key for route in seen.routes if route.in_place)}))
    return state if done == intent.done else replace(state, intent=_without_rejection(intent, done, seen))


def _without_rejection(intent: Intent, done: tuple[str, ...], seen: Observation) -> Intent:
    if all(route.in_place for route in seen.routes):
        return replace(intent, done=done, rejected="", rejected_at=None)
    return replace(intent, done=done)


def _foreign_since(state: ShiftState, seen: Observation, now: datetime) -> ShiftState:
    changed = foreign(state, seen)
    if not changed:
        return replace(state, drift=replace(state.drift, since=None, share=None)) if state.drift.since else state
    share = min(route.configured for route in changed if route.configured is not None)
    since = state.drift.since if state.drift.share == share else now
    drift = Drift(since or now, share, state.drift.repairs)
    return replace(state, drift=drift, acknowledged_at=None, window=Window())


def _in_force(state: ShiftState, seen: Observation, shift: TrafficShift, now: datetime) -> ShiftState:
    """The state with its weight acknowledged, or settled by time. Who only observes waits for nobody."""
    intent = state.intent
    if intent is None or foreign(state, seen):
        return state
    if state.subject.mode is Mode.OBSERVE:
        return state if state.acknowledged_at is not None else _counts_from(_stepped(state, now), shift, now)
    if in_force(state, seen):
        return _acknowledged(state, shift, now)
    settled = now >= intent.at + shift.settle
    if state.acknowledged_at is not None or not all(_runs(route, state, settled=settled) for route in seen.routes):
        return state
    facts = {"settle": seconds_text(shift.settle)}
    return noted(_counts_from(state, shift, now), Decision(Cause.STEP_SETTLED, facts=facts), now, name=shift.name)


def _acknowledged(state: ShiftState, shift: TrafficShift, now: datetime) -> ShiftState:
    """The state with its weight acknowledged, told once; that it counted before, since time had settled it, stays."""
    first = state.acknowledged_at is None
    late = not first and _open_step(state) and state.steps[-1].share == state.share
    if not first and not late:
        return state
    known = _counts_from(_stepped(state, now), shift, now) if first else _stepped(state, now)
    return noted(known, Decision(Cause.STEP_ACKNOWLEDGED), now, name=shift.name)


def _open_step(state: ShiftState) -> bool:
    """Is there a running step that nobody has acknowledged?"""
    return bool(state.steps) and state.steps[-1].left_at is None and state.steps[-1].acknowledged_at is None


def _stepped(state: ShiftState, now: datetime) -> ShiftState:
    if not _open_step(state):
        return state
    return replace(state, steps=(*state.steps[:-1], replace(state.steps[-1], acknowledged_at=now)))


def _counts_from(state: ShiftState, shift: TrafficShift, now: datetime) -> ShiftState:
    """The weight counts from now on: for the window, for the bake, for the bets on where requests should go."""
    bake = replace(state.bake, since=now) if state.bake is not None and state.share else state.bake
    known = replace(state, acknowledged_at=now, window=Window(), bake=bake)
    return replace(known, tide=_resized(known, shift))


def in_force(state: ShiftState, seen: Observation) -> bool:
    """Does every proxy that holds a route run what state says, as the proxies say themselves?"""
    return all(_runs(route, state, settled=False) for route in seen.routes)


def _resized(state: ShiftState, shift: TrafficShift) -> Numbers:
    if state.watched is None or not state.tide.values:
        return state.tide
    terms, here = terms_of(shift, state.watched), np.array([True])
    return Numbers.of(resized(Tide.of(terms, state.tide.values), here).numbers())


def _runs(route: RouteNow, state: ShiftState, *, settled: bool) -> bool:
    """Is the weight in force on this route? Where the mesh can't tell, time must do."""
    if state.share == 0 and (route.unheld or route.cut_off):
        return True
    return route.in_force or (route.in_place and not route.known and settled)
