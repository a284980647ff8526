"""How are many shifts asked for at once? One query a family for all of them; the answer is divided.

Reads that come while a question is under way share the next one. A question names everybody who asked lately, and its
answer serves whoever asks a moment later: fifty shifts that look at different moments cost no more than one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.selectors import Subject
from control.ports import Clock

LATELY = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Table:
    """The answers about some subjects as of `at`: the series of each family by service."""

    at: datetime
    subjects: frozenset[Subject]
    requests: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)
    durations: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)
    retries: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)


Fetch = Callable[[frozenset[Subject], timedelta, datetime], Awaitable[Table]]


class Grouped:
    """Asks for subjects together, one question at a time a window. An answer is used again for `fresh_for`."""

    def __init__(self, fetch: Fetch, clock: Clock, *, fresh_for: timedelta) -> None:
        self._fetch = fetch
        self._clock = clock
        self._fresh_for = fresh_for
        self._asked: dict[tuple[Subject, timedelta], datetime] = {}
        self._next: dict[timedelta, asyncio.Task[Table]] = {}
        self._turns: dict[timedelta, asyncio.Lock] = {}
        self._tables: dict[timedelta, Table] = {}
        self._under_way: set[asyncio.Task[Table]] = set()

    async def table(self, subject: Subject, window: timedelta) -> Table:
        """An answer that has this subject, over that window. Raises QueryRefused, Unavailable."""
        now = self._clock.now()
        self._asked[subject, window] = now
        table = self._tables.get(window)
        if table is not None and subject in table.subjects and self._fresh(table, now):
            return table
        if window not in self._next:
            self._next[window] = self._begun(self._answer(window))
        return await asyncio.shield(self._next[window])

    async def close(self) -> None:
        """Ends what is under way."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _answer(self, window: timedelta) -> Table:
        async with self._turns.setdefault(window, asyncio.Lock()):
            await asyncio.sleep(0)  # whoever asks at this very moment is asked for too
            del self._next[window]
            now = self._clock.now()
            self._asked = {key: at for key, at in self._asked.items() if abs(now - at) <= LATELY}
            self._tables = {key: table for key, table in self._tables.items() if self._fresh(table, now)}
            subjects = frozenset(subject for subject, width in self._asked if width == window)
            self._tables[window] = table = await self._fetch(subjects, window, now)
            return table

    def _begun(self, answer: Coroutine[Any, Any, Table]) -> "asyncio.Task[Table]":
        task = asyncio.create_task(answer)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: "asyncio.Task[Table]") -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may be left who does

    def _fresh(self, table: Table, now: datetime) -> bool:
        return table.at <= now < table.at + self._fresh_for
