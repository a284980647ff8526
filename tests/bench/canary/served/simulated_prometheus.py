"""`simulated-prometheus`: what a simulated run counted, over HTTP, as a Prometheus that scraped it would tell.

It answers the queries that are sent to it (docs/metrics.md): range selectors in instant queries, whose matchers are
read by a real parser of PromQL. No sample is later than the moment asked for, so that a controller on a virtual clock
sees what had been scraped by then.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web
from promql_parser import Matcher, MatchOp, MatrixSelector, parse

from tests.bench.canary.served.pages import Labels, Scrape

NAME = "simulated-prometheus"


@dataclass
class SimulatedPrometheus:
    """`samples` are times (milliseconds since 1970) and values of each series, oldest first. It refuses to answer
    while `answers` is false.
    """

    answers: bool = True
    asked: int = 0
    samples: dict[Labels, tuple[list[int], list[int]]] = field(default_factory=lambda: defaultdict(lambda: ([], [])))

    def store(self, scrape: Scrape, at: datetime) -> None:
        """Keeps what was scraped, and of each target whether it answered."""
        self.answers = scrape.answers
        for target, page in scrape.pages.items():
            up = (("__name__", "up"), ("instance", target))
            for labels, value in {**(page or {}), up: int(page is not None)}.items():
                times, values = self.samples[labels]
                times.append(_milliseconds(at))
                values.append(value)

    async def query(self, request: web.Request) -> web.Response:
        """POST /api/v1/query."""
        self.asked += 1
        headers = {"Server": NAME}
        if not self.answers:
            raise web.HTTPServiceUnavailable(headers=headers)
        form = await request.post()
        selector = parse(str(form["query"]))
        if not isinstance(selector, MatrixSelector) or any(each.op != MatchOp.Re for each in _matchers(selector)):
            error = {"status": "error", "errorType": "bad_data", "error": "only {...=~...}[...] is answered"}
            return web.json_response(error, status=400, headers=headers)
        data = {"resultType": "matrix", "result": list(self._matrix(selector, round(float(str(form["time"])) * 1000)))}
        return web.json_response({"status": "success", "data": data}, headers=headers)

    def _matrix(self, selector: MatrixSelector, end: int) -> Iterator[dict[str, Any]]:
        begin = end - selector.range // timedelta(milliseconds=1)
        for labels, (times, values) in self.samples.items():
            if _matches(selector, dict(labels)):
                first, last = bisect_right(times, begin), bisect_right(times, end)
                pairs = zip(times[first:last], values[first:last], strict=True)
                if found := [[time / 1000, str(value)] for time, value in pairs]:
                    yield {"metric": dict(labels), "values": found}


def _matches(selector: MatrixSelector, labels: dict[str, str]) -> bool:
    return labels["__name__"] == selector.vector_selector.name and all(
        re.fullmatch(each.value, labels.get(each.name, "")) for each in _matchers(selector)
    )


def _matchers(selector: MatrixSelector) -> list[Matcher]:
    return list(selector.vector_selector.matchers.matchers)


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)


@asynccontextmanager
async def listening(server: SimulatedPrometheus) -> AsyncIterator[str]:
    """The server on a free port. Yields its URL."""
    app = web.Application()
    app.router.add_post("/api/v1/query", server.query)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
