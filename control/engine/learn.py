"""What does one tick add to what a shift knows? Counts, evidence, what is in force and what somebody else changed.

Facts only: nothing here moves a weight. Everything that a reading is used for is used in one go, so that the cursor
and what came of it are stored together.
"""

from dataclasses import replace
from datetime import datetime

from control.engine.decision import Cause, Decision
from control.engine.drift import foreign
from control.engine.counting import Evidence, weigh
from control.engine.journal import noted
from control.engine.observation import Observation, RouteNow
from control.engine.phase import FINISHED, Phase
from control.engine.readings import Increments, Reading, Tally, increments
from control.engine.state import Drift, Intent, ShiftState, Step, Window
from control.spec import TrafficShift

SIGHT: dict[Cause, str] = {
    Cause.ROUTE_UNREADABLE: "the routes can be read",
    Cause.METRICS_UNAVAILABLE: "the metrics can be read",
    Cause.ENDPOINTS_UNKNOWN: "the ready endpoints are known",
}
"""Troubles of not seeing, and what is so when they end. They come and go without a decision."""


def learn(state: ShiftState, reading: Reading, retries: int, now: datetime) -> ShiftState:
    """The state with the reading used up, evidence included. Units: `retries` is what the routes allow a request."""
    new, cursor = increments(state.cursor, reading)
    if state.intent is None or state.phase in FINISHED:
        return replace(state, cursor=cursor)
    canary, stable = new.total(state.subject.canary), new.total(state.subject.stable)
    first_bad = state.first_bad_at or (now if canary.failures or canary.retries or canary.abandoned else None)
    grown = replace(state, cursor=cursor, first_bad_at=first_bad, evidence=_weighed(state, new, retries))
    return _counted(grown, canary, stable)


def _weighed(state: ShiftState, new: Increments, retries: int) -> Evidence | None:
    if state.evidence is None or state.phase is Phase.ROLLING_BACK:
        return state.evidence
    subject = state.subject
    return weigh(state.evidence, new, stable=subject.stable, canary=subject.canary, retries=retries)


def _counted(state: ShiftState, canary: Tally, stable: Tally) -> ShiftState:
    window = state.window
    if state.acknowledged_at is not None:
        window = window.grown(canary.requests, stable.requests)
    steps = state.steps
    if steps and steps[-1].left_at is None:
        steps = (*steps[:-1], _grown(steps[-1], canary, stable, window))
    return replace(state, window=window, steps=steps)


def _grown(step: Step, canary: Tally, stable: Tally, window: Window) -> Step:
    return replace(step, canary=step.canary + canary, stable=step.stable + stable, window=window)


def notice(state: ShiftState, seen: Observation, shift: TrafficShift, now: datetime) -> ShiftState:
    """The state with what is in place, in force or foreign."""
    seeing = _sees_again(state, seen, shift, now)
    return _in_force(_foreign_since(_confirmed(seeing, seen), seen, now), seen, shift, now)


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
            return not seen.readable


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
    intent = state.intent
    if intent is None or state.acknowledged_at is not None or foreign(state, seen):
        return state
    settled = now >= intent.at + shift.settle
    if not all(_runs(route, state, settled=settled) for route in seen.routes):
        return state
    steps = state.steps
    if steps and steps[-1].left_at is None and steps[-1].acknowledged_at is None:
        steps = (*steps[:-1], replace(steps[-1], acknowledged_at=now))
    acknowledged = replace(state, acknowledged_at=now, window=Window(), steps=steps)
    return noted(acknowledged, Decision(Cause.STEP_ACKNOWLEDGED), now, name=shift.name)


def _runs(route: RouteNow, state: ShiftState, *, settled: bool) -> bool:
    """Is the weight in force on this route? Where the mesh can't tell, time must do."""
    if state.share == 0 and (route.unheld or route.cut_off):
        return True
    return route.in_force or (route.in_place and not route.known and settled)
