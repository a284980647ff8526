"""How does one life of a child begin and end?

Starts the program on its leash in a process group of its own, waits until it is ready, and stops the whole group.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import IO, Any, assert_never

from mesh.process.spec import ChildFailed, ChildSpec, JsonLine, PortOpen, Probe, Started

LEASH = str(Path(__file__).with_name("leash.py"))
HOT_LINES = 12
HOT_BYTES = 4096
CONNECT_EVERY_S = 0.02


class Life:
    """One run of a child, from fork to reaping."""

    def __init__(self, spec: ChildSpec, process: asyncio.subprocess.Process, err_from: int) -> None:
        self.spec = spec
        self.pid = process.pid
        self._process = process
        self._err_from = err_from
        self._first_line: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._copying = asyncio.create_task(self._copy_stdout()) if process.stdout else None

    @classmethod
    async def begin(cls, spec: ChildSpec) -> "Life":
        """A running process. Raises ChildFailed when the program is missing."""
        program = find_program(spec)
        piped = isinstance(spec.ready, JsonLine)
        with spec.out_log.open("ab") as out, spec.err_log.open("ab") as err:
            err_from = err.tell()  # before the child runs: it shares the file's position
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", LEASH, str(os.getpid()), str(int(spec.orphan_signal))),
                *(program, *spec.command[1:]),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if piped else out,
                stderr=err,
                env=None if spec.env is None else dict(spec.env),
                cwd=spec.cwd,
                start_new_session=True,
            )
            return cls(spec, process, err_from)

    async def ready(self) -> Any:
        """The ready value. Raises ChildFailed when the child dies first or is late; it is then stopped."""
        waiting = asyncio.ensure_future(self._ready_value())
        dying = asyncio.ensure_future(self._process.wait())
        limit = self.spec.ready_within.total_seconds()
        try:
            await asyncio.wait({waiting, dying}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done() and waiting.exception() is None and not dying.done():
                return waiting.result()
            sentence = self._why_not_ready(waiting, dying, limit)
        finally:
            waiting.cancel()
            dying.cancel()
        await self.stop()
        raise ChildFailed(self.spec.name, sentence + self.hot_stderr())

    def _why_not_ready(self, waiting: "asyncio.Future[Any]", dying: "asyncio.Future[int]", limit: float) -> str:
        if dying.done():
            return self.death(dying.result()) + " before it was ready"
        if waiting.done():
            return f"its ready check failed: {waiting.exception()}"
        return f"not ready within {limit:g} s"

    async def _ready_value(self) -> Any:
        match self.spec.ready:
            case Started():
                return None
            case JsonLine():
                return await asyncio.shield(self._first_line)
            case PortOpen(host, port):
                return await port_open(host, port)
            case Probe(wait):
                return await wait()
            case never:
                assert_never(never)

    async def _copy_stdout(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with self.spec.out_log.open("ab", buffering=0) as log:
            while line := await next_line(stream):
                log.write(line)
                self._notice(line)

    def _notice(self, line: bytes) -> None:
        if self._first_line.done() or not line.startswith(b"{"):
            return
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and value.get("ready") is True:
                self._first_line.set_result(value)

    async def ended(self) -> int:
        """The exit code, when it is dead; leftovers of its group are killed first."""
        code = await self._process.wait()
        signal_group(self.pid, signal.SIGKILL)
        if self._copying:
            await asyncio.wait({self._copying}, timeout=1)
            self._copying.cancel()
        return code

    async def stop(self) -> int:
        """Stops the group: SIGTERM, and SIGKILL when it takes longer than `stop_within`."""
        if self._process.returncode is None:
            signal_group(self.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.spec.stop_within.total_seconds()):
                    await self._process.wait()
        signal_group(self.pid, signal.SIGKILL)
        return await self.ended()

    def hot_stderr(self) -> str:
        """The last lines that this life wrote to stderr, ready to be appended to a sentence."""
        lines = tail(self.spec.err_log, self._err_from)
        return "; its last words:\n" + "\n".join(f"    {line}" for line in lines) if lines else ""

    @staticmethod
    def death(code: int) -> str:
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"


async def next_line(stream: asyncio.StreamReader) -> bytes:
    """The next line, or a piece of one that is longer than the stream's limit; empty at the end."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError as long:
        return await stream.read(long.consumed)


def find_program(spec: ChildSpec) -> str:
    """The program's path. Raises ChildFailed with the line to type when there is none."""
    found = shutil.which(spec.command[0])
    if found is None:
        raise ChildFailed(spec.name, f"the program {spec.command[0]} is not there or not executable", spec.install_hint)
    return found


def signal_group(group: int, number: signal.Signals) -> None:
    """Signals a whole process group, if it still lives."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def tail(log: Path, start: int) -> list[str]:
    """The last lines of a log after byte `start`."""
    with contextlib.suppress(OSError), log.open("rb") as stream:
        end = seek_end(stream)
        stream.seek(max(start, end - HOT_BYTES))
        return stream.read().decode("utf-8", "replace").splitlines()[-HOT_LINES:]
    return []


def seek_end(stream: IO[bytes]) -> int:
    """The length of a log, where reading it goes on."""
    return stream.seek(0, os.SEEK_END)


async def port_open(host: str, port: int) -> None:
    """Returns when a connection is accepted."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return
        await asyncio.sleep(CONNECT_EVERY_S)
