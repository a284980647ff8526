"""Which weights are written now, and what came of it? From state to patches, and from what was applied back to
state.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from control.engine.drift import ours_to_write
from control.engine.observation import Observation, RouteNow
from control.engine.phase import Phase
from control.engine.state import RouteSeen, Seen, ShiftState, route_key
from control.errors import Rejected, TidegateError
from control.loop.observe import Look, words
from control.ports import Applied, Documents
from control.spec import Mode, TrafficShift
from mesh.istio.problem import DocumentError
from mesh.istio.weights import RouteView, WeightPatch, weight_patch

_SILENT = frozenset({Phase.PENDING, Phase.SUSPENDED})
_TRY_AGAIN = timedelta(seconds=10)
_MOST_SHOWN = 32


@dataclass(frozen=True, slots=True)
class Wanted:
    """The patches to apply, and why another can't be made, in words; what stops one route stops no other."""

    patches: tuple[WeightPatch, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of the writes: routes that have their weight now, a refusal in its own words, and whether to look
    again soon.
    """

    applied: tuple[Applied, ...] = ()
    rejected: str = ""
    again: bool = False


def patches(shift: TrafficShift, state: ShiftState, look: Look, now: datetime) -> Wanted:
    """The weights to write for the split that state says.

    Only what an intent covers is written: never over somebody else's change, never while hands are off, and nothing
    at all for a shift that only observes.
    """
    silent = state.subject.mode is Mode.OBSERVE or state.phase in _SILENT
    if silent or shift.hands_off or look.seen.hands_off or not _due(state, now):
        return Wanted()
    wanted = Wanted()
    for route in look.seen.routes:
        try:
            patch = _patch(state, route, look.views.get(route.key))
        except DocumentError as error:
            wanted = replace(wanted, refused=words(error))
        else:
            wanted = replace(wanted, patches=(*wanted.patches, *([patch] if patch else [])))
    return wanted


def _due(state: ShiftState, now: datetime) -> bool:
    """A refused write is not repeated blindly; one that takes traffic away from the canary is always tried again."""
    refused = state.intent.rejected_at if state.intent is not None else None
    return refused is None or state.phase is Phase.ROLLING_BACK or now >= refused + _TRY_AGAIN


def _patch(state: ShiftState, route: RouteNow, view: RouteView | None) -> WeightPatch | None:
    if view is None or route.problem is not None:
        return None
    patch = weight_patch(view, state.subject.split(state.share))
    now = replace(route, in_place=patch is None)
    return patch if ours_to_write(state, now) else None


async def write(documents: Documents, wanted: Wanted) -> Written:
    """Applies each patch; what fails on one route keeps no other from its weight."""
    written = Written(rejected=wanted.refused)
    for patch in wanted.patches:
        try:
            applied = await documents.apply(patch)
        except Rejected as error:
            written = replace(written, rejected=words(error))
        except TidegateError:
            written = replace(written, again=True)
        else:
            written = replace(written, applied=(*written.applied, applied))
    return written


def confirmed(state: ShiftState, written: Written, now: datetime) -> ShiftState:
    """The state with what came of the writes."""
    if state.intent is None:
        return state
    keys = {route_key(applied.ref) for applied in written.applied}
    intent = replace(
        state.intent,
        done=tuple(sorted({*state.intent.done, *keys})),
        rejected=written.rejected if written.rejected or keys else state.intent.rejected,
        rejected_at=now if written.rejected else None if keys else state.intent.rejected_at,
    )
    routes = tuple(
        replace(route, configured=state.share, in_force=False) if route.key in keys else route
        for route in state.seen.routes
    )
    return replace(state, intent=intent, seen=replace(state.seen, routes=routes))


def shown(state: ShiftState, seen: Observation) -> Seen:
    """What people are shown of the observation."""
    return replace(
        state.seen,
        routes=tuple(_shown(state, route) for route in seen.routes),
        canary_endpoints=seen.canary_endpoints,
        stable_endpoints=seen.stable_endpoints,
    )


def _shown(state: ShiftState, route: RouteNow) -> RouteSeen:
    return RouteSeen(
        key=route.key,
        route=route.name,
        revision=route.revision,
        configured=state.share if route.in_place else route.configured,
        holders=route.holders[:_MOST_SHOWN],
        acknowledged=route.acknowledged[:_MOST_SHOWN],
        rejections=route.rejections[:_MOST_SHOWN],
        in_force=route.acknowledged_by_all,
    )
