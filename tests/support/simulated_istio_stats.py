"""`simulated-istio-stats`: an exporter that tells what real Envoys counted in the words of Istio's standard metrics.

Istio's own filter (`istio.stats`) is not in a plain Envoy. This stands in for it: each proxy and each serving process
has a page of its own, as each pod has in a cluster. What a caller's Envoy counted a version is its page with
reporter="source"; what all Envoys together sent to an address is that process's page with reporter="destination".

What differs from Istio: the destination's page knows only good and bad tries (status 0 and 14), since an Envoy counts
no more of an endpoint; and durations have no status of their own.
"""

import math
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from control.adapters.localmesh.pods import pods
from control.adapters.localmesh.stats import counts, stats_filter
from control.engine.readings import CANCELLED, Counts, PodCounts
from tests.support.mesh_wait import until
from tests.support.prometheus_server import Target


@dataclass
class SimulatedIstioStats:
    """`callers` are admin addresses of Envoys by workload (None: it is down), `serving` the names of serving processes
    by address ("host:port"). `retries`: whether proxies publish their own count of retries too.
    """

    service: str
    versions: Sequence[str]
    callers: dict[str, str | None]
    serving: Mapping[str, str]
    retries: bool = True
    namespace: str = "default"
    address: str = ""
    served: Counter[str] = field(default_factory=Counter)
    _session: aiohttp.ClientSession | None = field(default=None, repr=False)

    @property
    def targets(self) -> list[Target]:
        """What Prometheus is to scrape."""
        return [
            Target(self.address, f"/pods/{name}", {"pod": name, "namespace": self.namespace, "instance": name})
            for name in (*(f"{caller}-0" for caller in self.callers), *self.serving.values())
        ]

    async def scraped(self) -> None:
        """Returns when everything that was counted so far was scraped: from each page that can be, twice."""
        before = Counter(self.served)  # the first page may be under way already
        pods = [each.labels["pod"] for each in self.targets]
        up = [pod for pod in pods if self.callers.get(pod.removesuffix("-0"), "") is not None]
        await until(
            lambda: all(self.served[pod] >= before[pod] + 2 for pod in up), within_s=90, what="two scrapes of all"
        )

    async def page(self, request: web.Request) -> web.Response:
        name = request.match_info["pod"]
        address = next((each for each, pod in self.serving.items() if pod == name), None)
        try:
            lines = await self._serves(name, address) if address else await self._calls(name.removesuffix("-0"))
        except aiohttp.ClientError as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from error
        self.served[name] += 1
        return web.Response(text="\n".join(lines) + "\n")

    async def _calls(self, caller: str) -> list[str]:
        admin = self.callers[caller]
        if admin is None:
            raise aiohttp.ClientError("it is down")
        query = {"histogram_buckets": "cumulative", "filter": stats_filter(self.service, self.versions)}
        found = counts(await self._get(admin, "stats", query), self.versions)
        return [line for version, each in found.items() for line in self._source(caller, version, each)]

    def _source(self, caller: str, version: str, found: Counts) -> Iterator[str]:
        labels = {"reporter": "source", **self._labels(caller, version)}
        for code, n in sorted(found.ended.items()):
            yield _line("istio_requests_total", {**labels, **_end(code)}, n)
        for edge, n in {**found.latency_ms, math.inf: max(found.latency_ms.values(), default=0)}.items():
            edges = {**labels, **_end(0), "le": "+Inf" if edge == math.inf else f"{edge:g}"}
            yield _line("istio_request_duration_milliseconds_bucket", edges, n)
        if self.retries:
            cluster = {"cluster_name": f"outbound|50051|{version}|{self.service}"}
            yield _line("envoy_cluster_upstream_rq_retry", cluster, found.retries)

    async def _serves(self, name: str, address: str) -> list[str]:
        lines: list[str] = []
        for caller, admin in self.callers.items():
            if admin is not None:
                found = pods(await self._get(admin, "clusters", {}), self.service, self.versions)
                lines += self._destination(name, caller, {pod: n for pod, n in found.items() if pod[1] == address})
        return lines

    def _destination(self, name: str, caller: str, found: Mapping[tuple[str, str], PodCounts]) -> Iterator[str]:
        for (version, _), tries in found.items():
            labels = {"reporter": "destination", "destination_workload": name, **self._labels(caller, version)}
            yield _line("istio_requests_total", {**labels, **_end(0)}, tries.n - tries.bad)
            yield _line("istio_requests_total", {**labels, **_end(14)}, tries.bad)

    def _labels(self, caller: str, version: str) -> dict[str, str]:
        return {
            "source_workload": caller,
            "source_workload_namespace": self.namespace,
            "destination_service": self.service,
            "destination_version": version,
            "request_protocol": "grpc",
        }

    async def _get(self, admin: str, path: str, query: Mapping[str, str]) -> Any:
        assert self._session is not None
        async with self._session.get(f"http://{admin}/{path}", params={"format": "json", **query}) as response:
            return await response.json(content_type=None)


def _end(code: int) -> dict[str, str]:
    """How Istio labels a request's end. One whose caller left has no status."""
    left = code == CANCELLED
    return {
        "response_code": "0" if left else "200",
        "grpc_response_status": "" if left else str(code),
        "response_flags": "DC" if left else "-",
    }


def _line(metric: str, labels: Mapping[str, str], value: float) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{metric}{{{pairs}}} {value}"


@asynccontextmanager
async def simulated_istio_stats(stats: SimulatedIstioStats) -> AsyncIterator[SimulatedIstioStats]:
    """The exporter, listening on a free port."""
    app = web.Application()
    app.router.add_get("/pods/{pod}", stats.page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    stats.address = f"127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session:
        stats._session = session
        try:
            yield stats
        finally:
            await runner.cleanup()
