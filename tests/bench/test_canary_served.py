"""What the simulated Prometheus tells is what was counted: read by the real adapter, differenced by the real engine,
each request counts once, also where scrapes fail and processes begin anew.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import numpy as np
import pytest

from control.adapters.prometheus.access import Access
from control.adapters.prometheus.metrics import PrometheusMetrics
from control.adapters.prometheus.server import PrometheusServer
from control.engine.cursor import Cursor
from control.engine.increments import increments
from control.engine.readings import Tally
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.spec import Source
from tests.bench.canary.conditions import TUNING
from tests.bench.canary.heats import Cell, name_of
from tests.bench.canary.served.pages import AGAIN, BAD, CANARY, HOST, LEFT, MEASURED, NAMESPACE, STABLE
from tests.bench.canary.served.simulated_prometheus import SimulatedPrometheus, listening
from tests.bench.canary.served.traffic import Traffic, before, hour
from tests.bench.canary.shapes import TICK_S
from tests.support.control_time import StillClock

TICK = timedelta(seconds=TICK_S)
QUERY = MetricsQuery(NAMESPACE, HOST, (STABLE, CANARY), source=Source.PROMETHEUS)
TOLD = {"requests": MEASURED, "failures": BAD, "retries": AGAIN, "abandoned": LEFT}


@asynccontextmanager
async def reading(server: SimulatedPrometheus, clock: StillClock) -> AsyncIterator[PrometheusMetrics]:
    async with listening(server) as url:
        metrics = PrometheusMetrics(PrometheusServer(Access(url)), clock, interval=TICK)
        try:
            yield metrics
        finally:
            await metrics.close()


def passed(traffic: Traffic, server: SimulatedPrometheus, clock: StillClock) -> np.ndarray:
    """A tick at a fifth, scraped. Gives what the pages grew by (routes, processes, numbers)."""
    earlier = traffic.pages.counted
    traffic.pass_tick(0.2)
    clock.move(TICK)
    server.store(traffic.pages.scrape(), clock.now())
    return np.maximum(traffic.pages.counted - earlier, 0.0)


@pytest.mark.parametrize(
    ("scenario", "shape"),
    [
        ("errors-2.1-4", "steady"),
        ("retry-storm", "steady"),
        ("aa-late-scrapes-2.1", "steady"),
        ("aa-resets-2.1", "steady"),
        ("aa-clumps-20-2.1", "route-mix"),
        ("errors-0-1", "very-low"),
    ],
    ids=lambda word: word,
)
async def test_each_request_counts_once(scenario: str, shape: str) -> None:
    name, server, clock = name_of(Cell("", scenario, shape), 1), SimulatedPrometheus(), StillClock()
    traffic, totals = hour(name, TUNING, before(name, TUNING)), {STABLE: Tally(), CANARY: Tally()}
    for _ in range(3):
        passed(traffic, server, clock)
    grown = np.zeros_like(traffic.pages.counted)
    async with reading(server, clock) as metrics:
        _, cursor = increments(Cursor(), await metrics.read(QUERY))
        for _ in range(40):
            grown += passed(traffic, server, clock)
            news, cursor = increments(cursor, await metrics.read(QUERY))
            totals = {version: sum((new.total(version) for new in news), sofar) for version, sofar in totals.items()}
    stable = name.scenario.processes[0]
    for version, processes in ((STABLE, slice(stable)), (CANARY, slice(stable, None))):
        counted = grown[:, processes].sum(axis=(0, 1))
        told = {each: getattr(totals[version], each) for each in TOLD}
        assert told == {each: counted[place] for each, place in TOLD.items()}


async def test_where_nothing_is_scraped_nothing_can_be_read() -> None:
    name = name_of(Cell("", "scrape-gone"), 1)
    traffic, server, clock = hour(name, TUNING, before(name, TUNING)), SimulatedPrometheus(), StillClock()
    for _ in range(13):
        passed(traffic, server, clock)
    async with reading(server, clock) as metrics:
        with pytest.raises(Unavailable, match="503"):
            await metrics.read(QUERY)
