"""What does a person ask for? The TrafficShift as frozen values, with every default filled in."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Any

from control.spec.quantity import duration_text, share_text
from mesh.traffic import RouteRef, TrafficSplit

API_VERSION = "tidegate.dev/v1alpha1"
KIND = "TrafficShift"
HANDS_OFF = "tidegate.dev/hands-off"


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
class StepStrategy:
    """Fixed steps, in order, the last one 100 %.

    `hold` counts from the moment at which every proxy has acknowledged the step. `min_requests` canary requests are
    needed at each step before it can be judged.
    """

    steps: tuple[Fraction, ...]
    hold: timedelta = timedelta(minutes=1)
    min_requests: int = 20


@dataclass(frozen=True, slots=True)
class TrafficShift:
    """One move of traffic from the stable to the canary subset of a host.

    `poll` is the time between two looks, `settle` how long a write is given to reach the proxies where the mesh can't
    tell, `grace_period` how long a person's change towards stable is respected before it is repaired, `deadline` the
    longest time from the first step to the end (None: no limit).
    """

    name: str
    namespace: str
    target: Target
    stable: str
    canary: str
    strategy: StepStrategy
    poll: timedelta = timedelta(seconds=5)
    on_failure: OnFailure = OnFailure.ROLLBACK
    on_delete: OnDelete = OnDelete.STABLE
    on_deadline: OnDeadline = OnDeadline.HOLD
    deadline: timedelta | None = None
    grace_period: timedelta = timedelta(minutes=5)
    settle: timedelta = timedelta(seconds=10)
    annotations: tuple[tuple[str, str], ...] = field(default=())

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
        text = json.dumps(to_document(self)["spec"], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def split(self, share: Fraction) -> TrafficSplit:
        return TrafficSplit(self.host, self.stable, self.canary, share)


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
        "strategy": {
            "kind": "steps",
            "steps": [share_text(share) for share in shift.strategy.steps],
            "hold": duration_text(shift.strategy.hold),
            "minRequests": shift.strategy.min_requests,
        },
        "onFailure": shift.on_failure.value,
        "onDelete": shift.on_delete.value,
        "onDeadline": shift.on_deadline.value,
        "gracePeriod": duration_text(shift.grace_period),
        "settle": duration_text(shift.settle),
    }
    return spec | ({"deadline": duration_text(shift.deadline)} if shift.deadline is not None else {})


def _route(shift: TrafficShift, ref: RouteRef) -> dict[str, str]:
    route = {"virtualService": ref.virtual_service}
    if ref.route is not None:
        route["route"] = ref.route
    if ref.namespace != shift.namespace:
        route["namespace"] = ref.namespace
    return route
