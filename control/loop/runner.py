"""Who looks at which shift, again and again? Workers that take keys from the queue, each look being one `tick`.

A shift is looked at when its own time has come (`Outcome.next_tick`), when a document changed that it may depend on,
and when a person changed or commanded it. All that is only *when*: what a look does depends on the state of the world
alone.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from control.errors import TidegateError
from control.loop.feed import ShiftKey
from control.loop.queue import Backoff, WorkQueue
from control.loop.troubles import Trouble, trouble_of
from control.ports import Clock
from mesh.traffic import RouteRef


class Outcome(Protocol):
    """What one look says: when the next is due, whether it decided something, whether the shift is gone, and facts
    for the log.
    """

    @property
    def next_tick(self) -> timedelta: ...

    @property
    def changed(self) -> bool: ...

    @property
    def gone(self) -> bool: ...

    @property
    def facts(self) -> Mapping[str, Any]: ...


class Observer(Protocol):
    """Is told of each look: logs, metrics, watchers."""

    def ticked(self, key: ShiftKey, outcome: Outcome, took_s: float) -> None: ...

    def failed(self, key: ShiftKey, trouble: Trouble, error: Exception) -> None: ...


class Runner:
    """Looks at every shift until cancelled. `tick` is one look; `luck` draws uniform numbers in 0 to 1."""

    def __init__(
        self,
        tick: Callable[[ShiftKey, datetime], Awaitable[Outcome]],
        *,
        clock: Clock,
        observer: Observer,
        backoff: Backoff,
        luck: Callable[[], float],
    ) -> None:
        self._tick = tick
        self._clock = clock
        self._observer = observer
        self._backoff = backoff
        self._luck = luck
        self._queue: WorkQueue[ShiftKey] = WorkQueue(time.monotonic)
        self._troubles: dict[ShiftKey, Trouble] = {}

    def waiting(self) -> int:
        """How many shifts have their next look planned."""
        return len(self._queue)

    def trouble(self, key: ShiftKey) -> Trouble | None:
        """What the last look at a shift ran into, if it matters to a person."""
        trouble = self._troubles.get(key)
        return None if trouble is None or trouble.passing else trouble

    def wake(self, key: ShiftKey) -> None:
        """A document changed that the shift may depend on: look now. A frozen shift stays frozen."""
        if not self._frozen(key):
            self._queue.add(key)

    def wake_by_person(self, key: ShiftKey) -> None:
        """A person changed or commanded the shift: look now, even if it was frozen."""
        self._troubles.pop(key, None)
        self._queue.add(key)

    async def run(
        self,
        keys: Iterable[ShiftKey],
        changes: AsyncIterator[RouteRef | None],
        affected: Callable[[RouteRef | None], Awaitable[Iterable[ShiftKey]]],
        *,
        workers: int,
    ) -> None:
        """Looks at these shifts and at those that are woken. `affected` names the shifts that a change may concern."""
        for key in keys:
            self._queue.add(key)
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())
            group.create_task(self._follow(changes, affected))

    async def look(self, key: ShiftKey) -> None:
        """One look, and what follows from how it ended."""
        began = time.monotonic()
        try:
            outcome = await self._tick(key, self._clock.now())
        except Exception as error:  # whatever a tick raises concerns its shift alone
            self._fail(key, error)
            return
        self._troubles.pop(key, None)
        self._observer.ticked(key, outcome, time.monotonic() - began)
        if not outcome.gone:
            self._queue.add(key, after_s=outcome.next_tick.total_seconds())

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            try:
                await self.look(key)
            finally:
                self._queue.done(key)

    async def _follow(
        self,
        changes: AsyncIterator[RouteRef | None],
        affected: Callable[[RouteRef | None], Awaitable[Iterable[ShiftKey]]],
    ) -> None:
        async for change in changes:
            with contextlib.suppress(TidegateError):  # the store can't say: each shift's own time will come
                for key in await affected(change):
                    self.wake(key)

    def _fail(self, key: ShiftKey, error: Exception) -> None:
        trouble = trouble_of(error, self._clock.now(), self._troubles.get(key))
        self._troubles[key] = trouble
        self._observer.failed(key, trouble, error)
        if not trouble.frozen:
            self._queue.add(key, after_s=self._backoff.delay_s(trouble.failures, self._luck()))

    def _frozen(self, key: ShiftKey) -> bool:
        trouble = self._troubles.get(key)
        return trouble is not None and trouble.frozen


def concerned(targets: Mapping[ShiftKey, Iterable[RouteRef]], change: RouteRef | None) -> list[ShiftKey]:
    """The shifts that a changed document may concern; None concerns all."""
    if change is None:
        return list(targets)
    changed = (change.namespace, change.virtual_service)
    return [
        key for key, refs in targets.items() if any((ref.namespace, ref.virtual_service) == changed for ref in refs)
    ]
