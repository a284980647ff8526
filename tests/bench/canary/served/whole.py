"""How does the whole, unmodified controller fare in a simulated run? Wiring, adapters, loop and store are its own; the
clock, Prometheus and the mesh are simulated.

Nothing waits: the virtual clock goes on by five seconds, requests come in meanwhile by the weights that the mesh was
given `lag` ago, Prometheus scrapes, the controller takes one look, and so on. A look that wrote a document is followed
by another one a moment later, as the mesh's word of the change does it outside. What the controller times by its event
loop (how long an endpoint may take to accept a connection) goes slower than the machine's time, so that a busy machine
changes no outcome.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from control.engine.phase import FINISHED, Phase
from control.engine.state import ShiftState
from control.local.layout import Layout
from control.settings import Settings
from control.wiring import Controller, controller
from mesh.lease import lease
from tests.bench.canary.conditions import Name
from tests.bench.canary.heats import Cell, Run, name_of
from tests.bench.canary.served import simulated_mesh, simulated_prometheus
from tests.bench.canary.served.pages import CANARY, NAMESPACE, SERVICE, STABLE
from tests.bench.canary.served.score import Score
from tests.bench.canary.served.simulated_mesh import SimulatedMesh
from tests.bench.canary.served.simulated_prometheus import SimulatedPrometheus
from tests.bench.canary.served.traffic import Traffic, before, hour
from tests.bench.canary.shapes import TICK_S
from tests.bench.canary.world import Tick
from tests.support.control_time import NOON, StillClock

POLICY = "controller"
KEY = (NAMESPACE, "simulated")
TOKEN = "simulated"
TICK, A_MOMENT = timedelta(seconds=TICK_S), timedelta(milliseconds=200)
SLOWER = 20.0
"""How much slower the event loop's time goes."""
SERVED, SHORTEST, LONGEST = 2000, 12, 360
"""Requests that stable serves before the shift is applied, and the bounds of how many ticks that may last."""
SHIFT = """\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {{name: simulated, namespace: default}}
spec:
  target:
    host: {service}
    routes: [{{virtualService: {service}, route: primary}}, {{virtualService: edge, route: primary}}]
  stable: {stable}
  canary: {canary}
  source: prometheus
  poll: {poll_s:g}s
  warmUp: {warm_up_s:g}s
  strategy: {{kind: evidence, bake: {{for: {bake_s:g}s}}}}
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """What a run's shift says, and how its world is. Units: seconds, whole ticks. `poll_s`: between two looks, and two
    scrapes; `lag_s`: from a write until the traffic follows.
    """

    poll_s: float = 15.0
    lag_s: float = 15.0
    bake_s: float = 600.0


@dataclass
class Stage:
    """A controller, the two servers that it knows, and the clock that they share. `passed`: ticks since it began."""

    parts: Controller
    clock: StillClock
    mesh: SimulatedMesh
    prometheus: SimulatedPrometheus
    pace: Pace
    passed: int = 0
    score: Score = field(default_factory=Score)

    @property
    def share(self) -> float:
        """What the traffic follows in the tick that begins."""
        lag = timedelta(seconds=self.pace.lag_s)
        return next((share for at, share in reversed(self.mesh.written) if at + lag <= self.clock.now()), 0.0)

    @property
    def due(self) -> bool:
        """Is it time to scrape, and to look?"""
        return self.passed % round(self.pace.poll_s / TICK_S) == 0

    @property
    def follows(self) -> bool:
        """Has all that was written reached the traffic?"""
        return not self.mesh.written or self.share == self.mesh.written[-1][1]

    def pass_tick(self, traffic: Traffic) -> tuple[Tick, int]:
        """A tick, and the scrape at its end. Gives what it brought, and the canary's requests."""
        brought = traffic.pass_tick(self.share)
        self.passed += 1
        self.clock.at = NOON + self.passed * TICK
        if self.due:
            self.prometheus.store(traffic.pages.scrape(), self.clock.at)
        return brought, traffic.canary_requests(brought)

    async def look(self) -> ShiftState:
        """One look, and those that its writes bring about."""
        written = -1
        while written != len(self.mesh.written):
            self.clock.move(A_MOMENT if written >= 0 else timedelta(0))
            written = len(self.mesh.written)
            await self.parts.runner.look(KEY)
            trouble = self.parts.runner.trouble(KEY)
            assert trouble is None, trouble
        stored = await self.parts.store.load(*KEY)
        assert stored is not None
        return ShiftState.from_json(stored.state)


class PatientLoop(asyncio.SelectorEventLoop):
    """An event loop that is in no hurry."""

    def time(self) -> float:
        return super().time() / SLOWER


def played(cell: Cell, seed: int, stream: str, pace: Pace = Pace()) -> Run:
    """One run, from beginning to end, in an event loop and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner(loop_factory=PatientLoop) as runner:
        return runner.run(_played(name_of(cell, seed), cell, stream, pace, Path(folder)))


async def _played(name: Name, cell: Cell, stream: str, pace: Pace, folder: Path) -> Run:
    async with staged(pace, folder) as stage:
        earlier, state = before(name, stream), None
        for _ in range(min(max(round(SERVED / (name.rate * TICK_S)), SHORTEST), LONGEST)):
            stage.pass_tick(earlier)
        await stage.parts.shifts.apply(document(name, pace).encode(), "simulated.yaml")
        while not stage.share and not earlier.over:
            stage.pass_tick(earlier)
            state = await stage.look() if stage.due else state
        if stage.share:
            state = await _hour(stage, hour(name, stream, earlier))
        return stage.score.run(cell, name.seed, parked=state is not None and state.phase is Phase.PARKED)


def document(name: Name, pace: Pace) -> str:
    """The shift: all defaults, but where the counters come from."""
    return SHIFT.format(
        service=SERVICE,
        stable=STABLE,
        canary=CANARY,
        poll_s=pace.poll_s,
        warm_up_s=name.scenario.warm_up_s,
        bake_s=pace.bake_s,
    )


async def _hour(stage: Stage, traffic: Traffic) -> ShiftState | None:
    """The hour, until nothing can happen any more."""
    state = None
    while not traffic.over:
        stage.score.add(*stage.pass_tick(traffic))
        if not stage.due:
            continue
        state = await stage.look()
        stage.score.note(state, at_minutes=traffic.tick * TICK_S / 60.0)
        if state.phase in FINISHED and state.guard is None and stage.follows:
            stage.score.excess += traffic.excess_left() if state.phase is Phase.PROMOTED else 0.0
            break
    return state


@asynccontextmanager
async def staged(pace: Pace, folder: Path) -> AsyncIterator[Stage]:
    """The controller between its two simulated servers."""
    clock, counters = StillClock(), SimulatedPrometheus()
    with lease() as net:
        layout = Layout(net.net, folder)
        async with (
            simulated_mesh.listening(layout, clock) as (mesh, address),
            simulated_prometheus.listening(counters) as url,
            controller(settings(layout, address, url, pace), TOKEN, clock) as parts,
        ):
            yield Stage(parts, clock, mesh, counters, pace)


def settings(layout: Layout, mesh: str, url: str, pace: Pace) -> Settings:
    """gRPC has a time of its own, which can't be slowed."""
    return Settings(
        state_dir=layout.state_dir,
        mesh=mesh,
        mesh_deadline_s=60.0,
        prometheus_url=url,
        prometheus_scrape_s=pace.poll_s,
    )
