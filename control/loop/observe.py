"""What does the world look like to one shift right now? Everything is asked for at once; what can't be found out is a
value.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime

from control.engine.decision import Cause
from control.engine.entry import service_of
from control.engine.observation import Observation, RouteNow, beside_held
from control.engine.priors import priors_of
from control.engine.readings import Reading
from control.engine.settle import Past, unsettled
from control.engine.state import ShiftState, route_key
from control.errors import NotFound, Rejected, TidegateError, Unavailable
from control.loop.ports import Ports
from control.ports import Acknowledgement, MetricsQuery
from control.spec import Mode, TrafficShift, UserMetric
from mesh.istio.problem import DocumentError, MissingDestination
from mesh.istio.weights import RouteView, configured_share, weight_patch
from mesh.traffic import RouteRef, TrafficSplit

NO_PAST = Past()


@dataclass(frozen=True, slots=True)
class Look:
    """What one look brought: routes as they stand, for writing; an observation, for deciding; counts, for learning; and
    what earlier shifts say, where that is asked.
    """

    views: dict[str, RouteView]
    seen: Observation
    reading: Reading | None
    past: Past = NO_PAST


async def look(ports: Ports, shift: TrafficShift, state: ShiftState, now: datetime) -> Look:
    subject, namespace = state.subject, shift.namespace
    routes = asyncio.gather(*(_route(ports, shift, state, ref) for ref in subject.routes))
    ready = asyncio.gather(*(_ready(ports, namespace, subject.host, each) for each in (subject.canary, subject.stable)))
    found, endpoints, builds, metrics, past = await asyncio.gather(
        routes, ready, _builds(ports, shift, state), _reading(ports, shift, state), _past(ports, shift, state)
    )
    reading, trouble = metrics
    answered = {key.version for key in reading.series} if reading is not None else set()
    seen = Observation(
        at=now,
        routes=beside_held([route for route, _ in found]),
        canary_endpoints=endpoints[0][0],
        stable_endpoints=endpoints[1][0],
        canary_builds=builds,
        endpoints_message=endpoints[0][1],
        readable=reading is not None,
        unseen=tuple(each for each in (subject.stable, subject.canary) if reading is not None and each not in answered),
        unread=reading.unread if reading is not None else (),
        gauges=reading.gauges if reading is not None else {},
        troubles=reading.troubles if reading is not None else {},
        metrics_message=trouble,
    )
    return Look({route.key: view for route, view in found if view is not None}, seen, reading, past)


async def _route(
    ports: Ports, shift: TrafficShift, state: ShiftState, ref: RouteRef
) -> tuple[RouteNow, RouteView | None]:
    try:
        view = await ports.documents.route(ref)
    except TidegateError as error:
        return RouteNow(route_key(ref), str(ref), problem=_cause(error), message=words(error)), None
    route = _as_it_stands(view, state.subject.split(state.share))
    if state.subject.mode is Mode.OBSERVE:
        route = _only_seen(route)
    elif route.problem is None and state.intent is None:
        route = _checked(route, view, shift, state)
    return _with_proxies(route, await _acknowledgement(ports, ref, view.revision)), view


def _cause(error: TidegateError) -> Cause:
    match error:
        case NotFound():
            return Cause.ROUTE_MISSING
        case Rejected():
            return Cause.WEIGHT_REFUSED
        case _:
            return Cause.ROUTE_UNREADABLE


def words(error: TidegateError | DocumentError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _as_it_stands(view: RouteView, split: TrafficSplit) -> RouteNow:
    """The route against what state says."""
    route = RouteNow(
        key=route_key(view.ref),
        name=str(view.ref),
        revision=view.revision,
        configured=configured_share(view, split),
        hands_off=view.hands_off,
        retries=view.retries,
    )
    try:
        return replace(route, in_place=weight_patch(view, split) is None)
    except DocumentError as error:
        return _refused(route, error)


def _only_seen(route: RouteNow) -> RouteNow:
    """Who only observes never writes: what could not be written, or is in place by chance, is nothing to it."""
    return replace(route, in_place=False, problem=None) if route.problem is Cause.WEIGHT_REFUSED else route


def _checked(route: RouteNow, view: RouteView, shift: TrafficShift, state: ShiftState) -> RouteNow:
    """Before anything is written: can every step be written at all?"""
    try:
        for share in shift.strategy.shares:
            weight_patch(view, state.subject.split(share))
    except DocumentError as error:
        return _refused(route, error)
    return route


def _refused(route: RouteNow, error: DocumentError) -> RouteNow:
    cause = Cause.DESTINATION_MISSING if isinstance(error, MissingDestination) else Cause.WEIGHT_REFUSED
    return replace(route, problem=cause, message=words(error))


def _with_proxies(route: RouteNow, answer: Acknowledgement | None) -> RouteNow:
    if answer is None:
        return replace(route, known=False)
    return replace(
        route,
        holders=tuple(sorted(answer.holders)),
        acknowledged=tuple(sorted(answer.acknowledged)),
        rejections=tuple((each.proxy, each.message) for each in answer.rejections),
        known=answer.known,
        current=answer.current,
    )


async def _acknowledgement(ports: Ports, ref: RouteRef, revision: str) -> Acknowledgement | None:
    try:
        return await ports.proxies.acknowledgement(ref, revision)
    except (Unavailable, NotFound):
        return None


async def _ready(ports: Ports, namespace: str, host: str, subset: str) -> tuple[int | None, str]:
    """Ready endpoints, None when nobody can say. A subset that nobody declared has none."""
    try:
        return await ports.workloads.ready_endpoints(namespace, host, subset), ""
    except NotFound as error:
        return 0, f"({words(error)})"
    except Unavailable as error:
        return None, words(error)


async def _builds(ports: Ports, shift: TrafficShift, state: ShiftState) -> tuple[str, ...]:
    """The builds behind the canary, none when nobody can say."""
    try:
        return await ports.workloads.builds(shift.namespace, state.subject.host, state.subject.canary)
    except (NotFound, Unavailable):
        return ()


async def _reading(ports: Ports, shift: TrafficShift, state: ShiftState) -> tuple[Reading | None, str]:
    """A source of which no proxy could be read could not be read. It is asked for what was missed meanwhile, too."""
    subject = state.subject
    query = MetricsQuery(
        namespace=shift.namespace,
        host=subject.host,
        versions=(subject.stable, subject.canary),
        since=state.cursor.at,
        source=shift.source,
        metrics=tuple(each for each in shift.metrics if isinstance(each, UserMetric)),
    )
    try:
        reading = await ports.metrics.read(query)
    except Unavailable as error:
        return None, words(error)
    if reading.unread and not reading.series:
        return None, f"no proxy could be read: {', '.join(reading.unread[:5])}"
    return reading, ""


async def _past(ports: Ports, shift: TrafficShift, state: ShiftState) -> Past:
    """What earlier shifts of the service say, asked for once a run. Who can't be asked keeps nobody waiting."""
    if state.watched is not None or not unsettled(state):
        return NO_PAST
    try:
        return Past(priors_of(await ports.ledger.read(shift.namespace, service_of(shift.host, shift.namespace))))
    except TidegateError as error:
        return Past(trouble=error.message)
