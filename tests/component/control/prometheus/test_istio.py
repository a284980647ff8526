"""Real Envoys, told in Istio's words, scraped by a real Prometheus: every request is counted once, however it ends."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import pytest

from control.engine.readings import Counts, PodCounts, Reading
from control.ports import MetricsQuery
from control.spec import Source
from tests.support.control_envoy import FQDN, envoy
from tests.support.prometheus_reading import adapter, now, reading
from tests.support.prometheus_server import prometheus
from tests.support.simulated_istio_stats import SimulatedIstioStats, simulated_istio_stats

VERSIONS = ("v1", "refused", "empty")
QUERY = MetricsQuery("default", "echo", VERSIONS, source=Source.PROMETHEUS)
UNAVAILABLE, INTERNAL, NOT_FOUND = 14, 13, 5

pytestmark = [pytest.mark.envoy, pytest.mark.prometheus]

# path, the version charged, what three such requests add, the tries that v1's process ended and those that failed
CASES = [
    ("/v1/OK", "v1", Counts(ended={0: 3}), PodCounts(3, 0)),
    ("/v1/UNAVAILABLE_ONCE", "v1", Counts(ended={0: 3}, retries=3), PodCounts(6, 3)),
    ("/v1/UNAVAILABLE", "v1", Counts(ended={UNAVAILABLE: 3}, retries=6), PodCounts(9, 9)),
    ("/v1/UNAVAILABLE_AFTER", "v1", Counts(ended={UNAVAILABLE: 3}), PodCounts(3, 3)),
    ("/v1/INTERNAL", "v1", Counts(ended={INTERNAL: 3}), PodCounts(3, 3)),
    ("/v1/NOT_FOUND", "v1", Counts(ended={NOT_FOUND: 3}), PodCounts(3, 0)),
    ("/refused/OK", "refused", Counts(ended={UNAVAILABLE: 3}, retries=6), PodCounts()),
    ("/empty/OK", "empty", Counts(ended={UNAVAILABLE: 3}), PodCounts()),
]


@pytest.mark.parametrize("retries", [True, False], ids=["proxies publish retries", "failed tries stand for retries"])
async def test_every_request_is_counted_once_however_it_ends(tmp_path: Path, retries: bool) -> None:
    async with envoy(tmp_path) as (listener, admin):
        stats = SimulatedIstioStats(FQDN, VERSIONS, {"gateway": admin}, {await _serving(admin): "echo-v1-a"}, retries)
        async with (
            simulated_istio_stats(stats),
            prometheus(tmp_path / "prometheus", stats.targets) as server,
            adapter(server) as metrics,
        ):
            before = await reading(metrics, QUERY, after=now(), processes=2)
            for path, version, expected, tries in CASES:
                await _three_calls(listener, path)
                await stats.scraped()
                after = await reading(metrics, replace(QUERY, since=before.at), after=now(), processes=2)
                if not retries:
                    expected = replace(expected, retries=tries.bad if version == "v1" else 0)
                assert (path, *_added(before, after, version)) == (path, expected, tries)
                before = after


async def _serving(admin: str) -> str:
    """The address of v1's only process."""
    async with aiohttp.ClientSession() as session, session.get(f"http://{admin}/clusters?format=json") as response:
        clusters = (await response.json(content_type=None))["cluster_statuses"]
    (host,) = next(each for each in clusters if "|v1|" in each["name"])["host_statuses"]
    place = host["address"]["socket_address"]
    return f"{place['address']}:{place['port_value']}"


async def _three_calls(listener: str, path: str) -> None:
    async with grpc.aio.insecure_channel(listener) as channel:
        call = channel.unary_unary(path)
        await asyncio.gather(*(call(b"") for _ in range(3)), return_exceptions=True)


def _added(before: Reading, after: Reading, version: str) -> tuple[Counts, PodCounts]:
    old, new = _sum(before, version), _sum(after, version)
    codes = {code: n - old.ended.get(code, 0) for code, n in new.ended.items()}
    counts = Counts(ended={code: n for code, n in codes.items() if n}, retries=new.retries - old.retries)
    pods = [_pods(each, version) for each in (before, after)]
    return counts, PodCounts(pods[1].n - pods[0].n, pods[1].bad - pods[0].bad)


def _sum(found: Reading, version: str) -> Counts:
    ended: dict[int, int] = {}
    series: list[Any] = [counts for key, counts in found.series.items() if key.version == version]
    for counts in series:
        assert counts.in_flight is None
        ended |= {code: ended.get(code, 0) + n for code, n in counts.ended.items()}
    return Counts(ended=ended, retries=sum(each.retries for each in series))


def _pods(found: Reading, version: str) -> PodCounts:
    members = [each for key, each in found.pods.items() if key.version == version]
    return PodCounts(sum(each.n for each in members), sum(each.bad for each in members))
