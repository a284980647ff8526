"""Which adapters does a controller use on a cluster? The Kubernetes API, all istiods, Prometheus; files for the ledger.

`wiring` does the same for a laptop. Everything that is watched is watched by every replica, so that one that is elected
knows the cluster already; only the leader looks at shifts and writes.
"""

import asyncio
import contextlib
import os
import random
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from control.adapters.kubernetes.api import (
    DESTINATION_RULES,
    PODS,
    SERVICE_ENTRIES,
    SERVICES,
    TRAFFIC_SHIFTS,
    VIRTUAL_SERVICES,
    WORKLOAD_ENTRIES,
    Json,
    KubeApi,
)
from control.adapters.kubernetes.documents import ClusterDocuments
from control.adapters.kubernetes.election import Leadership, LeaseSpec
from control.adapters.kubernetes.events import EventRecorder
from control.adapters.kubernetes.informer import Informer
from control.adapters.kubernetes.istiod import Istiods
from control.adapters.kubernetes.mailbox import Mailbox
from control.adapters.kubernetes.notes import slim
from control.adapters.kubernetes.proxies import ClusterProxies
from control.adapters.kubernetes.routes import Held, held
from control.adapters.kubernetes.store import ClusterStore
from control.adapters.kubernetes.workloads import ClusterWorkloads, Labels, Serving, pod, selector, workload_entry
from control.api import inbox
from control.api.shifts import Shifts
from control.errors import Conflict, TidegateError, Unavailable
from control.loop.feed import ChangeFeed, ObservedStore, ShiftKey
from control.loop.queue import Backoff
from control.loop.reconcile import Ports, reconcile
from control.loop.runner import Runner, concerned
from control.loop.sources import PrometheusAlone
from control.loop.troubles import trouble_of
from control.ports import Clock
from control.settings import Settings
from control.spec import stored_shift
from control.telemetry import LoopMetrics, LoopObserver
from control.wiring import SystemClock, Told, clock_steps, facts, ledger, prometheus
from mesh.traffic import RouteRef


@dataclass(frozen=True, slots=True)
class Watched:
    """What is known of the cluster."""

    shifts: Informer[Json]
    services: Informer[Held]
    rules: Informer[Held]
    entries: Informer[Held]
    pods: Informer[Serving]
    workload_entries: Informer[Serving]
    kube_services: Informer[Labels]

    def all(self) -> Sequence[Informer[Any]]:
        found = (self.shifts, self.services, self.rules, self.entries)
        return (*found, self.pods, self.workload_entries, self.kube_services)


def watched(api: KubeApi, namespace: str) -> Watched:
    return Watched(
        shifts=Informer(api, TRAFFIC_SHIFTS, slim, namespace),
        services=Informer(api, VIRTUAL_SERVICES, held, namespace),
        rules=Informer(api, DESTINATION_RULES, held, namespace),
        entries=Informer(api, SERVICE_ENTRIES, held, namespace),
        pods=Informer(api, PODS, pod, namespace),
        workload_entries=Informer(api, WORKLOAD_ENTRIES, workload_entry, namespace),
        kube_services=Informer(api, SERVICES, selector, namespace),
    )


@dataclass(frozen=True, slots=True)
class ClusterController:
    """Everything that runs in a controller's process on a cluster, put together."""

    shifts: Shifts
    runner: Runner
    store: ClusterStore
    documents: ClusterDocuments
    metrics: LoopMetrics
    leadership: Leadership
    known: Watched
    mailbox: Mailbox
    events: EventRecorder
    workers: int
    server: str
    notices: tuple[str, ...] = ()

    async def run(self) -> None:
        """Watches the cluster, and looks at its shifts while leading, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self.known.all():
                group.create_task(informer.run())
            group.create_task(self.leadership.run(self._lead))

    def waits_for(self) -> str:
        """What of the cluster is not known yet; nothing when all is."""
        return ", ".join(each.of for each in self.known.all() if not each.listed)

    async def _lead(self) -> None:
        for informer in self.known.all():
            await informer.ready()
        self.store.forget()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.events.run())
            group.create_task(inbox.serve(self.mailbox, self.shifts, self.store.note_invalid, self._later))
            group.create_task(self.runner.run([], self.documents.changes(), self._affected, workers=self.workers))

    def _later(self, key: ShiftKey) -> None:
        async def again() -> None:
            await inbox.serve_one(self.mailbox, self.shifts, key, self.store.note_invalid, self._later)

        asyncio.get_running_loop().call_later(1.0, lambda: asyncio.ensure_future(again()))

    async def _affected(self, change: RouteRef | None) -> Iterable[ShiftKey]:
        stored = await self.store.list()
        targets = {(each.namespace, each.name): stored_shift(each.spec).target.routes for each in stored}
        return concerned(targets, change)


@contextlib.asynccontextmanager
async def cluster_controller(settings: Settings, clock: Clock | None = None) -> AsyncIterator[ClusterController]:
    """A controller on the cluster that the settings name. Raises Unavailable, SpecError when settings don't fit."""
    clock = clock or SystemClock()
    asked = prometheus(settings, clock)
    api = await KubeApi.connect(settings.kubernetes, settings.kube_context, deadline_s=settings.kubernetes_deadline_s)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(api.close)
        istiods = Istiods(api, addresses(settings.istiod), deadline_s=settings.mesh_deadline_s)
        stack.push_async_callback(istiods.close)
        if asked is not None:
            stack.push_async_callback(asked.metrics.close)
        yield _controller(settings, clock, api, istiods, asked)


def _controller(settings: Settings, clock: Clock, api: KubeApi, istiods: Istiods, asked: Any) -> ClusterController:
    identity = settings.identity or f"{socket.gethostname()}-{os.getpid()}"
    spec = LeaseSpec(identity, settings.lease_namespace, lasts_s=settings.lease_s)
    leadership = Leadership(api.library, spec)
    known = watched(api, settings.namespace)
    documents = ClusterDocuments(api, known.services, known.rules, known.entries, leadership.holds)
    proxies = ClusterProxies(istiods, documents)
    documents.before_write = proxies.before_write
    workloads = ClusterWorkloads(known.kube_services, known.entries, known.rules, known.pods, known.workload_entries)
    documents.rollouts = workloads.listen
    events = EventRecorder(api, known.shifts, identity)
    store = ClusterStore(api, known.shifts, clock, may_write=leadership.holds, recorded=events.record)
    feed = ChangeFeed()
    ports = Ports(
        documents=documents,
        proxies=proxies,
        workloads=workloads,
        metrics=PrometheusAlone(asked.metrics if asked else None),
        store=ObservedStore(store, feed),
        ledger=ledger(settings.state_dir),
    )
    loop_metrics = LoopMetrics()
    runner = _runner(settings, clock, ports, store, feed, loop_metrics)
    history = asked.history if asked else None
    return ClusterController(
        shifts=Shifts(ports.store, documents, clock, runner, feed, asyncio.Lock(), history),
        runner=runner,
        store=store,
        documents=documents,
        metrics=loop_metrics,
        leadership=leadership,
        known=known,
        mailbox=Mailbox(api, known.shifts, store, clock),
        events=events,
        workers=settings.workers,
        server=api.server,
    )


def _runner(
    settings: Settings, clock: Clock, ports: Ports, store: ClusterStore, feed: ChangeFeed, loop_metrics: LoopMetrics
) -> Runner:
    steps = clock_steps(clock)

    async def tick(key: ShiftKey, now: datetime) -> Told:
        try:
            outcome = await reconcile(ports, key, now, set_by=steps.since(key, now))
            steps.looked(key, now)
        except TidegateError as error:
            await _note(store, runner, key, error, now)
            raise
        with contextlib.suppress(TidegateError):
            await store.note_trouble(key, None)
        return Told(outcome.next_tick, outcome.changed, outcome.gone, await facts(ports.store, key, outcome, now))

    runner = Runner(
        tick,
        clock=clock,
        observer=LoopObserver(loop_metrics, feed),
        backoff=Backoff(settings.backoff_base_s, settings.backoff_cap_s),
        luck=random.random,
    )
    return runner


async def _note(store: ClusterStore, runner: Runner, key: ShiftKey, error: TidegateError, now: datetime) -> None:
    """A trouble that lasts stands in the status, where people look."""
    trouble = trouble_of(error, now, runner.trouble(key))
    if isinstance(error, Conflict | Unavailable) and trouble.failures < 3:
        return
    with contextlib.suppress(TidegateError):
        await store.note_trouble(key, replace(trouble, failures=1))


def addresses(text: str) -> list[str]:
    """Those of a setting that names several, by commas."""
    return [each.strip().rstrip("/") for each in text.split(",") if each.strip()]
