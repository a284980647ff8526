"""Which Envoys run? One for each proxy that the documents ask for, started and stopped as they come and go."""

import asyncio
import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp

from mesh.envoy.admin import Admin, Unreachable
from mesh.envoy.bootstrap import Identity, bootstrap, command
from mesh.envoy.program import INSTALL_HINT
from mesh.process import Child, ChildSpec, Probe, Supervisor
from mesh.runner.taken import free_port
from mesh.xds.translate import ProxyNode

READY_WITHIN = timedelta(seconds=60)
DRAIN_S = 0.3
"""How long running requests may go on when a mesh is stopped."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where Envoys run: the binary, their admin host, the discovery server, the folder of logs and bootstraps."""

    program: str
    host: str
    ads: tuple[str, int]
    log_dir: Path


@dataclass(slots=True)
class Envoy:
    """One running Envoy."""

    node: ProxyNode
    admin: Admin
    child: Child


@dataclass(slots=True)
class Envoys:
    """The Envoys of a mesh by proxy id. `epoch` makes incarnations grow over restarts of the runner too."""

    place: Place
    supervisor: Supervisor
    session: aiohttp.ClientSession
    epoch: int
    running: dict[str, Envoy] = field(default_factory=dict)

    async def become(self, nodes: Iterable[ProxyNode]) -> None:
        """Makes exactly these run. Raises an ExceptionGroup of ChildFailed for those that would not start."""
        wanted = {node.id: node for node in nodes}
        gone = [name for name, envoy in self.running.items() if wanted.get(name) != envoy.node]
        await asyncio.gather(*(self._stop(name) for name in gone))
        async with asyncio.TaskGroup() as group:
            for name, node in wanted.items():
                if name not in self.running:
                    group.create_task(self._start(node))

    async def drain(self) -> None:
        """Lets running requests end for a moment, everywhere at once, before the mesh stops."""
        async with asyncio.TaskGroup() as group:
            for envoy in self.running.values():
                group.create_task(drained(envoy.admin))

    def incarnation(self, name: str) -> int:
        """Grows with every start of the Envoy; 0 when it never started."""
        envoy = self.running.get(name)
        return self.epoch + envoy.child.incarnation if envoy else 0

    async def _start(self, node: ProxyNode) -> None:
        port = free_port(self.place.host)
        admin = Admin(self.session, f"{self.place.host}:{port}")
        identity = Identity(node.node_id, node.id, (self.place.host, port), self.place.ads)
        self.place.log_dir.mkdir(parents=True, exist_ok=True)
        file = self.place.log_dir / f"envoy-{node.id}.json"
        file.write_text(json.dumps(bootstrap(identity), indent=2))
        spec = ChildSpec(
            f"envoy-{node.id}",
            command(self.place.program, str(file)),
            self.place.log_dir,
            ready=Probe(admin.live),
            ready_within=READY_WITHIN,
            stop_within=timedelta(seconds=2),
            install_hint=INSTALL_HINT,
        )
        self.running[node.id] = Envoy(node, admin, await self.supervisor.start(spec))

    async def _stop(self, name: str) -> None:
        envoy = self.running.pop(name)
        await drained(envoy.admin)
        await self.supervisor.stop(envoy.child.spec.name)


async def drained(admin: Admin) -> None:
    """The Envoy has closed its listeners, and had a moment for what was running."""
    with contextlib.suppress(Unreachable):
        await admin.drain()
        await asyncio.sleep(DRAIN_S)
