"""What does a decision do to a shift? The next state: phase by the table, and what entering that phase brings with
it.
"""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import numpy as np

from control.engine.codec import Numbers
from control.engine.decision import Cause, Decision
from control.engine.drift import recent
from control.engine.evidence import Tide, rebake
from control.engine.guarding import new_guard
from control.engine.journal import CONTROLLER, noted
from control.engine.notice import SIGHT
from control.engine.observation import Observation
from control.engine.phase import BACK, Event, Phase, next_phase
from control.engine.plan import way_back
from control.engine.state import Bake, Drift, Intent, Return, ShiftState, Step, Window, new_state, subject_of
from control.engine.terms import terms_of
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
    moved = _moved(shift, state, decision, now, seen, actor)
    return moved if moved.decision.cause is state.decision.cause else replace(moved, caused_at=now)


def _moved(
    shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime, seen: Observation, actor: str
) -> ShiftState:
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
        Cause.DWELLING,
        Cause.UNPROVEN,
        Cause.BUDGETED,
        Cause.BAKING,
        Cause.WARMING,
        Cause.RATE_UNKNOWN,
        Cause.EDGES_UNKNOWN,
        Cause.RETURNING,
        Cause.AWAITING_PROXIES,
        Cause.AWAITING_DRAIN,
        Cause.DONE,
        Cause.NOT_BEGUN,
        Cause.PAUSED,
        Cause.PARKED,
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
        case Event.BAKE:
            return _baking(shift, state, now)
        case Event.ROLL_BACK:
            return _give_back(shift, state, decision, now, seen)
        case Event.LOWER:
            return _lowered(state, Fraction(decision.facts["to"]), now, seen)
        case Event.FINISH | Event.DRAINED:
            return _over(state, decision, now)
        case Event.CONFLICT:
            return _yielded(state, decision, seen, now)
        case Event.PARK:
            return _intended(_set_aside(state, decision), Fraction(0), now, seen)
        case Event.PAUSE | Event.SUSPEND:
            return _set_aside(state, decision)
        case Event.UNPARK:
            return _intended(state, _share_before(state), now, seen)
        case Event.RESUME:
            return _taken_up(state, now) if state.phase is Phase.CONFLICT else state
        case Event.RENEW:
            return _renewed(shift, state)
        case _:
            return replace(state, outcome=decision)


def _intended(state: ShiftState, share: Fraction, now: datetime, seen: Observation) -> ShiftState:
    """The state with a new weight to write. The hold begins anew when every proxy has acknowledged it; what was watched
    in a bake so far stays watched.
    """
    before = {route.key: str(route.configured) for route in seen.routes if route.configured is not None}
    intent = Intent(id=state.intent.id + 1 if state.intent else 1, share=share, at=now, before=before)
    bake = Bake(None, state.bake.lasted_s(now)) if state.bake is not None else None
    return replace(state, share=share, intent=intent, acknowledged_at=None, window=Window(), bake=bake)


def _step_up(
    shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime, seen: Observation
) -> ShiftState:
    share = Fraction(decision.facts["to"])
    intended = _intended(_closed(state, decision, now), share, now, seen)
    return replace(
        intended,
        step=state.step + 1,
        steps=(*intended.steps, Step(state.step + 1, share, now)),
        started_at=state.started_at or now,
        guard=new_guard(shift, state) if share == 1 else None,
        bake=None,
        returns_to=(),
        set_aside=(),
        drift=Drift(repairs=state.drift.repairs),
    )


def _baking(shift: TrafficShift, state: ShiftState, now: datetime) -> ShiftState:
    """Watched once more: what was shown so far is to be shown again, by what comes from now on."""
    tide = state.tide
    if state.watched is not None and tide.values:
        terms, here = terms_of(shift, state.watched), np.array([True])
        tide = Numbers.of(rebake(Tide.of(terms, tide.values), here).numbers())
    return replace(state, bake=Bake(since=now), tide=tide)


def _closed(state: ShiftState, decision: Decision, now: datetime) -> ShiftState:
    """The state with its running step left, and why."""
    if not state.steps or state.steps[-1].left_at is not None:
        return state
    return replace(state, steps=(*state.steps[:-1], replace(state.steps[-1], left_at=now, left=decision)))


_UNHURRIED = frozenset({Cause.COMMANDED, Cause.DEADLINE_PASSED, Cause.DELETED})
"""Returns that may take the time that the spec gives them. Harm, a spent budget and the like never do."""


def _give_back(
    shift: TrafficShift, state: ShiftState, decision: Decision, now: datetime, seen: Observation
) -> ShiftState:
    """All traffic goes back: at once, or little by little where nobody is in a hurry. Asked for twice, at once."""
    if state.phase is Phase.ROLLING_BACK:
        return _at_once(state, decision, now, seen)
    calm = decision.cause in _UNHURRIED and state.phase is not Phase.FAILED and state.giving_back is None
    shares = way_back(state.share) if calm and shift.return_over else (Fraction(0),)
    giving = Return(state.share, now, now + shift.return_over) if len(shares) > 1 else None
    intended = _intended(_closed(state, decision, now), shares[0], now, seen)
    return replace(
        intended,
        outcome=decision,
        giving_back=giving,
        guard=None,
        bake=None,
        returns_to=(),
        set_aside=(),
        finished_at=None,
        drift=Drift(repairs=state.drift.repairs),
    )


def _lowered(state: ShiftState, share: Fraction, now: datetime, seen: Observation) -> ShiftState:
    return replace(_intended(state, share, now, seen), giving_back=state.giving_back if share else None)


def _at_once(state: ShiftState, decision: Decision, now: datetime, seen: Observation) -> ShiftState:
    """What is left of a return that takes its time goes back now. Who commands it twice changes no outcome."""
    if not state.share:
        return state
    outcome = state.outcome if decision.cause in _UNHURRIED else decision
    return replace(_intended(state, Fraction(0), now, seen), giving_back=None, outcome=outcome)


def _over(state: ShiftState, decision: Decision, now: datetime) -> ShiftState:
    outcome = decision if decision.event is Event.FINISH else state.outcome
    over = replace(_closed(state, decision, now), outcome=outcome, finished_at=now, giving_back=None)
    return replace(over, owes_entry=state.started_at is not None)


def _yielded(state: ShiftState, decision: Decision, seen: Observation, now: datetime) -> ShiftState:
    """The lower of the two canary weights, written once if it is not theirs, then left alone."""
    lowest = min([state.share, *(route.configured for route in seen.routes if route.configured is not None)])
    drift = Drift(repairs=(*recent(state, now), now))
    return replace(_set_aside(_intended(state, lowest, now, seen), decision), drift=drift)


def _set_aside(state: ShiftState, decision: Decision) -> ShiftState:
    return replace(state, returns_to=(*state.returns_to, state.phase), set_aside=(*state.set_aside, decision))


_ASIDE = frozenset({Phase.PAUSED, Phase.SUSPENDED, Phase.CONFLICT})
_WITHOUT = frozenset({Phase.ROLLING_BACK, Phase.ROLLED_BACK, Phase.PARKED, Phase.PENDING})


def _share_before(state: ShiftState) -> Fraction:
    """The weight of what is returned to: none where that was going back, or parked."""
    was = next((phase for phase in reversed(state.returns_to) if phase not in _ASIDE), Phase.PENDING)
    return Fraction(0) if was in _WITHOUT or not state.steps else state.steps[-1].share


def _taken_up(state: ShiftState, now: datetime) -> ShiftState:
    """After a conflict our own weights are written again: those of the phase that is returned to."""
    return replace(_intended(state, _share_before(state), now, NOWHERE), drift=Drift(), giving_back=None)


def _renewed(shift: TrafficShift, state: ShiftState) -> ShiftState:
    """A new run. Counters of another subject were never read, so that their past must not count as news."""
    renewed = new_state(shift)
    same = (renewed.subject.host, renewed.subject.stable, renewed.subject.canary) == (
        state.subject.host, state.subject.stable, state.subject.canary,
    )  # fmt: skip
    return replace(
        renewed,
        run=state.run + 1,
        cursor=state.cursor if same else renewed.cursor,
        flow=state.flow if same else renewed.flow,
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
    """An edited spec counts from the next step on: the weight stays. Another subject is not adopted but begun anew.

    Nobody knows what spec a state that an older version stored was made for: it is this one.
    """
    if shift.generation == state.generation or subject_of(shift) != state.subject:
        return state
    if not state.generation:
        return replace(state, generation=shift.generation)
    if state.phase is Phase.ROLLED_BACK:
        return state
    adopted = replace(state, generation=shift.generation)
    return adopted if state.intent is None else noted(adopted, Decision(Cause.SPEC_CHANGED), now, name=shift.name)
