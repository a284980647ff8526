"""A real ControlService for the command-line tool to talk to, with a real token, run file and lock.

What it tells of shifts is given by the test (`put`), so that every phase can be looked at; applying parses for real,
and commands are kept (`commands`) for the test to look at.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from control.api.model import ApplyResult, CommandResult, ShiftChange, ShiftDocument
from control.api.server import ControlServer
from control.cli.main import main
from control.engine.command import Command
from control.errors import NotFound, Refused, Unavailable
from control.local.runfile import RunFile, state_folder, write_run_file, write_token
from control.spec import parse_shift, to_document


@dataclass
class ToldShifts:
    """Shifts as the test tells them. Used from the server's loop only, except `put`, which hands over to it."""

    documents: dict[tuple[str, str], ShiftDocument] = field(default_factory=dict)
    journals: dict[tuple[str, str], Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)
    baselines: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    watchers: list["asyncio.Queue[ShiftChange]"] = field(default_factory=list)

    def tell(self, document: Mapping[str, Any], journal: Sequence[Mapping[str, Any]], *, deleted: bool) -> None:
        key = document["metadata"]["namespace"], document["metadata"]["name"]
        revision = self.documents[key].revision + 1 if key in self.documents else 1
        self.documents[key] = ShiftDocument(*key, document=document, revision=revision)
        self.journals[key] = journal
        for watcher in self.watchers:
            watcher.put_nowait(ShiftChange(self.documents[key], deleted))
        if deleted:
            del self.documents[key]

    def now(self) -> datetime:
        return datetime.now(UTC)

    def close(self) -> None:
        """Nothing to end: watches end with their calls."""

    async def list(self, namespace: str = "") -> Sequence[ShiftDocument]:
        return [shift for shift in self.documents.values() if namespace in ("", shift.namespace)]

    async def get(self, namespace: str, name: str) -> ShiftDocument:
        if (namespace, name) not in self.documents:
            known = ", ".join(name for _, name in self.documents) or "none"
            raise NotFound(f"there is no shift {namespace}/{name}", hint=f"there are: {known}")
        return self.documents[namespace, name]

    async def watch(self, namespace: str = "", name: str = "") -> AsyncGenerator[ShiftChange, None]:
        watcher: asyncio.Queue[ShiftChange] = asyncio.Queue()
        self.watchers.append(watcher)
        try:
            yield ShiftChange(await self.get(namespace, name))
            while True:
                yield await watcher.get()
        finally:
            self.watchers.remove(watcher)

    async def history(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        return self.journals[namespace, name][-limit:]

    async def baseline(self, namespace: str, name: str) -> Mapping[str, Any]:
        if (namespace, name) not in self.baselines:
            raise Unavailable("the baseline is not available: no Prometheus is configured", hint="configure one")
        return self.baselines[namespace, name]

    async def apply(self, text: bytes, source: str, *, dry_run: bool = False) -> ApplyResult:
        document = to_document(parse_shift(text, source))
        if not dry_run:
            self.tell(document, [], deleted=False)
        return ApplyResult(ShiftDocument(*_key(document), document=document, revision=1), "created")

    async def delete(self, namespace: str, name: str, *, dry_run: bool = False) -> str:
        shift = await self.get(namespace, name)
        if not dry_run:
            self.tell(shift.document, [], deleted=True)
        return "all traffic goes back to v1, then the shift is gone"

    async def command(self, namespace: str, name: str, command: Command, *, dry_run: bool = False) -> CommandResult:
        shift = await self.get(namespace, name)
        step = shift.status.get("step", 0)
        if command.expect_step not in (None, step):
            raise Refused(f"it is at step {step}, not {command.expect_step}", hint="look again: tidegate status")
        if not dry_run:
            self.commands.append(command)
        return CommandResult(shift, f"{command.verb.value} is done")


def _key(document: Mapping[str, Any]) -> tuple[str, str]:
    return document["metadata"]["namespace"], document["metadata"]["name"]


@dataclass
class Control:
    """A controller that runs in its own thread, and the state folder that leads to it."""

    state_dir: Path
    shifts: ToldShifts
    loop: asyncio.AbstractEventLoop

    def put(
        self, document: Mapping[str, Any], journal: Sequence[Mapping[str, Any]] = (), *, deleted: bool = False
    ) -> None:
        """The shift is so from now on; watchers hear of it."""

        async def tell() -> None:
            self.shifts.tell(document, list(journal), deleted=deleted)

        asyncio.run_coroutine_threadsafe(tell(), self.loop).result(10)


@contextmanager
def running_control(state_dir: Path) -> Iterator[Control]:
    """Serves on a free port of the loopback until the context ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    shifts = ToldShifts()
    with state_folder(state_dir):
        token = write_token(state_dir / "token")
        server = asyncio.run_coroutine_threadsafe(_serve(shifts, token), loop).result(10)
        try:
            run = RunFile(1, "127.0.0", "127.0.0.1:1", server.address, "127.0.0.1:1", str(state_dir / "token"), {})
            write_run_file(state_dir, run)
            yield Control(state_dir, shifts, loop)
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(0), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)


async def _serve(shifts: ToldShifts, token: str) -> ControlServer:
    server = ControlServer(shifts, listen="127.0.0.1:0", token=token, version="1.2.3")  # type: ignore[arg-type]
    await server.start()
    return server


@dataclass(frozen=True)
class Ran:
    """How a command line ended."""

    code: int
    out: str
    err: str


def tidegate(*words: str, stdin: str = "") -> Ran:
    """Runs one command line in this process, as the installed command would."""
    with CliRunner().isolation(input=stdin) as streams:
        code = main([str(word) for word in words])
        for stream in streams[:2]:
            stream.flush()
        return Ran(code, streams[0].getvalue().decode(), streams[1].getvalue().decode())
