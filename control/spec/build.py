"""Which shift does a document mean that came through the door? Frozen values, with every default filled in."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from control.spec.door import EvidenceDoor, RouteDoor, ShiftDoor, SpecDoor, StepsDoor
from control.spec.door_metrics import (
    BuiltInDoor,
    GaugeDoor,
    HistogramDoor,
    LatencyDoor,
    MarginDoor,
    RatioDoor,
    UserDoor,
)
from control.spec.metric import (
    BUILT_IN,
    DEFAULT_METRICS,
    BuiltIn,
    BuiltInName,
    GaugeQuery,
    HistogramQuery,
    Margin,
    Metric,
    Query,
    RatioQuery,
    UserMetric,
)
from control.spec.quantity import parse_edge
from control.spec.shift import Change, Target, TrafficShift, Window
from control.spec.strategy import EvidenceStrategy, StepStrategy, Strategy
from mesh.traffic import RouteRef

BLIND = timedelta(minutes=1)
BLIND_POLLS = 3


def built(door: ShiftDoor) -> TrafficShift:
    spec, namespace = door.spec, door.metadata.namespace
    return TrafficShift(
        name=door.metadata.name,
        namespace=namespace,
        target=Target(spec.target.host, tuple(_refs(spec.target.routes, namespace))),
        stable=spec.stable,
        canary=spec.canary,
        strategy=_strategy(spec.strategy),
        poll=spec.poll,
        on_failure=spec.on_failure,
        on_delete=spec.on_delete,
        on_deadline=spec.on_deadline,
        deadline=spec.deadline,
        grace_period=spec.grace_period,
        settle=spec.settle,
        annotations=tuple(sorted(door.metadata.annotations.items())),
        mode=spec.mode,
        source=spec.source,
        alpha=spec.alpha,
        beta=spec.beta,
        metrics=DEFAULT_METRICS if spec.metrics is None else tuple(_metric(each) for each in spec.metrics),
        budget=spec.budget,
        objective=spec.objective,
        warm_up=spec.warm_up,
        blind_for=_blind_for(spec),
        rollback_window=spec.rollback_window,
        return_over=spec.back.over,
        changes=tuple(each for each in Change if each in spec.changes),
        manage_subsets=spec.manage_subsets,
        baseline=None if spec.baseline is None else Window(spec.baseline.start, spec.baseline.end),
    )


def _refs(routes: Iterable[RouteDoor], namespace: str) -> Iterator[RouteRef]:
    for route in routes:
        yield RouteRef(route.namespace or namespace, route.virtual_service, route.route)


def _blind_for(spec: SpecDoor) -> timedelta:
    """What looks seldom isn't blind between two looks."""
    return spec.blind_for or max(BLIND, BLIND_POLLS * spec.poll)


def _strategy(door: StepsDoor | EvidenceDoor) -> Strategy:
    if isinstance(door, StepsDoor):
        return StepStrategy(tuple(door.steps), door.hold, door.min_requests)
    return EvidenceStrategy(
        tuple(door.rungs), door.bake.lasting, door.bake.at, door.first, door.capacity == "endpoints"
    )


def _metric(door: BuiltInDoor | LatencyDoor | UserDoor) -> Metric:
    if isinstance(door, UserDoor):
        return _user_metric(door)
    usual = BUILT_IN[BuiltInName(door.name)]
    return BuiltIn(
        name=usual.name,
        tolerance=_margin(door.tolerance, usual.tolerance),
        proof=_margin(door.proof, usual.proof),
        weight=usual.weight if door.weight is None else door.weight,
        edges_ms=tuple(door.edges) if isinstance(door, LatencyDoor) and door.edges else None,
    )


def _user_metric(door: UserDoor) -> UserMetric:
    usual = UserMetric(door.name, _query(door))
    return UserMetric(
        name=door.name,
        query=usual.query,
        direction=door.direction,
        tolerance=_margin(door.tolerance, usual.tolerance),
        proof=_margin(door.proof, usual.proof),
        weight=usual.weight if door.weight is None else door.weight,
    )


def _query(door: UserDoor) -> Query:
    match door.prometheus:
        case RatioDoor() as ratio:
            return RatioQuery(ratio.bad, ratio.total, tuple(ratio.by))
        case HistogramDoor() as histogram:
            edges = tuple(_edge(each) for each in histogram.edges or ())
            return HistogramQuery(histogram.buckets, histogram.unit, edges or None, tuple(histogram.by))
        case GaugeDoor() as gauge:
            return GaugeQuery(gauge.value, gauge.low, gauge.high, gauge.lasting, gauge.on_breach)


def _edge(value: float | str) -> float:
    """Units: milliseconds, or those of the metric where it is no time."""
    return parse_edge(value) if isinstance(value, str) else value


def _margin(door: MarginDoor, usual: Margin) -> Margin:
    return Margin(usual.ratio if door.ratio is None else door.ratio, usual.extra if door.extra is None else door.extra)
