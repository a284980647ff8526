"""Counts by a real Prometheus equal the truth: over restarts of what it scrapes, over our absence, never twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web

from control.adapters.prometheus.access import Access
from control.adapters.prometheus.history import PrometheusHistory
from control.adapters.prometheus.server import PrometheusServer
from control.engine.readings import Reading, Tally, tally
from control.ports import MetricsQuery
from control.spec import Source
from tests.support.mesh_wait import until
from tests.support.prometheus_reading import Learner, adapter, now, reading
from tests.support.prometheus_server import PrometheusProcess, Target, prometheus

SERVICE = "echo.default.svc.cluster.local"
QUERY = MetricsQuery("default", "echo", ("v1", "v2"), source=Source.PROMETHEUS)
GOOD, BAD = 0, 14

pytestmark = [pytest.mark.prometheus]


@dataclass
class Caller:
    """A proxy's page: requests by version and code. It may begin anew, as a process that restarts does."""

    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    served: int = 0
    address: str = ""

    def add(self, version: str, good: int, bad: int = 0) -> Tally:
        for code, n in ((GOOD, good), (BAD, bad)):
            self.counts[version, code] = self.counts.get((version, code), 0) + n
        return Tally(good + bad, bad)

    async def scraped(self) -> None:
        """Returns when everything counted so far was scraped."""
        wanted = self.served + 2  # the first page may be under way already
        await until(lambda: self.served >= wanted, within_s=90, what="two more scrapes")

    async def page(self, _request: web.Request) -> web.Response:
        lines = [
            f'istio_requests_total{{reporter="source",source_workload="gateway",destination_service="{SERVICE}",'
            f'destination_version="{version}",response_code="200",grpc_response_status="{code}"}} {n}'
            for (version, code), n in self.counts.items()
        ]
        self.served += 1
        return web.Response(text="\n".join(lines) + "\n")


@asynccontextmanager
async def page_of(caller: Caller) -> AsyncIterator[Target]:
    app = web.Application()
    app.router.add_get("/metrics", caller.page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield Target(f"127.0.0.1:{runner.addresses[0][1]}", labels={"pod": "gateway-0", "namespace": "default"})
    finally:
        await runner.cleanup()


async def test_increments_are_exact_over_restarts_of_what_is_scraped(tmp_path: Path) -> None:
    caller, learner = Caller(), Learner()
    caller.add("v1", good=1000, bad=7)
    caller.add("v2", good=0)
    async with page_of(caller) as target, prometheus(tmp_path / "p", [target]) as server, adapter(server) as metrics:
        learner.learn(await reading(metrics, QUERY, after=now()))
        assert learner.total == {"v1": Tally(), "v2": Tally()}, "nobody knows when that arose"
        stable = caller.add("v1", good=90, bad=10)
        canary = caller.add("v2", good=8, bad=2)
        await caller.scraped()
        learner.learn(await reading(metrics, replace(QUERY, since=learner.cursor.at), after=now()))
        caller.counts.clear()
        stable += caller.add("v1", good=30, bad=5)
        await caller.scraped()
        canary += caller.add("v2", good=3)
        await caller.scraped()
        learner.learn(await reading(metrics, replace(QUERY, since=learner.cursor.at), after=now()))
    assert learner.total == {"v1": stable, "v2": canary}


async def test_what_happened_while_we_were_away_is_replayed_and_counts_once(tmp_path: Path) -> None:
    caller, learner = Caller(), Learner()
    truth = caller.add("v1", good=0)
    async with page_of(caller) as target, prometheus(tmp_path / "p", [target]) as server:
        async with adapter(server) as metrics:
            learner.learn(await reading(metrics, QUERY, after=now()))
        for round_ in range(12):  # nobody reads
            if round_ == 5:
                caller.counts.clear()
            truth += caller.add("v1", good=10 + round_, bad=round_)
            await caller.scraped()
        query = replace(QUERY, since=learner.cursor.at)
        async with adapter(server, interval=timedelta(milliseconds=500)) as metrics:
            found = await reading(metrics, query, after=now())
            again = await reading(metrics, query, after=now())
        learner.learn(found)
        assert learner.total["v1"] == truth
        assert learner.readings > 12, "each scrape is a reading of its own"
        times = [each.at for each in (*found.earlier, found)]
        assert times == sorted(set(times))
        learner.learn(again)
        assert learner.total["v1"] == truth, "what is brought twice counts once"
        past = await history(server, query, found.at)
    assert sum((tally(counts) for counts in past.series.values()), Tally()) == truth


async def history(server: PrometheusProcess, query: MetricsQuery, end: datetime) -> Reading:
    """The same time, as a window of the past."""
    asked = PrometheusServer(Access(server.url))
    assert query.since is not None
    try:
        return await PrometheusHistory(asked, interval=server.interval).window(query, query.since, end)
    finally:
        await asked.close()
