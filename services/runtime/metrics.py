"""Which numbers does a service process publish?

`METRICS` is the one table of them: docs are generated from it and nothing else registers a name. Each process has its
own registry, so two services in one test process do not meet.
"""

from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, start_http_server

from services.runtime.address import TcpAddress

SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MAX_ATTEMPT_LABEL = 10


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric's name, meaning and labels."""

    name: str
    kind: type[Counter] | type[Gauge] | type[Histogram]
    help: str
    labels: tuple[str, ...] = ()


REQUESTS = Metric("tidegate_requests_total", Counter, "Requests ended, by method and gRPC code.", ("method", "code"))
LATENCY = Metric("tidegate_request_seconds", Histogram, "Time from request to the end of its answer.", ("method",))
IN_FLIGHT = Metric("tidegate_requests_in_flight", Gauge, "Requests being served now.", ("method",))
ATTEMPTS = Metric(
    "tidegate_request_attempts_total", Counter, "Requests begun, by the attempt that the mesh counted.", ("attempt",)
)
FAULTS = Metric("tidegate_faults_injected_total", Counter, "Failures made on purpose, by kind.", ("kind",))
INFO = Metric(
    "tidegate_service_info", Gauge, "Always 1; says which service and version this is.", ("service", "version")
)
METRICS = (REQUESTS, LATENCY, IN_FLIGHT, ATTEMPTS, FAULTS, INFO)


@dataclass(slots=True)
class Meter:
    """The metrics of one process: ask for a `Metric`, get the live one."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    _live: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, metric: Metric) -> Any:
        """The live metric; registered on first use."""
        if metric.name not in self._live:
            extra: dict[str, Any] = {"buckets": SECONDS_BUCKETS} if metric.kind is Histogram else {}
            self._live[metric.name] = metric.kind(
                metric.name, metric.help, metric.labels, registry=self.registry, **extra
            )
        return self._live[metric.name]

    def attempt(self, number: int) -> None:
        """Counts one attempt; the label is bounded, since a header is not to be trusted with a metric's size."""
        label = str(number) if number < MAX_ATTEMPT_LABEL else f"{MAX_ATTEMPT_LABEL}+"
        self[ATTEMPTS].labels(label).inc()


@dataclass(frozen=True, slots=True)
class MetricsEndpoint:
    """A Prometheus endpoint that answers until it is closed."""

    address: TcpAddress
    server: WSGIServer
    thread: Thread

    def close(self) -> None:
        """Stops answering."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def open_metrics(meter: Meter, address: TcpAddress) -> MetricsEndpoint:
    """Serves the process's metrics over HTTP.

    Raises: OSError when the port is taken.
    """
    ProcessCollector(registry=meter.registry)
    server, thread = start_http_server(address.port, address.host, meter.registry)
    return MetricsEndpoint(TcpAddress(address.host, server.server_port), server, thread)
