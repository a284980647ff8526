"""What does the controller say about its own work? One log line a look that decided something, and a few metrics.

Logs go to stderr, one JSON object a line; stdout belongs to the ready line. `METRICS` is the table of all metrics of
the controller.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app

from control.health import Health, serve, with_health
from control.loop.feed import ChangeFeed, ShiftKey
from control.loop.runner import Outcome
from control.loop.troubles import Trouble

METRICS = {
    "tidegate_looks_total": "Looks at shifts, by result: decided, quiet, or the code of the error.",
    "tidegate_look_seconds": "How long a look took.",
    "tidegate_shifts_waiting": "Shifts whose next look is planned.",
}
BUCKETS_S = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


def configure_logs(level: str) -> None:
    """One JSON object a line on stderr."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping().get(level.upper(), 20)),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


class LoopMetrics:
    """The loop's Prometheus metrics, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        texts = METRICS
        self.looks = Counter(
            "tidegate_looks", texts["tidegate_looks_total"], ["namespace", "name", "result"], registry=self.registry
        )
        self.seconds = Histogram(
            "tidegate_look_seconds", texts["tidegate_look_seconds"], registry=self.registry, buckets=BUCKETS_S
        )
        self.waiting = Gauge("tidegate_shifts_waiting", texts["tidegate_shifts_waiting"], registry=self.registry)

    def serve(self, address: str, waiting: Callable[[], int], health: Health) -> str:
        """Serves them, and the probes, at host:port until the process ends; says where. Raises StartFailed."""
        self.waiting.set_function(waiting)
        return serve(with_health(make_wsgi_app(self.registry), health), address)


class LoopObserver:
    """Is told of each look; tells log, metrics and watchers."""

    def __init__(self, metrics: LoopMetrics, feed: ChangeFeed) -> None:
        self._metrics = metrics
        self._feed = feed
        self._log: Any = structlog.get_logger("control")

    def ticked(self, key: ShiftKey, outcome: Outcome, took_s: float) -> None:
        self._metrics.looks.labels(*key, "decided" if outcome.changed else "quiet").inc()
        self._metrics.seconds.observe(took_s)
        write = self._log.info if outcome.changed else self._log.debug
        write(
            "look",
            shift="/".join(key),
            **outcome.facts,
            took_ms=round(took_s * 1000, 1),
            next_s=outcome.next_tick.total_seconds(),
        )

    def failed(self, key: ShiftKey, trouble: Trouble, error: Exception) -> None:
        self._metrics.looks.labels(*key, trouble.code).inc()
        self._feed.publish(key)
        facts = {"shift": "/".join(key), "code": trouble.code, "failures": trouble.failures, "why": trouble.message}
        if trouble.frozen:
            self._log.error("frozen", **facts, exc_info=error)
        elif not trouble.passing:
            self._log.warning("look failed", **facts)
