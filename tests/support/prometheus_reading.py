"""Reading a real Prometheus in tests: the adapter on it, readings that are new enough, and what they add up to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from control.adapters.prometheus.access import Access
from control.adapters.prometheus.metrics import PrometheusMetrics
from control.adapters.prometheus.server import PrometheusServer
from control.engine.cursor import Cursor
from control.engine.increments import Increments, increments
from control.engine.readings import Reading, Tally
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.wiring import SystemClock
from tests.support.mesh_wait import until
from tests.support.prometheus_server import PrometheusProcess

PATIENT = timedelta(seconds=2)
"""The interval that the adapter is told: longer than it is, so that no pause of a busy machine looks stale."""


@asynccontextmanager
async def adapter(server: PrometheusProcess, *, interval: timedelta = PATIENT) -> AsyncIterator[PrometheusMetrics]:
    """The adapter on a running Prometheus."""
    metrics = PrometheusMetrics(PrometheusServer(Access(server.url)), SystemClock(), interval=interval)
    try:
        yield metrics
    finally:
        await metrics.close()


async def reading(metrics: PrometheusMetrics, query: MetricsQuery, *, after: datetime, processes: int = 1) -> Reading:
    """The first reading all of whose so many processes were scraped after that moment."""

    async def new_enough() -> Reading | None:
        try:
            found = await metrics.read(query)
        except Unavailable:
            return None
        scraped = {key.process for key in found.series} | {key.pod for key in found.pods}
        return found if found.at > after and len(scraped) >= processes and not found.unread else None

    return await until(new_enough, within_s=90, what="a reading of a scrape after that moment")


def now() -> datetime:
    return datetime.now(UTC)


class Learner:
    """Uses readings up as the controller does. `total` is what they added a version."""

    def __init__(self) -> None:
        self.cursor = Cursor()
        self.total: dict[str, Tally] = {}
        self.readings = 0

    def learn(self, found: Reading) -> tuple[Increments, ...]:
        news, self.cursor = increments(self.cursor, found)
        self.readings += len(news)
        for new in news:
            for version in {name for name, _ in new.tallies}:
                self.total[version] = self.total.get(version, Tally()) + new.total(version)
        return news
