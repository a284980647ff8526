"""May this shift be applied beside those that exist?"""

from collections.abc import Iterable

from control.engine.phase import Phase
from control.engine.state import ShiftState
from control.errors import Refused
from control.spec import Mode, TrafficShift
from mesh.traffic import RouteRef


def admit(shift: TrafficShift, others: Iterable[TrafficShift], state: ShiftState | None = None) -> None:
    """Raises: Refused when another shift moves one of its routes, or when it would begin from a version without
    traffic. One that only observes moves none.
    """
    moving = [] if shift.mode is Mode.OBSERVE else [other for other in others if other.mode is Mode.CONTROL]
    for other in moving:
        shared = next(
            (ref for ref in shift.target.routes for taken in other.target.routes if same_route(ref, taken)), None
        )
        if other.key != shift.key and shared is not None:
            hint = f"one route, one shift: delete that one first (tidegate delete {other.name}), or name other routes"
            raise Refused(f"{shared} is moved by {other.namespace}/{other.name} already", hint)
    if state is not None and state.phase is Phase.PROMOTED:
        _begins_where_the_last_ended(shift, state)


def same_route(one: RouteRef, other: RouteRef) -> bool:
    """Could both name one route? A reference without a route's name is the document's only route."""
    same_document = (one.namespace, one.virtual_service) == (other.namespace, other.virtual_service)
    return same_document and (one.route == other.route or None in (one.route, other.route))


def _begins_where_the_last_ended(shift: TrafficShift, state: ShiftState) -> None:
    serving, subject = state.subject.canary, state.subject
    if shift.host == subject.host and serving not in (shift.stable, shift.canary):
        raise Refused(
            f"{serving} has all traffic of {shift.target.host} since the last run, not {shift.stable}",
            f"the next run begins there: stable: {serving}, canary: {shift.canary}",
        )
