"""What does a person ask for? The TrafficShift as frozen values, with every default filled in."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from control.spec.metric import DEFAULT_METRICS, Metric
from control.spec.quantity import duration_text, number, rate_text
from control.spec.strategy import EvidenceStrategy, Strategy
from control.spec.written import metric_document, moment_text, strategy_document
from mesh.traffic import RouteRef, TrafficSplit

API_VERSION = "tidegate.dev/v1alpha1"
KIND = "TrafficShift"
HANDS_OFF = "tidegate.dev/hands-off"


class Mode(StrEnum):
    """`control`: weights are written. `observe`: everything is decided and recorded, and nothing is written."""

    CONTROL = "control"
    OBSERVE = "observe"


class Source(StrEnum):
    """Who counts requests: the Envoys of the local mesh, or a Prometheus that has Istio's standard metrics."""

    MESH = "mesh"
    PROMETHEUS = "prometheus"


class Change(StrEnum):
    """What of its calls a release changes: how long they may take, or how often they are tried."""

    TIMEOUT = "timeout"
    RETRIES = "retries"


class OnFailure(StrEnum):
    """What a *fail* does: the weight goes back to 0 at once, or stays until a person decides."""

    ROLLBACK = "rollback"
    HOLD = "hold"


class OnDelete(StrEnum):
    """Where traffic goes when an unfinished shift is deleted: back to stable first, or it stays as it is.

    A promoted shift keeps its traffic in either case: its canary has become the version that serves.
    """

    STABLE = "stable"
    KEEP = "keep"


class OnDeadline(StrEnum):
    """What happens when the deadline passes: the shift holds and says so, or traffic goes back to stable."""

    HOLD = "hold"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Target:
    """The service whose traffic moves, and the routes that carry it."""

    host: str
    routes: tuple[RouteRef, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A span of the past, `start` included."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class TrafficShift:
    """One move of traffic from the stable to the canary subset of a host.

    `poll` is the time between two looks, `settle` how long a write is given to reach the proxies where the mesh can't
    tell, `grace_period` how long a person's change towards stable is respected before it is repaired, `deadline` the
    longest time from the first step to the end (None: no limit).

    `alpha` is the highest chance that a version within tolerance is rolled back, `beta` that one outside the proof
    margin is promoted. `budget` is how many requests the shift may make fail (None: worked out from `objective`, the
    share of requests that must succeed). `warm_up` is how long a new process is judged by a loose margin,
    `blind_for` how long the counters may be silent before the weight goes to 0, `rollback_window` how long after 100 %
    the objective may still take the traffic back, `return_over` how long a return lasts that nobody is in a hurry for.
    `manage_subsets`: whether a subset that no DestinationRule has may be added to one.
    """

    name: str
    namespace: str
    target: Target
    stable: str
    canary: str
    strategy: Strategy = field(default_factory=EvidenceStrategy)
    poll: timedelta = timedelta(seconds=5)
    on_failure: OnFailure = OnFailure.ROLLBACK
    on_delete: OnDelete = OnDelete.STABLE
    on_deadline: OnDeadline = OnDeadline.HOLD
    deadline: timedelta | None = None
    grace_period: timedelta = timedelta(minutes=5)
    settle: timedelta = timedelta(seconds=10)
    annotations: tuple[tuple[str, str], ...] = field(default=())
    mode: Mode = Mode.CONTROL
    source: Source = Source.MESH
    alpha: float = 0.01
    beta: float = 0.05
    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    budget: float | None = None
    objective: float = 0.995
    warm_up: timedelta = timedelta(0)
    blind_for: timedelta = timedelta(minutes=1)
    rollback_window: timedelta = timedelta(minutes=10)
    return_over: timedelta = timedelta(0)
    changes: tuple[Change, ...] = ()
    baseline: Window | None = None
    manage_subsets: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def hands_off(self) -> bool:
        return dict(self.annotations).get(HANDS_OFF, "").lower() == "true"

    @property
    def host(self) -> str:
        """The target's host, fully qualified."""
        return full_host(self.target.host, self.namespace)

    @property
    def generation(self) -> str:
        """A digest of the spec; any change of what is asked for changes it."""
        return _digest(self)

    def split(self, share: Fraction) -> TrafficSplit:
        return TrafficSplit(self.host, self.stable, self.canary, share)


@lru_cache(maxsize=4096)
def _digest(shift: TrafficShift) -> str:
    text = json.dumps(to_document(shift)["spec"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def full_host(host: str, namespace: str) -> str:
    """The host as Istio qualifies it: a name without a dot is one of the shift's namespace."""
    return host if "." in host else f"{host}.{namespace}.svc.cluster.local"


def to_document(shift: TrafficShift) -> dict[str, Any]:
    """The shift as JSON in the form that people write, which `from_document` reads back to an equal value."""
    metadata: dict[str, Any] = {"name": shift.name, "namespace": shift.namespace}
    if shift.annotations:
        metadata["annotations"] = dict(shift.annotations)
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": _spec(shift)}


def _spec(shift: TrafficShift) -> dict[str, Any]:
    spec = {
        "target": {"host": shift.target.host, "routes": [_route(shift, ref) for ref in shift.target.routes]},
        "stable": shift.stable,
        "canary": shift.canary,
        "poll": duration_text(shift.poll),
        "strategy": strategy_document(shift.strategy),
        "metrics": [metric_document(each) for each in shift.metrics],
        "mode": shift.mode.value,
        "source": shift.source.value,
        "alpha": rate_text(shift.alpha),
        "beta": rate_text(shift.beta),
        "budget": "auto" if shift.budget is None else number(shift.budget),
        "objective": rate_text(shift.objective),
        "warmUp": duration_text(shift.warm_up),
        "blindFor": duration_text(shift.blind_for),
        "rollbackWindow": duration_text(shift.rollback_window),
        "return": {"over": duration_text(shift.return_over)},
        "changes": [each.value for each in shift.changes],
        "onFailure": shift.on_failure.value,
        "onDelete": shift.on_delete.value,
        "onDeadline": shift.on_deadline.value,
        "gracePeriod": duration_text(shift.grace_period),
        "settle": duration_text(shift.settle),
        "manageSubsets": shift.manage_subsets,
    }
    return spec | _optional(shift)


def _optional(shift: TrafficShift) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if shift.deadline is not None:
        found["deadline"] = duration_text(shift.deadline)
    if shift.baseline is not None:
        found["baseline"] = {"from": moment_text(shift.baseline.start), "to": moment_text(shift.baseline.end)}
    return found


def _route(shift: TrafficShift, ref: RouteRef) -> dict[str, str]:
    route = {"virtualService": ref.virtual_service}
    if ref.route is not None:
        route["route"] = ref.route
    if ref.namespace != shift.namespace:
        route["namespace"] = ref.namespace
    return route
