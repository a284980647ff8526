"""The stage of controller stories: a small mesh of real Envoys (gateway and one sidecar), two versions of an echo."""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc

from control.adapters.localmesh.channel import MeshChannel
from control.adapters.localmesh.documents import LocalDocuments
from control.errors import TidegateError
from mesh.lease import lease
from mesh.process import ChildSpec, JsonLine, Supervisor
from mesh.traffic import RouteRef

ROOT = Path(__file__).parents[2]
METHOD = "/tidegate.test.Echo/Say"
ROUTES = (RouteRef("default", "echo", "primary"), RouteRef("default", "edge", "primary"))

DOCUMENTS = """\
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {{name: default, namespace: default}}
spec: {{mtls: {{mode: DISABLE}}}}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: ingress, namespace: default}}
spec:
  selector: {{istio: ingressgateway}}
  servers:
    - port: {{number: 8080, name: grpc, protocol: GRPC}}
      bind: {net}.2
      hosts: [echo.example.com]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: echo, namespace: default}}
spec:
  hosts: [echo.default.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{{number: 50051, name: grpc, protocol: GRPC}}]
  workloadSelector: {{labels: {{app: echo}}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: echo, namespace: default}}
spec:
  host: echo
  subsets: [{{name: v1, labels: {{version: v1}}}}, {{name: v2, labels: {{version: v2}}}}]
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: caller, namespace: default}}
spec: {{address: {net}.21, labels: {{app: caller}}}}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: caller, namespace: default}}
spec:
  workloadSelector: {{labels: {{app: caller}}}}
  egress:
    - port: {{number: 50051, name: grpc, protocol: GRPC}}
      bind: {net}.21
      captureMode: NONE
      hosts: ["./echo.default.svc.cluster.local"]
"""
PROCESS = """\
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: echo-{version}-{number}, namespace: default}}
spec: {{address: {address}, labels: {{app: echo, version: {version}}}}}
"""
ROUTE = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: {name}, namespace: default}}
spec:
  hosts: [{host}]
{gateways}  http:
    - name: primary
      route:
        - destination: {{host: echo, subset: v1, port: {{number: 50051}}}}
          weight: 100
        - destination: {{host: echo, subset: v2, port: {{number: 50051}}}}
          weight: 0
"""


def write_documents(folder: Path, net: str, processes: int) -> None:
    folder.mkdir()
    served = "".join(
        PROCESS.format(version=version, number=number, address=address)
        for (version, number), address in addresses(net, processes).items()
    )
    (folder / "mesh.yaml").write_text(DOCUMENTS.format(net=net) + served)
    (folder / "echo.yaml").write_text(ROUTE.format(name="echo", host="echo", gateways=""))
    edge = ROUTE.format(name="edge", host="echo.example.com", gateways="  gateways: [ingress]\n")
    (folder / "edge.yaml").write_text(edge)


def addresses(net: str, processes: int) -> dict[tuple[str, int], str]:
    """Where each process of each version listens: by version and number from 0."""
    return {
        (version, number): f"{net}.{base + number}"
        for version, base in (("v1", 40), ("v2", 60))
        for number in range(processes)
    }


@dataclass
class Stage:
    """`entrances` are where load comes in: (address, authority). `failing`: the share of calls that a process answers
    INTERNAL, by version and number; it may be changed at any time.
    """

    folder: Path
    net: str
    mesh_api: str
    token_file: Path
    entrances: Sequence[tuple[str, str]]
    failing: dict[tuple[str, int], float]

    @property
    def documents(self) -> Path:
        return self.folder / "documents"


@asynccontextmanager
async def stage(folder: Path, *, processes: int = 1) -> AsyncIterator[Stage]:
    """The mesh, live, with so many processes of both versions serving."""
    failing: dict[tuple[str, int], float] = {}
    with lease() as net:
        write_documents(folder / "documents", net.net, processes)
        async with _backends(net.net, processes, failing), _mesh(folder, net.net) as ready:
            entrances = ((f"{net.net}.2:8080", "echo.example.com"), (f"{net.net}.21:50051", "echo"))
            yield Stage(folder, net.net, ready["api"], folder / "token", entrances, failing)


@asynccontextmanager
async def _mesh(folder: Path, net: str) -> AsyncIterator[dict[str, Any]]:
    words = ("--net", net, "--token-file", str(folder / "token"), "--log-dir", str(folder / "logs"))
    command = (sys.executable, "-m", "mesh.run", str(folder / "documents"), *words)
    spec = ChildSpec(
        "mesh",
        command,
        folder / "logs",
        ready=JsonLine(),
        ready_within=timedelta(seconds=60),
        stop_within=timedelta(seconds=20),
        restart=None,
    )
    async with Supervisor() as supervisor:
        yield (await supervisor.start(spec)).ready_value


@dataclass
class Backends:
    """The serving processes, by version and number; each may be stopped and started again."""

    net: str
    failing: Mapping[tuple[str, int], float]
    running: dict[tuple[str, int], grpc.aio.Server] = field(default_factory=dict)

    async def start(self, process: tuple[str, int], address: str) -> None:
        if process not in self.running:
            server = self.running[process] = grpc.aio.server()
            server.add_generic_rpc_handlers([_Says(process, self.failing)])
            server.add_insecure_port(f"{address}:50051")
            await server.start()

    async def stop(self, process: tuple[str, int]) -> None:
        """Its connections are cut, and nobody listens there any more."""
        await self.running.pop(process).stop(None)


@asynccontextmanager
async def _backends(net: str, processes: int, failing: Mapping[tuple[str, int], float]) -> AsyncIterator[Backends]:
    made = Backends(net, failing)
    for process, address in addresses(net, processes).items():
        await made.start(process, address)
    yield made
    for process in list(made.running):
        await made.stop(process)


class _Says(grpc.GenericRpcHandler):
    """Answers each call with the version, or fails it as often as `failing` says of the process."""

    def __init__(self, process: tuple[str, int], failing: Mapping[tuple[str, int], float]) -> None:
        luck = random.Random(f"{process}")

        async def say(_request: bytes, context: Any) -> bytes:
            if luck.random() < failing.get(process, 0.0):
                await context.abort(grpc.StatusCode.INTERNAL, "as the story says")
            return process[0].encode()

        self._handler = grpc.unary_unary_rpc_method_handler(say)

    def service(self, _details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any]":
        return self._handler


@dataclass
class Load:
    """Requests at a steady rate through every entrance, and how they ended; a failure says when."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@asynccontextmanager
async def load(stage: Stage, *, rate: float) -> AsyncIterator[Load]:
    """`rate` is requests a second and entrance. On leaving, requests under way are awaited."""
    found, running = Load(), set()
    tasks = [asyncio.ensure_future(_send(entrance, rate, found, running)) for entrance in stage.entrances]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send(entrance: tuple[str, str], rate: float, found: Load, running: set[asyncio.Task[None]]) -> None:
    address, authority = entrance
    loop = asyncio.get_running_loop()
    async with grpc.aio.insecure_channel(address, options=[("grpc.default_authority", authority)]) as channel:
        call = channel.unary_unary(METHOD)
        due = loop.time()
        try:
            while True:
                task = loop.create_task(_one(call, found))
                running.add(task)
                task.add_done_callback(running.discard)
                due += 1 / rate
                await asyncio.sleep(due - loop.time())
        finally:
            await asyncio.gather(*list(running), return_exceptions=True)


async def _one(call: Any, found: Load) -> None:
    try:
        found.answers[(await call(b"", timeout=10)).decode()] += 1
    except grpc.aio.AioRpcError as error:
        found.failures.append(f"{datetime.now(UTC):%H:%M:%S.%f} {error.code().name}: {error.details()}")


@asynccontextmanager
async def weights_seen(stage: Stage) -> AsyncIterator[dict[RouteRef, list[tuple[int, ...]]]]:
    """Every set of weights that each route's document had, in order, as the mesh tells of them."""
    channel = MeshChannel(stage.mesh_api, stage.token_file.read_text().strip())
    documents = LocalDocuments(channel)
    seen: dict[RouteRef, list[tuple[int, ...]]] = {ref: [] for ref in ROUTES}

    async def follow() -> None:
        async for _ in documents.changes():
            with contextlib.suppress(TidegateError):
                for ref, weights in seen.items():
                    now = tuple(each.weight or 0 for each in (await documents.route(ref)).destinations)
                    if weights[-1:] != [now]:
                        weights.append(now)

    task = asyncio.ensure_future(follow())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await channel.close()


class Controllers:
    """Starts and kills controllers on a stage, one at a time."""

    def __init__(self, stage: Stage, zygote: asyncio.subprocess.Process) -> None:
        self._stage = stage
        self._zygote = zygote
        self.pid = 0

    async def start(self) -> None:
        """Begins to start one: it may be killed before it serves."""
        listen = f"{self._stage.net}.1:15030"
        arguments = [
            "--state-dir", str(self._stage.folder / "state"), "--listen", listen,
            "--mesh", self._stage.mesh_api, "--token-file", str(self._stage.token_file),
        ]  # fmt: skip
        assert self._zygote.stdin is not None
        self._zygote.stdin.write(json.dumps(arguments).encode() + b"\n")
        self.pid = int((await self._line())["pid"])

    async def ready(self) -> str:
        """Where it listens."""
        line = await self._line()
        assert "listen" in line, line
        return str(line["listen"])

    async def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        while "ended" not in (line := await self._line()):
            pass
        assert (line["ended"], line["code"]) == (self.pid, -signal.SIGKILL)
        self.pid = 0

    async def _line(self) -> dict[str, Any]:
        assert self._zygote.stdout is not None
        line: dict[str, Any] = json.loads(await asyncio.wait_for(self._zygote.stdout.readline(), 30))
        return line


@asynccontextmanager
async def controllers(stage: Stage, settings: Mapping[str, str] | None = None) -> AsyncIterator[Controllers]:
    """`settings` are variables that they find in their environment."""
    pipe, environment = asyncio.subprocess.PIPE, {**os.environ, **(settings or {})}
    with (stage.folder / "controller.log").open("wb") as log:
        zygote = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.support.control_zygote"),
            cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=log,
        )  # fmt: skip
        made = Controllers(stage, zygote)
        try:
            yield made
        finally:
            if made.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(made.pid, signal.SIGKILL)
            zygote.kill()
            await zygote.wait()
