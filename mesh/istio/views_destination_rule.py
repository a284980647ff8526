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


@dataclass(frozen=True, slots=True)
class TcpKeepalive:
    """When a silent connection is probed. 0 and None: as the operating system does it."""

    probes: int
    time: timedelta | None
    interval: timedelta | None


@dataclass(frozen=True, slots=True)
class ConnectionPool:
    """Limits of an upstream. 0 and None are Istio's defaults: no limit."""

    max_connections: int = 0
    connect_timeout: timedelta | None = None
    max_connection_duration: timedelta | None = None
    http1_max_pending_requests: int = 0
    http2_max_requests: int = 0
    max_requests_per_connection: int = 0
    max_retries: int = 0
    idle_timeout: timedelta | None = None
    max_concurrent_streams: int = 0
    h2_upgrade: str = "DEFAULT"
    use_client_protocol: bool = False
    tcp_keepalive: TcpKeepalive | None = None
    http2_keepalive: tuple[timedelta, timedelta] | None = None


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
        None if pool is None else _connection_pool(pool),
        None if balancer is None else load_balancer(balancer),
        None if "retryBudget" not in data else _retry_budget(data["retryBudget"]),
        None if outlier is None else outlier_detection(outlier),
    )


def _retry_budget(data: Mapping[str, Any]) -> RetryBudget:
    """A least number of 0 is as good as none."""
    least = data.get("minRetryConcurrency", 0) or 3
    return RetryBudget(float(data.get("percent", 20)), least, _duration(data.get("budgetInterval")))


def _connection_pool(data: Mapping[str, Any]) -> ConnectionPool:
    tcp, http = data.get("tcp", {}), data.get("http", {})
    return ConnectionPool(
        max_connections=tcp.get("maxConnections", 0),
        connect_timeout=_duration(tcp.get("connectTimeout")),
        max_connection_duration=_duration(tcp.get("maxConnectionDuration")),
        http1_max_pending_requests=http.get("http1MaxPendingRequests", 0),
        http2_max_requests=http.get("http2MaxRequests", 0),
        max_requests_per_connection=http.get("maxRequestsPerConnection", 0),
        max_retries=http.get("maxRetries", 0),
        idle_timeout=_duration(http.get("idleTimeout", tcp.get("idleTimeout"))),
        max_concurrent_streams=http.get("maxConcurrentStreams", 0),
        h2_upgrade=http.get("h2UpgradePolicy", "DEFAULT"),
        use_client_protocol=http.get("useClientProtocol", False),
        tcp_keepalive=_tcp_keepalive(tcp["tcpKeepalive"]) if "tcpKeepalive" in tcp else None,
        http2_keepalive=_http2_keepalive(http["http2KeepAlive"]) if "http2KeepAlive" in http else None,
    )


def _tcp_keepalive(data: Mapping[str, Any]) -> TcpKeepalive:
    return TcpKeepalive(data.get("probes", 0), _duration(data.get("time")), _duration(data.get("interval")))


def _http2_keepalive(data: Mapping[str, Any]) -> tuple[timedelta, timedelta]:
    return parse_duration(data["interval"]), parse_duration(data["timeout"])


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
