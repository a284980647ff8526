"""Whose weights are these? What to do when a document says neither what we wrote nor what was there before.

People come first: a change *towards stable* is respected for a grace period before it is repaired; any other one is
repaired at once. The third repair in ten minutes is the last: it leaves the lower canary weight, and then the shift
is in conflict: what others write after that stays.
"""

from datetime import datetime, timedelta
from fractions import Fraction

from control.engine.decision import Cause, Decision
from control.engine.observation import Observation, RouteNow
from control.engine.phase import Event
from control.engine.state import Intent, ShiftState
from control.spec import Mode

REPAIRS = 3
WITHIN = timedelta(minutes=10)


def foreign(state: ShiftState, seen: Observation) -> tuple[RouteNow, ...]:
    """Routes whose weights somebody else has changed since our intent. Who only observes has no weights of its own."""
    intent = state.intent
    if intent is None or state.subject.mode is Mode.OBSERVE:
        return ()
    return tuple(route for route in seen.routes if _is_foreign(intent, route))


def _is_foreign(intent: Intent, route: RouteNow) -> bool:
    if route.in_place or route.configured is None or route.problem:
        return False
    before = intent.before.get(route.key)
    return route.key in intent.done or (before is not None and before != str(route.configured))


def ours_to_write(state: ShiftState, route: RouteNow) -> bool:
    """The intent covers this route, has not reached it, and nobody else changed it meanwhile. Who only observes writes
    nothing, ever.
    """
    intent = state.intent
    if intent is None or state.subject.mode is Mode.OBSERVE or route.configured is None or route.in_place:
        return False
    return route.key not in intent.done and intent.before.get(route.key, str(route.configured)) == str(route.configured)


def answer_to(state: ShiftState, changed: tuple[RouteNow, ...], grace: timedelta, now: datetime) -> Decision:
    """What is done about foreign changes: respected until a time, repaired, or repaired for the last time."""
    theirs = min(route.configured for route in changed if route.configured is not None)
    facts = {"route": changed[0].name, "theirs": str(theirs), "ours": str(state.share)}
    until = (state.drift.since or now) + grace
    if now < until and all(_towards_stable(state.share, route) for route in changed):
        return Decision(Cause.FOREIGN_CHANGE, facts=facts, until=until)
    if len(recent(state, now)) + 1 >= REPAIRS:
        return Decision(Cause.CONFLICT, Event.CONFLICT, facts | {"ours": str(min(theirs, state.share))})
    return Decision(Cause.DRIFT_REPAIRED, facts=facts)


def recent(state: ShiftState, now: datetime) -> tuple[datetime, ...]:
    return tuple(at for at in state.drift.repairs if now - at < WITHIN)


def _towards_stable(share: Fraction, route: RouteNow) -> bool:
    return route.configured is not None and route.configured < share
