"""What does a DestinationRule say? Subsets and traffic policy as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mesh.istio.document import Document
from mesh.istio.duration import parse_duration
from mesh.istio.hosts import full_name
from mesh.istio.views import Identity, Labels, identity, labels
from mesh.istio.views_balancing import LoadBalancer, OutlierDetection, load_balancer, outlier_detection
from mesh.istio.views_connection_pool import ConnectionPool, connection_pool


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """How many retries may run at once: `percent` of the running requests, but at least `minimum`."""

    percent: float
    minimum: int
    interval: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The blocks of a traffic policy that apply to one port. None: the block is absent."""

    connection_pool: ConnectionPool | None = None
    load_balancer: LoadBalancer | None = None
    retry_budget: RetryBudget | None = None
    outlier_detection: OutlierDetection | None = None


@dataclass(frozen=True, slots=True)
class TrafficPolicy:
    """A policy and what replaces it, as a whole, on some ports."""

    policy: Policy = Policy()
    ports: tuple[tuple[int, Policy], ...] = ()

    def at(self, port: int) -> Policy | None:
        """The policy that replaces everything else on `port`, or None."""
        return dict(self.ports).get(port)


@dataclass(frozen=True, slots=True)
class Subset:
    """Endpoints that carry `labels`, with a policy of their own."""

    name: str
    labels: Labels
    policy: TrafficPolicy | None


@dataclass(frozen=True, slots=True)
class DestinationRule:
    """A DestinationRule. `policy` is None when the document has no trafficPolicy."""

    identity: Identity
    host: str
    policy: TrafficPolicy | None
    subsets: tuple[Subset, ...]
    export_to: tuple[str, ...]
    selector: Labels


def destination_rule(document: Document) -> DestinationRule:
    """The view of a DestinationRule."""
    spec = document.data["spec"]
    return DestinationRule(
        identity(document),
        full_name(spec["host"], document.namespace),
        _traffic_policy(spec.get("trafficPolicy")),
        tuple(_subset(subset) for subset in spec.get("subsets", ())),
        tuple(spec.get("exportTo", ())),
        labels(spec.get("workloadSelector", {}).get("matchLabels")),
    )


def _subset(data: Mapping[str, Any]) -> Subset:
    return Subset(data["name"], labels(data.get("labels")), _traffic_policy(data.get("trafficPolicy")))


def _traffic_policy(data: Mapping[str, Any] | None) -> TrafficPolicy | None:
    if data is None:
        return None
    ports = tuple((entry["port"]["number"], _policy(entry)) for entry in data.get("portLevelSettings", ()))
    return TrafficPolicy(_policy(data), ports)


def _policy(data: Mapping[str, Any]) -> Policy:
    pool, balancer, outlier = data.get("connectionPool"), data.get("loadBalancer"), data.get("outlierDetection")
    return Policy(
        None if pool is None else connection_pool(pool),
        None if balancer is None else load_balancer(balancer),
        None if "retryBudget" not in data else _retry_budget(data["retryBudget"]),
        None if outlier is None else outlier_detection(outlier),
    )


def _retry_budget(data: Mapping[str, Any]) -> RetryBudget:
    """A least number of 0 is as good as none."""
    least = data.get("minRetryConcurrency", 0) or 3
    return RetryBudget(float(data.get("percent", 20)), least, _duration(data.get("budgetInterval")))


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
