"""In which order does the mesh runner start, go on and stop?

Documents first (nothing starts from a folder that can't be read), then the addresses they ask for, the discovery
server, the API, the Envoys; only when each of them takes requests the runner says that it is ready.
"""

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import grpc.aio
from tidegate.mesh.v1 import mesh_pb2_grpc

from mesh.envoy.program import find_envoy
from mesh.istio.lint import Level, lint
from mesh.istio.problem import Problem
from mesh.process import ChildEvent, ChildState, Supervisor
from mesh.runner.envoys import Envoys, Place
from mesh.runner.folder import Files, Folder, FolderAway
from mesh.runner.live import LiveMesh
from mesh.runner.service import MeshService
from mesh.runner.taken import address_of, unavailable
from mesh.runner.token import TokenRequired, read_or_make
from mesh.xds.server import AdsServer

RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run a folder. `net` is a leased 127.x.y; `api` is host:port of the mesh's API (port 0: a free one)."""

    folder: Path
    net: str
    api: str
    token_file: Path
    log_dir: Path
    envoy: str | None = None


class CannotStart(Exception):
    """The mesh can't start; the lines say why. `exit_code` 2: because of what a person gave it."""

    def __init__(self, lines: Iterable[str], exit_code: int = 1) -> None:
        super().__init__("\n".join(lines))
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Mesh:
    """A running mesh."""

    live: LiveMesh
    ads: AdsServer
    envoys: Envoys
    api: str


async def run(options: Options) -> None:
    """Runs the mesh until SIGTERM or SIGINT. Raises CannotStart."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    starting = asyncio.ensure_future(_run(options, stop))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not starting.done():
        starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting


async def _run(options: Options, stop: asyncio.Event) -> None:
    folder = Folder(options.folder)
    async with serving(options, folder) as mesh:
        say_ready(options, mesh)
        following = asyncio.create_task(follow(folder, mesh))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        for task in (following, stopping):
            task.cancel()
        await ended(following)


async def ended(task: "asyncio.Task[None]") -> None:
    """The task's own error, unless it was cancelled."""
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def follow(folder: Folder, mesh: Mesh) -> None:
    """Takes in changes of the folder and starts and stops Envoys because of them, for ever."""
    async with asyncio.TaskGroup() as group:
        group.create_task(follow_folder(folder, mesh.live))
        group.create_task(follow_documents(mesh))
        group.create_task(follow_ports(mesh.live))


@asynccontextmanager
async def serving(options: Options, folder: Folder) -> AsyncIterator[Mesh]:
    """A mesh whose Envoys all take requests; all of it is stopped at the end. Raises CannotStart."""
    ads = AdsServer()
    live = LiveMesh(ads)
    live.apply(read_first(folder))
    tell(live.problems())
    refuse_taken(live)
    live.guard()
    advise(live)
    program = find_envoy(options.envoy)
    async with Supervisor(tell_death) as supervisor, aiohttp.ClientSession() as session:
        host, _, port = (await ads.start(f"{options.net}.1:0")).rpartition(":")
        place = Place(program, host, (host, int(port)), options.log_dir)
        envoys = Envoys(place, supervisor, session, epoch=int(time.time()) * 1000)
        api, address = await start_api(options, MeshService(live, folder, ads, envoys))
        try:
            await start_envoys(envoys, live)
            yield Mesh(live, ads, envoys, address)
            await envoys.drain()
        finally:
            await api.stop(grace=0)
            await supervisor.close()
            await ads.stop()


def advise(live: LiveMesh) -> None:
    """Says what is probably not meant in the live documents; what is only of interest is left to `tidegate lint`."""
    for finding in lint(live.world.documents):
        if finding.level is not Level.INFO:
            say(str(finding))


def read_first(folder: Folder) -> Files:
    """The files at the start. Raises CannotStart when the folder isn't there."""
    try:
        return folder.read()
    except FolderAway as away:
        raise CannotStart([str(away)], exit_code=2) from away


def refuse_taken(live: LiveMesh) -> None:
    """Raises CannotStart when an address is taken, or when there is nothing but mistakes."""
    problems = unavailable(live.addresses(), live.world.documents)
    if problems:
        raise CannotStart(map(str, problems))
    if live.problems() and not live.world.documents:
        raise CannotStart(["none of the documents can be used"], exit_code=2)


async def start_api(options: Options, service: MeshService) -> tuple[grpc.aio.Server, str]:
    """The API's server and where it listens. Raises CannotStart when the address is taken."""
    server = grpc.aio.server(
        interceptors=[TokenRequired(read_or_make(options.token_file))], options=[("grpc.so_reuseport", 0)]
    )
    mesh_pb2_grpc.add_MeshServiceServicer_to_server(service, server)  # type: ignore[no-untyped-call]
    try:
        port = server.add_insecure_port(options.api)
    except RuntimeError as error:
        raise CannotStart([f"cannot listen on {options.api} for the mesh's API: is it taken?"]) from error
    await server.start()
    return server, f"{options.api.rpartition(':')[0]}:{port}"


async def start_envoys(envoys: Envoys, live: LiveMesh) -> None:
    try:
        await envoys.become(held.node for held in live.held.values())
    except ExceptionGroup as failed:
        raise CannotStart(str(error) for error in failed.exceptions) from failed


def say_ready(options: Options, mesh: Mesh) -> None:
    """The one line on stdout."""
    proxies = {
        name: {
            "admin": mesh.envoys.running[name].admin.address,
            "listeners": [f"{a[0]}:{a[1]}" for a in map(address_of, held.resources.listeners) if a],
        }
        for name, held in mesh.live.held.items()
    }
    where = {"api": mesh.api, "net": options.net, "tokenFile": str(options.token_file)}
    print(json.dumps({"ready": True, **where, "proxies": proxies}), flush=True)


async def follow_folder(folder: Folder, live: LiveMesh) -> None:
    """Takes in every change of the folder, for ever. While the folder is away, what is live stays."""
    away = ""
    async for _ in folder.changes():
        try:
            files = await folder.settled(live.known_files())
        except FolderAway as why:
            if str(why) != away:
                say(f"{why}: everything that is live stays, until it is back")
            away = str(why)
            continue
        if away:
            say(f"the folder {folder.root} is back")
        away = ""
        take_in(files, live)


def take_in(files: Files, live: LiveMesh) -> None:
    """Applies the files, and tells new problems and what went. A bug of ours in doing so is told and changes nothing:
    the mesh that runs goes on.
    """
    before, known = live.world, set(live.problems())
    try:
        live.apply(files)
    except Exception as bug:
        say(f"a bug: this change could not be taken in, the mesh goes on as it was: {type(bug).__name__}: {bug}")
    gone = before.by_key().keys() - live.world.by_key().keys()
    if gone:
        names = ", ".join(f"{kind} {namespace}/{name}" for kind, namespace, name in sorted(gone))
        say(f"no longer in the folder, so no longer live: {names}")
    tell(problem for problem in live.problems() if problem not in known)


async def follow_documents(mesh: Mesh) -> None:
    """Starts and stops Envoys as documents ask for others, for ever; one that would not start is tried again."""
    seen = mesh.live.changed.beats
    while True:
        seen = await mesh.live.changed.after(seen)
        while not await became(mesh):  # noqa: ASYNC110 (a new try, not a poll)
            await asyncio.sleep(RETRY_S)


async def follow_ports(live: LiveMesh) -> None:
    """Tries documents again whose ports were taken, for ever: nothing tells when another program gives one up."""
    while True:
        await asyncio.sleep(RETRY_S)
        if live.port_refused:
            take_in(live.known_files(), live)


async def became(mesh: Mesh) -> bool:
    try:
        await mesh.envoys.become(held.node for held in mesh.live.held.values())
    except ExceptionGroup as failed:
        for error in failed.exceptions:
            say(str(error))
        return False
    return True


def tell(problems: Iterable[Problem]) -> None:
    for problem in problems:
        say(str(problem))


def tell_death(event: ChildEvent) -> None:
    if event.state in (ChildState.WAITING, ChildState.DEAD):
        say(f"{event.child}: {event.sentence}")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
