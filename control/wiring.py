"""Which adapters does this controller use? Only here are they named: SQLite, files, the local mesh, Prometheus."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from control.adapters.ledger.files import LedgerFiles
from control.adapters.localmesh.channel import MeshChannel
from control.adapters.localmesh.documents import LocalDocuments
from control.adapters.localmesh.metrics import LocalMetrics
from control.adapters.localmesh.proxies import LocalProxies
from control.adapters.localmesh.workloads import LocalWorkloads
from control.adapters.prometheus.access import Access, access
from control.adapters.prometheus.history import PrometheusHistory
from control.adapters.prometheus.metrics import PrometheusMetrics
from control.adapters.prometheus.server import PrometheusServer
from control.adapters.store.sqlite import SqliteStore
from control.api.shifts import Shifts
from control.engine.state_json import state_of
from control.engine.status import status
from control.loop.clock_steps import ClockSteps
from control.loop.feed import ChangeFeed, ObservedStore, ShiftKey
from control.loop.queue import Backoff
from control.loop.reconcile import Outcome, Ports, reconcile
from control.loop.runner import Runner, concerned
from control.loop.sources import Sources
from control.ports import Clock, Documents, History, Ledger, Store
from control.settings import Settings
from control.spec import stored_shift
from control.telemetry import LoopMetrics, LoopObserver
from mesh.traffic import RouteRef

LEDGER = "ledger"
"""The folder in a state folder that outlives every mesh."""


class SystemClock:
    """The Clock port."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Controller:
    """Everything that runs in a controller's process, put together."""

    shifts: Shifts
    runner: Runner
    store: Store
    documents: Documents
    metrics: LoopMetrics
    workers: int
    notices: tuple[str, ...]

    async def run(self) -> None:
        """Looks at all stored shifts, and at those to come, until cancelled."""
        keys = [(each.namespace, each.name) for each in await self.store.list()]
        await self.runner.run(keys, self.documents.changes(), self._affected, workers=self.workers)

    async def _affected(self, change: RouteRef | None) -> Iterable[ShiftKey]:
        stored = await self.store.list()
        targets = {(each.namespace, each.name): stored_shift(each.spec).target.routes for each in stored}
        return concerned(targets, change)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """What one Prometheus is to us: what is counted now, and what was counted in the past."""

    metrics: PrometheusMetrics
    history: PrometheusHistory


@dataclass(frozen=True, slots=True)
class Told:
    """An Outcome of the runner's: what reconcile said, and what the log is told of it."""

    next_tick: timedelta
    changed: bool
    gone: bool
    facts: Mapping[str, Any]


def clock_steps(clock: Clock) -> ClockSteps:
    """By how much the clock was set. Only the system's can be: another one is moved by whoever made it."""
    return ClockSteps() if isinstance(clock, SystemClock) else ClockSteps(lambda: clock.now().timestamp())


def ledger(state_dir: Path) -> Ledger:
    """What the finished shifts of a state folder left behind."""
    return LedgerFiles(state_dir / LEDGER)


def prometheus(settings: Settings, clock: Clock) -> Prometheus | None:
    """The one that is configured, if any is. Raises SpecError when its settings don't fit."""
    if not settings.prometheus_url:
        return None
    chosen = access_of(settings)
    server = PrometheusServer(chosen)
    metrics = PrometheusMetrics(server, clock, interval=chosen.interval)
    return Prometheus(metrics, PrometheusHistory(server, interval=chosen.interval))


def access_of(settings: Settings) -> Access:
    """How the configured Prometheus is reached. Raises SpecError when its settings don't fit."""
    return access(
        settings.prometheus_url,
        headers=settings.prometheus_headers,
        user=settings.prometheus_user,
        password_file=settings.prometheus_password_file,
        bearer_file=settings.prometheus_bearer_file,
        ca=settings.prometheus_ca,
        cert=settings.prometheus_cert,
        key=settings.prometheus_key,
        timeout_s=settings.prometheus_timeout_s,
        scrape_s=settings.prometheus_scrape_s,
    )


@contextlib.asynccontextmanager
async def controller(settings: Settings, token: str, clock: Clock | None = None) -> AsyncIterator[Controller]:
    """A controller on this state folder and mesh; `clock` is the system's unless another is given.

    Raises: Refused when another one holds the folder, SpecError when settings don't fit.
    """
    clock = clock or SystemClock()
    asked = prometheus(settings, clock)
    async with contextlib.AsyncExitStack() as stack:
        opened = await SqliteStore.open(settings.state_dir, clock.now())
        stack.push_async_callback(opened.close)
        channel = MeshChannel(settings.mesh, token, deadline_s=settings.mesh_deadline_s)
        stack.push_async_callback(channel.close)
        envoys = LocalMetrics(channel, clock, deadline_s=settings.stats_deadline_s)
        stack.push_async_callback(envoys.close)
        if asked is not None:
            stack.push_async_callback(asked.metrics.close)
        feed = ChangeFeed()
        ports = Ports(
            documents=LocalDocuments(channel),
            proxies=LocalProxies(channel),
            workloads=LocalWorkloads(channel),
            metrics=Sources(envoys, asked.metrics if asked else None),
            store=ObservedStore(opened, feed),
            ledger=ledger(settings.state_dir),
        )
        yield _controller(settings, clock, ports, feed, asked.history if asked else None, opened.notices)


def _controller(
    settings: Settings,
    clock: Clock,
    ports: Ports,
    feed: ChangeFeed,
    history: History | None,
    notices: tuple[str, ...],
) -> Controller:
    steps = clock_steps(clock)

    async def tick(key: ShiftKey, now: datetime) -> Told:
        outcome = await reconcile(ports, key, now, set_by=steps.since(key, now))
        steps.looked(key, now)
        return Told(outcome.next_tick, outcome.changed, outcome.gone, await facts(ports.store, key, outcome, now))

    loop_metrics = LoopMetrics()
    runner = Runner(
        tick,
        clock=clock,
        observer=LoopObserver(loop_metrics, feed),
        backoff=Backoff(settings.backoff_base_s, settings.backoff_cap_s),
        luck=random.random,
    )
    return Controller(
        shifts=Shifts(ports.store, ports.documents, clock, runner, feed, asyncio.Lock(), history),
        runner=runner,
        store=ports.store,
        documents=ports.documents,
        metrics=loop_metrics,
        workers=settings.workers,
        notices=notices,
    )


async def facts(store: Store, key: ShiftKey, outcome: Outcome, now: datetime) -> Mapping[str, Any]:
    """Where the shift is after a look that decided something. A quiet look costs no second read."""
    stored = await store.load(*key) if outcome.changed and not outcome.gone else None
    if stored is None:
        return {"gone": outcome.gone}
    shown = status(stored_shift(stored.spec), state_of(stored.state), now)
    return {each: shown[each] for each in ("run", "phase", "step", "stepShare", "verdict", "reason")}
