"""How have both versions' requests ended so far? Two requests to the admin interface of each Envoy, all at once: its
counters a version, and its counters an endpoint.

A proxy counts under its own name (the stratum) and its incarnation (the process). One that can't be read, or that was
restarted while we read, is named in `unread`: nothing is known of it, which is not zero.

What an endpoint has served is one count a sending proxy's incarnation too (`PodKey.counter`), never the sum over them:
a proxy that starts anew counts from 0, and a sum would fall and be taken for a restart of the endpoint.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.localmesh.channel import MeshChannel, answer
from control.adapters.localmesh.pods import Pod, pods
from control.adapters.localmesh.stats import counts, stats_filter
from control.engine.readings import Counts, PodCounts, PodKey, Reading, SeriesKey
from control.errors import Unavailable
from control.ports import Clock, MetricsQuery
from mesh.istio.hosts import full_name

DEADLINE_S = 1.0


@dataclass(frozen=True, slots=True)
class _Counted:
    """What one proxy has counted, by version and by endpoint."""

    versions: Mapping[str, Counts]
    pods: Mapping[Pod, PodCounts]


class LocalMetrics:
    """The Metrics port on the Envoys of a local mesh. It owns its HTTP connections: `close` it."""

    def __init__(self, channel: MeshChannel, clock: Clock, *, deadline_s: float = DEADLINE_S) -> None:
        self._channel = channel
        self._clock = clock
        self._deadline_s = deadline_s
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def read(self, query: MetricsQuery) -> Reading:
        before = await self._proxies()
        answers = await asyncio.gather(*(self._counted(proxy, query) for proxy in before))
        at = self._clock.now()
        still = {(proxy.id, proxy.incarnation) for proxy in await self._proxies()}
        series: dict[SeriesKey, Counts] = {}
        served: dict[PodKey, PodCounts] = {}
        unread: list[str] = []
        for proxy, found in zip(before, answers, strict=True):
            if found is None or (proxy.id, proxy.incarnation) not in still:
                unread.append(proxy.id)
                continue
            process = f"{proxy.id}#{proxy.incarnation}"
            series |= {SeriesKey(version, process, proxy.id): each for version, each in found.versions.items()}
            served |= {PodKey(*pod, process): each for pod, each in found.pods.items()}
        return Reading(at=at, series=series, unread=tuple(unread), pods=served)

    async def _proxies(self) -> list[mesh_pb2.Proxy]:
        stub, channel = self._channel.stub, self._channel
        call = stub.ListProxies(mesh_pb2.ListProxiesRequest(), timeout=channel.deadline_s, metadata=channel.metadata)
        response = await answer(call)
        senders = _senders(response.proxies)
        if not senders:
            raise Unavailable("no proxy of the mesh holds a route", hint="is the mesh still starting?")
        return senders

    async def _counted(self, proxy: mesh_pb2.Proxy, query: MetricsQuery) -> _Counted | None:
        fqdn = full_name(query.host, query.namespace)
        wanted = {"filter": stats_filter(fqdn, query.versions), "histogram_buckets": "cumulative"}
        with contextlib.suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError, KeyError):
            stats, clusters = await asyncio.gather(
                self._get(f"http://{proxy.admin}/stats", wanted), self._get(f"http://{proxy.admin}/clusters", {})
            )
            return _Counted(counts(stats, query.versions), pods(clusters, fqdn, query.versions))
        return None

    async def _get(self, url: str, params: dict[str, str]) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self._deadline_s))
        async with self._session.get(url, params={"format": "json", **params}) as response:
            response.raise_for_status()
            return await response.json(content_type=None)


def _senders(proxies: Iterable[mesh_pb2.Proxy]) -> list[mesh_pb2.Proxy]:
    """The proxies that can send to a version: those that hold a VirtualService's routes."""
    return [proxy for proxy in proxies if proxy.holds]
