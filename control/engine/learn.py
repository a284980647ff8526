"""What does one tick add to what a shift knows? Counts, and the evidence that they are.

Reading -> Evidence: everything that a reading is used for is used in one go, so that the cursor and what came of it are
stored together. Facts only: nothing here moves a weight.
"""

from dataclasses import replace
from datetime import datetime
from math import inf

from control.engine.codec import Numbers
from control.engine.evidence import Poll, Terms, Tide, fresh, weigh
from control.engine.evidence.interval import Sums, fresh_interval, widen
from control.engine.guarding import guarded
from control.engine.increments import Increments, increments
from control.engine.observation import Observation
from control.engine.phase import FINISHED, Phase
from control.engine.places import warm_until
from control.engine.polls import Moment, compares, poll_of
from control.engine.readings import Reading, Tally
from control.engine.state import Flow, ShiftState, Step, Window
from control.engine.terms import terms_of
from control.spec import Mode, TrafficShift

ALMOST = 0.9
"""Looks are not taken to the millisecond."""
RECENT_S = 60.0
"""The half-life of what is called "as of late"."""


def learn(shift: TrafficShift, state: ShiftState, reading: Reading, seen: Observation) -> ShiftState:
    """The state with the reading, and all that it brings from before, used up."""
    edges = state.watched.edges_ms if state.watched is not None else {}
    found, cursor = increments(state.cursor, reading, edges)
    for new in found:
        state = _learned(shift, state, new, seen)
    return replace(state, cursor=replace(cursor, waiting=state.cursor.waiting))


def _learned(shift: TrafficShift, state: ShiftState, new: Increments, seen: Observation) -> ShiftState:
    canary, stable = new.total(state.subject.canary), new.total(state.subject.stable)
    known = replace(state, flow=_flowing(state.flow, new, canary, stable), warm_until=_warm_until(shift, state, new))
    if state.intent is None:
        return known
    if state.phase in FINISHED:
        return guarded(known, canary) if state.phase is Phase.PROMOTED else known
    blamed = canary.failures or canary.retries or canary.abandoned
    known = replace(known, first_bad_at=known.first_bad_at or (new.at if blamed else None))
    known, compared = _weighed(shift, known, new, seen)
    due = compared and _is_due(shift, state, new)
    return guarded(_counted(known, new, canary, stable, compared=due), canary)


def _is_due(shift: TrafficShift, state: ShiftState, new: Increments) -> bool:
    """Is it time for one more look that counts as one? Whoever wakes us in between must not shorten the stay."""
    since = state.acknowledged_at
    return since is not None and new.at - since >= ALMOST * shift.poll * (state.window.compared + 1)


def _flowing(flow: Flow, new: Increments, canary: Tally, stable: Tally) -> Flow:
    """Requests a second, half of it from the last minute. Until there is a first request its rate is not known; it is
    then the one since the first look.
    """
    requests, failures = flow.requests + stable.requests, flow.failures + stable.failures
    ended = sum(each.requests + each.abandoned for each in (canary, stable))
    passed = (new.at - flow.at).total_seconds() if flow.at is not None else 0.0
    if passed <= 0.0 or (flow.per_s is None and not ended):
        return Flow(flow.per_s, flow.at if flow.at is not None and passed > 0.0 else new.at, requests, failures)
    rate = ended / passed
    kept = 0.5 ** (passed / RECENT_S) if flow.per_s is not None else 0.0
    return Flow(kept * (flow.per_s or 0.0) + (1.0 - kept) * rate, new.at, requests, failures)


def _warm_until(shift: TrafficShift, state: ShiftState, new: Increments) -> datetime | None:
    return warm_until(new.places.get(state.subject.canary, ()), shift.warm_up, new.at)


def _weighed(shift: TrafficShift, state: ShiftState, new: Increments, seen: Observation) -> tuple[ShiftState, bool]:
    """The state with the evidence that the increments are, and whether they compare the versions at this weight.

    What has gone back is judged no more; of what is parked, only what was counted before.
    """
    if state.watched is None or not state.watched.tests or not _is_judged(state, new):
        return _without_waiting(state), False
    terms = terms_of(shift, state.watched)
    at = _moment(state, new, seen)
    poll, waiting = poll_of(new, state.watched, terms, at, state.cursor.waiting)
    known = replace(state, cursor=replace(state.cursor, waiting=waiting))
    grown = _grown(known, terms, poll) if _tells(poll) or not state.tide.values else known
    return grown, compares(poll, terms) and bool(poll.harm[0]) and at.settled(state.watched.longest_s)


def _tells(poll: Poll) -> bool:
    """Is there anything in it? Silence says nothing."""
    return any(each.any() for each in (poll.canary, poll.stable, poll.canary_pods, poll.stable_pods))


def _without_waiting(state: ShiftState) -> ShiftState:
    return replace(state, cursor=replace(state.cursor, waiting=())) if state.cursor.waiting else state


def _is_judged(state: ShiftState, new: Increments) -> bool:
    match state.phase:
        case Phase.ROLLING_BACK:
            return bool(state.share)
        case Phase.PARKED:
            began = new.since
            return state.intent is not None and began is not None and began < state.intent.at
        case _:
            return True


def _moment(state: ShiftState, new: Increments, seen: Observation) -> Moment:
    """Where the shift stood at that time. Who only observes sees the share that others configured."""
    observed = seen.configured if state.subject.mode is Mode.OBSERVE else state.share
    since = state.acknowledged_at
    if since is None and state.phase is Phase.PARKED and state.intent and new.at <= state.intent.at and state.steps:
        since = state.steps[-1].acknowledged_at
    in_force_s = (new.at - since).total_seconds() if since is not None and new.at >= since else None
    return Moment(
        stable=state.subject.stable,
        canary=state.subject.canary,
        share=float(observed or 0),
        in_force_s=in_force_s,
        warming=state.warm_until is not None and new.at < state.warm_until,
        span_s=(new.at - new.since).total_seconds() if new.since is not None else inf,
    )


def _grown(state: ShiftState, terms: Terms, poll: Poll) -> ShiftState:
    tide = Tide.of(terms, state.tide.values) if state.tide.values else fresh(terms)
    sums = Sums.of(terms, state.sums.values) if state.sums.values else fresh_interval(terms)
    wider, higher = widen(terms, tide, sums, poll), weigh(terms, tide, poll)
    return replace(state, tide=Numbers.of(higher.numbers()), sums=Numbers.of(wider.numbers()))


def _counted(state: ShiftState, new: Increments, canary: Tally, stable: Tally, *, compared: bool) -> ShiftState:
    window, since = state.window, state.acknowledged_at
    if since is not None and new.at > since:
        window = window.grown(canary.requests, stable.requests, new.at)
        window = replace(window, compared=_looks(window, compared=compared))
    steps = state.steps
    if steps and steps[-1].left_at is None:
        steps = (*steps[:-1], _added(steps[-1], canary, stable, window))
    return replace(state, window=window, steps=steps)


def _looks(window: Window, *, compared: bool) -> int:
    """How many looks compared the versions: never more than either had requests. One that is counted when it begins and
    again when it fails is one.
    """
    return max(window.compared, min(window.compared + compared, window.canary, window.stable))


def _added(step: Step, canary: Tally, stable: Tally, window: Window) -> Step:
    return replace(step, canary=step.canary + canary, stable=step.stable + stable, window=window)
