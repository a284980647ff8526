"""Which child processes run, and who brings a dead one back?

The one supervisor of child processes. Each child leads a process group of its own; a death is noticed at once and
answered by a restart with back-off; nothing outlives the supervisor, even one killed by SIGKILL (see `leash` and
`guardian`).
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mesh.process.launch import Life
from mesh.process.spec import ChildEvent, ChildFailed, ChildSpec, ChildState

GUARDIAN = str(Path(__file__).with_name("guardian.py"))
OnEvent = Callable[[ChildEvent], None]


class Child:
    """A supervised process over all its lives. `incarnation` grows by one with every life, from 1."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self.state = ChildState.STARTING
        self.incarnation = 0
        self.ready_value: Any = None
        self.life: Life | None = None
        self.watching: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The pid of the living process, or None."""
        return self.life.pid if self.life and self.state in (ChildState.STARTING, ChildState.READY) else None


class Supervisor:
    """Starts, watches, restarts and stops children. Use as an async context manager: leaving it stops them all."""

    def __init__(self, on_event: OnEvent | None = None) -> None:
        self.children: dict[str, Child] = {}
        self._on_event = on_event or (lambda _: None)
        self._guardian: asyncio.subprocess.Process | None = None
        self._guardian_lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self, spec: ChildSpec) -> Child:
        """The child, ready. Raises ChildFailed (with its last words) when its first life does not become ready."""
        if spec.name in self.children:
            raise ValueError(f"a child named {spec.name} is already there")
        spec.log_dir.mkdir(parents=True, exist_ok=True)
        for log in (spec.out_log, spec.err_log):
            log.write_bytes(b"")
        child = self.children[spec.name] = Child(spec)
        try:
            await self._live(child)
        except BaseException:
            await self._forget(child)
            raise
        child.watching = asyncio.create_task(self._watch(child), name=f"watch {spec.name}")
        return child

    async def stop(self, name: str) -> None:
        """Stops a child for good, its whole process group. A name that isn't there is fine."""
        child = self.children.get(name)
        if child is not None:
            await self._forget(child)
            self._tell(child, ChildState.STOPPED, "stopped")

    async def close(self) -> None:
        """Stops every child, newest first to be asked, all at the same time."""
        await asyncio.gather(*(self.stop(name) for name in reversed(list(self.children))))
        if self._guardian and self._guardian.stdin:
            self._guardian.stdin.close()
            await self._guardian.wait()

    async def _forget(self, child: Child) -> None:
        if child.watching:
            child.watching.cancel()
            await asyncio.wait({child.watching})
        if child.life:
            await child.life.stop()
            await self._guard("-", child.life.pid)
        child.state = ChildState.STOPPED
        self.children.pop(child.spec.name, None)

    async def _live(self, child: Child) -> None:
        """Begins a new life and waits until it is ready."""
        child.state = ChildState.STARTING
        child.incarnation += 1
        child.life = await Life.begin(child.spec)
        await self._guard("+", child.life.pid)
        child.ready_value = await child.life.ready()
        self._tell(child, ChildState.READY, f"ready, pid {child.life.pid}")

    async def _watch(self, child: Child) -> None:
        """Waits for deaths and answers them, until the child is dead for good."""
        failures = 0
        while child.life:
            began = asyncio.get_running_loop().time()
            sentence = await self._death(child)
            lived = asyncio.get_running_loop().time() - began
            if child.spec.restart is None:
                self._tell(child, ChildState.DEAD, sentence)
                return
            failures = 1 if lived > child.spec.restart.forgiven_after.total_seconds() else failures + 1
            while not await self._revived(child, failures, sentence):
                failures += 1
                sentence = "did not come back"

    async def _death(self, child: Child) -> str:
        assert child.life is not None
        code = await child.life.ended()
        await self._guard("-", child.life.pid)
        return f"{child.life.death(code)}{child.life.hot_stderr()}"

    async def _revived(self, child: Child, failures: int, sentence: str) -> bool:
        assert child.spec.restart is not None
        delay = child.spec.restart.delay(failures).total_seconds()
        self._tell(child, ChildState.WAITING, f"starts again in {delay:g} s: {sentence}")
        await asyncio.sleep(delay)
        try:
            await self._live(child)
        except ChildFailed as failed:
            self._tell(child, ChildState.WAITING, failed.sentence)
            return False
        return True

    def _tell(self, child: Child, state: ChildState, sentence: str) -> None:
        child.state = state
        self._on_event(ChildEvent(child.spec.name, state, child.incarnation, sentence))

    async def _guard(self, change: str, group: int) -> None:
        async with self._guardian_lock:
            if self._guardian is None:
                self._guardian = await start_guardian()
        assert self._guardian.stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._guardian.stdin.write(f"{change}{group}\n".encode())
            await self._guardian.stdin.drain()


async def start_guardian() -> asyncio.subprocess.Process:
    """The process that outlives us just long enough to end our children."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", GUARDIAN),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
