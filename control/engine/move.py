"""What does a decision do to a shift? The next state: phase by the table, and what entering that phase brings with
it.
"""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from control.engine.decision import Cause, Decision
from control.engine.drift import recent
from control.engine.counting import fresh
from control.engine.journal import CONTROLLER, noted
from control.engine.learn import SIGHT
from control.engine.observation import Observation
from control.engine.phase import BACK, Event, Phase, next_phase
from control.engine.plan import next_step
from control.engine.state import Drift, Intent, ShiftState, Step, Window, new_state, subject_of
from control.errors import InvariantBroken
from control.spec import TrafficShift

NOWHERE = Observation(datetime.min, ())  # noqa: DTZ901 (never compared)
"""What is known of the world where a person's command is taken: nothing."""


def move(
    shift: TrafficShift,
    state: ShiftState,
    decision: Decision,
    now: datetime,
    *,
    seen: Observation = NOWHERE,
    actor: str = CONTROLLER,
) -> ShiftState:
    """The state after the decision. A decision without an event only changes what is shown, repairs aside."""
    if decision.cause is Cause.DRIFT_REPAIRED:
        return noted(_repaired(state, seen, now), decision, now, name=shift.name, actor=actor)
    if decision.event is None:
        return _held(shift, state, decision, now)
    to = _phase_after(state, decision.event)
    entered = _entered(shift, state, decision, now, seen)
    moved = replace(entered, phase=_back_to(entered) if to == BACK else Phase(to), decision=decision)
    return noted(_popped(moved) if to == BACK else moved, decision, now, name=shift.name, actor=actor)


def _phase_after(state: ShiftState, event: Event) -> Phase | str:
    to = next_phase(state.phase, event)
    if to is None or (to == BACK and not state.returns_to):
        raise InvariantBroken(f"{event} can't happen to a shift that is {state.phase}")
    return to


def _back_to(state: ShiftState) -> Phase:
    return state.returns_to[-1]


def _popped(state: ShiftState) -> ShiftState:
    return replace(state, returns_to=state.returns_to[:-1], set_aside=state.set_aside[:-1])


def _held(shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime) -> ShiftState:
    """Holding; told to the journal only when the cause is a new one."""
    held = replace(state, decision=decision)
    return held if decision.cause is state.decision.cause else _told(held, decision, now, shift.name)


_QUIET = frozenset(
    {
        Cause.HOLDING,
        Cause.AWAITING_PROXIES,
        Cause.AWAITING_DRAIN,
        Cause.DONE,
        Cause.NOT_BEGUN,
        Cause.PAUSED,
        Cause.SUSPENDED,
        Cause.CONFLICT,
        Cause.DELETED,
        Cause.FAILED,
    }
)
"""Holds that every run has, or that the move before has told of already."""


def _told(state: ShiftState, decision: Decision, now: datetime, name: str) -> ShiftState:
    if decision.cause in _QUIET or decision.cause in state.troubled:
        return state
    told = noted(state, decision, now, name=name)
    return replace(told, troubled=(*told.troubled, decision.cause)) if decision.cause in SIGHT else told


def _entered(
    shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime, seen: Observation
) -> ShiftState:
    """Everything but the phase that the event brings with it."""
    match decision.event:
        case Event.BEGIN | Event.ADVANCE | Event.FILL:
            return _step_up(shift, state, decision, now, seen)
        case Event.ROLL_BACK:
            return _give_back(state, decision, now, seen)
        case Event.FINISH | Event.DRAINED:
            return _over(state, decision, now)
        case Event.CONFLICT:
            return _yielded(state, decision, seen, now)
        case Event.PAUSE | Event.SUSPEND:
            return _set_aside(state, decision)
        case Event.RESUME:
            return _taken_up(state, now) if state.phase is Phase.CONFLICT else state
        case Event.RENEW:
            return _renewed(shift, state)
        case _:
            return replace(state, outcome=decision)


def _intended(state: ShiftState, share: Fraction, now: datetime, seen: Observation) -> ShiftState:
    """The state with a new weight to write. The hold begins anew when every proxy has acknowledged it."""
    before = {route.key: str(route.configured) for route in seen.routes if route.configured is not None}
    intent = Intent(id=state.intent.id + 1 if state.intent else 1, share=share, at=now, before=before)
    return replace(state, share=share, intent=intent, acknowledged_at=None, window=Window())


def _step_up(
    shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime, seen: Observation
) -> ShiftState:
    ahead = next_step(shift.strategy, state.share)
    share = ahead if ahead is not None and decision.event is not Event.FILL else Fraction(1)
    intended = _intended(_closed(state, decision, now), share, now, seen)
    return replace(
        intended,
        step=state.step + 1,
        steps=(*intended.steps, Step(state.step + 1, share, now)),
        started_at=state.started_at or now,
        evidence=state.evidence or fresh(seen.retries),
        returns_to=(),
        set_aside=(),
        drift=Drift(repairs=state.drift.repairs),
    )


def _closed(state: ShiftState, decision: Decision, now: datetime) -> ShiftState:
    """The state with its running step left, and why."""
    if not state.steps or state.steps[-1].left_at is not None:
        return state
    return replace(state, steps=(*state.steps[:-1], replace(state.steps[-1], left_at=now, left=decision)))


def _give_back(state: ShiftState, decision: Decision, now: datetime, seen: Observation) -> ShiftState:
    if state.phase is Phase.ROLLING_BACK:
        return state
    intended = _intended(_closed(state, decision, now), Fraction(0), now, seen)
    drift = Drift(repairs=state.drift.repairs)
    return replace(intended, outcome=decision, returns_to=(), set_aside=(), finished_at=None, drift=drift)


def _over(state: ShiftState, decision: Decision, now: datetime) -> ShiftState:
    outcome = decision if decision.event is Event.FINISH else state.outcome
    return replace(_closed(state, decision, now), outcome=outcome, finished_at=now)


def _yielded(state: ShiftState, decision: Decision, seen: Observation, now: datetime) -> ShiftState:
    """The lower of the two canary weights, written once if it is not theirs, then left alone."""
    lowest = min([state.share, *(route.configured for route in seen.routes if route.configured is not None)])
    drift = Drift(repairs=(*recent(state, now), now))
    return replace(_set_aside(_intended(state, lowest, now, seen), decision), drift=drift)


def _set_aside(state: ShiftState, decision: Decision) -> ShiftState:
    return replace(state, returns_to=(*state.returns_to, state.phase), set_aside=(*state.set_aside, decision))


def _taken_up(state: ShiftState, now: datetime) -> ShiftState:
    """After a conflict our own weights are written again: those of the phase that is returned to."""
    match _back_to(state):
        case Phase.ROLLING_BACK | Phase.ROLLED_BACK:
            share = Fraction(0)
        case _:
            share = state.steps[-1].share if state.steps else Fraction(0)
    return replace(_intended(state, share, now, NOWHERE), drift=Drift())


def _renewed(shift: TrafficShift, state: ShiftState) -> ShiftState:
    """A new run. Counters of another subject were never read, so that their past must not count as news."""
    renewed = new_state(shift)
    same = renewed.subject == state.subject
    return replace(
        renewed,
        run=state.run + 1,
        cursor=state.cursor if same else renewed.cursor,
        troubled=state.troubled,
        commands=state.commands,
        entries=state.entries,
        outbox=state.outbox,
        deleting=state.deleting,
    )


def _repaired(state: ShiftState, seen: Observation, now: datetime) -> ShiftState:
    repairs = (*recent(state, now), now)
    return replace(_intended(state, state.share, now, seen), drift=Drift(repairs=repairs))


def adopt(shift: TrafficShift, state: ShiftState, now: datetime) -> ShiftState:
    """An edited spec counts from the next step on: the weight stays. Another subject is not adopted but begun anew."""
    if shift.generation == state.generation or state.phase is Phase.ROLLED_BACK or subject_of(shift) != state.subject:
        return state
    adopted = replace(state, generation=shift.generation)
    return adopted if state.intent is None else noted(adopted, Decision(Cause.SPEC_CHANGED), now, name=shift.name)
