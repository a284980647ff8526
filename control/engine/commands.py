"""May this command be given now, and what does it do?

A command changes the state and nothing else: the next tick acts on it, so that its sentence says what is decided,
never what is done. Given twice under one id it acts once; asking for what is so already changes nothing.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from control.engine.command import Command
from control.engine.decision import Cause, Decision
from control.engine.explain import sentence
from control.engine.move import move
from control.engine.phase import FINISHED, REFUSALS, Event, Phase, Verb, next_phase
from control.engine.plan import next_step
from control.engine.state import KEPT_COMMANDS, ShiftState
from control.errors import Refused
from control.spec import TrafficShift

ALREADY = "this command was taken before"
MOST_REASON = 200
MOST_ID = 100
"""Units: characters. State keeps the reason of whatever holds a shift, and the ids of the last commands."""

_RUNS = "already running: nobody has paused or suspended it"
_OVER = "no step is left to hold back; the annotation tidegate.dev/hands-off keeps its weights from being written"
_HAS_ALL = "already promoted: {canary} has all traffic"
HELD_BY_ANNOTATION = "already resumed: what holds it is the annotation tidegate.dev/hands-off"
ALREADY_SO: dict[tuple[Phase, Verb], str] = {
    (Phase.PENDING, Verb.RESUME): _RUNS,
    (Phase.PROGRESSING, Verb.RESUME): _RUNS,
    (Phase.PROMOTING, Verb.RESUME): _RUNS,
    (Phase.PROMOTING, Verb.PROMOTE_FULL): "already on its way: {canary} is being given all traffic",
    (Phase.PROMOTED, Verb.PROMOTE): _HAS_ALL,
    (Phase.PROMOTED, Verb.PROMOTE_FULL): _HAS_ALL,
    (Phase.PAUSED, Verb.PAUSE): "already paused",
    (Phase.PARKED, Verb.RESUME): "already waiting to go on: it does by itself once the metrics can be read again",
    (Phase.SUSPENDED, Verb.SUSPEND): "already suspended",
    (Phase.ROLLING_BACK, Verb.ROLLBACK): "already going back: {stable} is being given all traffic",
    (Phase.ROLLED_BACK, Verb.ROLLBACK): "already rolled back: {stable} has all traffic",
}
"""Scripts ask again when they are not sure: that is no mistake."""

_EVENTS: dict[Verb, Event] = {
    Verb.PROMOTE: Event.ADVANCE,
    Verb.PROMOTE_FULL: Event.FILL,
    Verb.ROLLBACK: Event.ROLL_BACK,
    Verb.PAUSE: Event.PAUSE,
    Verb.RESUME: Event.RESUME,
    Verb.SUSPEND: Event.SUSPEND,
    Verb.RETRY: Event.RENEW,
}
_CAUSES: dict[Event, Cause] = {
    Event.ADVANCE: Cause.PROMOTED_BY_HAND,
    Event.FILL: Cause.PROMOTED_BY_HAND,
    Event.ROLL_BACK: Cause.COMMANDED,
    Event.PAUSE: Cause.PAUSED,
    Event.RESUME: Cause.RESUMED,
    Event.SUSPEND: Cause.SUSPENDED,
    Event.RENEW: Cause.RENEWED,
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The state with the command taken, and in a sentence what that does."""

    state: ShiftState
    sentence: str


def accept(shift: TrafficShift, state: ShiftState, command: Command) -> Accepted:
    """Raises: Refused with what to do instead."""
    if command.id in state.commands:
        return Accepted(state, ALREADY)
    _readable(command)
    _expected(shift, state, command)
    if already := _already(state, command.verb):
        return Accepted(state, already)
    event = _allowed(shift, state, command)
    decision = Decision(_CAUSES[event], event, _facts(command) | _target(shift, state, event))
    moved = move(shift, state, decision, command.at, actor=_one_line(command.actor))
    return Accepted(
        replace(moved, commands=(*state.commands, command.id)[-KEPT_COMMANDS:]),
        sentence(decision, moved, shift.name),
    )


def _readable(command: Command) -> None:
    """Raises: Refused for words that are no reason but a document: they would crowd out the rest of the state."""
    for what, text, most in (
        ("reason", command.reason, MOST_REASON),
        ("actor", command.actor, MOST_REASON),
        ("id", command.id, MOST_ID),
    ):
        if len(text) > most:
            raise Refused(f"the {what} has {len(text):,} characters; {most} is the most", "say it in one sentence")


def _facts(command: Command) -> dict[str, str]:
    reason = _one_line(command.reason)
    return {"by": _one_line(command.actor), "because": f": {reason}" if reason else ""}


def _one_line(text: str) -> str:
    """What a person wrote, as one line that no terminal takes for a command."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _target(shift: TrafficShift, state: ShiftState, event: Event) -> dict[str, str]:
    """The share that a promotion leads to: the sentence stays true when the shift has gone on."""
    if event not in (Event.ADVANCE, Event.FILL):
        return {}
    ahead = _ahead(shift, state)
    return {"to": str(ahead if ahead is not None and event is Event.ADVANCE else 1)}


def _ahead(shift: TrafficShift, state: ShiftState) -> Fraction | None:
    """The next step of a run: one that is parked goes on from the weight that it had."""
    return next_step(shift.strategy, state.steps[-1].share if state.steps else state.share)


def _expected(shift: TrafficShift, state: ShiftState, command: Command) -> None:
    """Raises: Refused where the shift is not what the person took it for."""
    if command.expect_step is not None and command.expect_step != state.step:
        hint = f"look again with tidegate status {shift.name}; somebody may have moved it, or it moved by itself"
        raise Refused(f"{shift.name} is at step {state.step}, not {command.expect_step}", hint)
    if state.deleting and command.verb is not Verb.ROLLBACK:
        raise Refused(f"{shift.name} is being deleted", "apply it again when it is gone")


def _already(state: ShiftState, verb: Verb) -> str:
    """What is so without the command; empty when the command would change something, or can't be given."""
    if state.phase is Phase.ROLLING_BACK and state.giving_back is not None:
        return ""
    words = ALREADY_SO.get((state.phase, verb), "")
    if words == _RUNS and state.decision.cause is Cause.HANDS_OFF:
        return HELD_BY_ANNOTATION
    return words.format(stable=state.subject.stable, canary=state.subject.canary)


def _allowed(shift: TrafficShift, state: ShiftState, command: Command) -> Event:
    event = _event(shift, state, command.verb)
    if event is None:
        over = command.verb is Verb.SUSPEND and state.phase in FINISHED
        hint = _OVER if over else REFUSALS[state.phase].replace("NAME", shift.name)
        raise Refused(f"{shift.name} is {state.phase}: it can't {_spoken(command.verb)}", hint)
    return event


def _event(shift: TrafficShift, state: ShiftState, verb: Verb) -> Event | None:
    """The event that the verb means here, None when it is impossible."""
    event = _EVENTS[verb]
    begun = state.step > 0
    if event is Event.ADVANCE and _ahead(shift, state) == 1:
        event = Event.FILL
    if event in (Event.ADVANCE, Event.FILL) and not begun:
        return None
    if event is Event.RENEW and state.phase is not Phase.ROLLED_BACK:
        return None
    if event is Event.SUSPEND and state.phase is Phase.PROMOTED and state.guard is None:
        return None
    return event if next_phase(state.phase, event) is not None else None


def _spoken(verb: Verb) -> str:
    return {Verb.PROMOTE_FULL: "promote --full", Verb.ROLLBACK: "roll back"}.get(verb, verb.value)


def accept_deletion(state: ShiftState) -> ShiftState:
    """The state of a shift that is to go: the next ticks give the traffic back where the spec wants that, then it is
    gone.
    """
    return replace(state, deleting=True)
