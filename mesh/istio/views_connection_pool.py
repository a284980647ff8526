"""What limits the connections and requests to an upstream? Connection pools as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mesh.istio.duration import parse_duration


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


def connection_pool(data: Mapping[str, Any]) -> ConnectionPool:
    """The view of a `connectionPool` block."""
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
