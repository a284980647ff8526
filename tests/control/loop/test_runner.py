"""What follows from how a look ended, and who is woken by what."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from control.errors import Conflict, InvariantBroken, NotFound, Rejected, Unavailable
from control.loop.feed import ShiftKey
from control.loop.queue import Backoff
from control.loop.runner import Outcome, Runner, concerned
from control.loop.troubles import Trouble, trouble_of
from mesh.traffic import RouteRef
from tests.support.control_time import NOON, StillClock
from tests.support.mesh_wait import until

KEY: ShiftKey = ("default", "translator")
OTHER: ShiftKey = ("default", "other")
SOON, LATE = timedelta(milliseconds=1), timedelta(hours=1)


@dataclass(frozen=True)
class Looked:
    next_tick: timedelta
    changed: bool = False
    gone: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class World:
    """A tick that plays a script, and an observer that remembers."""

    script: dict[ShiftKey, Iterator[Outcome | Exception]]
    looks: dict[ShiftKey, int] = field(default_factory=lambda: defaultdict(int))
    failures: list[Trouble] = field(default_factory=list)
    changes: "asyncio.Queue[RouteRef | None]" = field(default_factory=asyncio.Queue)
    hold_from: int = 10**9
    release: asyncio.Event = field(default_factory=asyncio.Event)
    busy: int = 0
    most_busy: int = 0

    async def tick(self, key: ShiftKey, now: datetime) -> Outcome:
        if self.looks[key] >= self.hold_from:
            await self.release.wait()
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        await asyncio.sleep(0)
        self.busy -= 1
        self.looks[key] += 1
        result = next(self.script[key], Looked(LATE))
        if isinstance(result, Exception):
            raise result
        return result

    def ticked(self, key: ShiftKey, outcome: Outcome, took_s: float) -> None:
        assert took_s >= 0

    def failed(self, key: ShiftKey, trouble: Trouble, error: Exception) -> None:
        self.failures.append(trouble)

    async def follow(self) -> AsyncIterator[RouteRef | None]:
        while True:
            yield await self.changes.get()

    async def affected(self, change: RouteRef | None) -> Iterable[ShiftKey]:
        return list(self.script)


@asynccontextmanager
async def running(world: World) -> AsyncIterator[Runner]:
    runner = Runner(world.tick, clock=StillClock(), observer=world, backoff=Backoff(0.001, 0.002), luck=lambda: 0.5)
    task = asyncio.ensure_future(runner.run(world.script, world.follow(), world.affected, workers=2))
    try:
        yield runner
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def script(*results: Outcome | Exception) -> World:
    return World({KEY: iter(results)})


async def test_a_shift_is_looked_at_again_when_its_time_has_come() -> None:
    world = script(Looked(SOON), Looked(SOON), Looked(LATE))
    async with running(world):
        await until(lambda: world.looks[KEY] == 3)


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        pytest.param(Unavailable("no mesh"), "unavailable", True, id="unavailable: again, shown"),
        pytest.param(Conflict("lost a race"), "conflict", False, id="one lost race: again, shown to nobody"),
        pytest.param(NotFound("no route"), "not-found", True, id="not found: again, shown"),
        pytest.param(Rejected("no"), "rejected", True, id="rejected: again, shown"),
    ],
)
async def test_a_look_that_failed_is_repeated(error: Exception, code: str, shown: bool) -> None:
    world = script(error)
    world.hold_from = 1
    async with running(world) as runner:
        await until(lambda: bool(world.failures))
        assert (runner.trouble(KEY) is not None) is shown
        assert world.failures[0].code == code
        world.release.set()
        await until(lambda: world.looks[KEY] == 2)
        await until(lambda: runner.trouble(KEY) is None)


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(InvariantBroken("weights out of nowhere"), id="an invariant is broken"),
        pytest.param(ZeroDivisionError("division by zero"), id="any other exception"),
    ],
)
async def test_a_bug_freezes_its_shift_and_no_other(error: Exception) -> None:
    world = World({KEY: iter([error]), OTHER: iter([])})
    async with running(world) as runner:
        await until(lambda: bool(world.failures) and world.looks[OTHER] == 1)
        trouble = runner.trouble(KEY)
        assert trouble is not None
        assert trouble.frozen
        assert str(error) in trouble.message
        world.changes.put_nowait(None)
        await until(lambda: world.looks[OTHER] == 2)
        assert world.looks[KEY] == 1


async def test_a_person_unfreezes_a_shift() -> None:
    world = script(InvariantBroken("broken"))
    async with running(world) as runner:
        await until(lambda: bool(world.failures))
        runner.wake_by_person(KEY)
        await until(lambda: world.looks[KEY] == 2)
        assert runner.trouble(KEY) is None


async def test_a_changed_document_wakes_a_shift_early() -> None:
    world = script(Looked(LATE))
    async with running(world) as runner:
        await until(lambda: runner.waiting() == 1)
        world.changes.put_nowait(RouteRef("default", "translator"))
        await until(lambda: world.looks[KEY] == 2)


async def test_a_shift_that_is_gone_is_left_alone() -> None:
    world = World({KEY: iter([Looked(SOON, gone=True)]), OTHER: iter([Looked(SOON), Looked(SOON)])})
    async with running(world) as runner:
        await until(lambda: world.looks[OTHER] == 3 and runner.waiting() == 1)
        assert world.looks[KEY] == 1


async def test_one_shift_is_never_looked_at_twice_at_once() -> None:
    world = script(*[Looked(timedelta(0))] * 50)
    async with running(world) as runner:
        for _ in range(20):
            runner.wake(KEY)
            await asyncio.sleep(0)
        await until(lambda: world.looks[KEY] >= 50)
    assert world.most_busy == 1


def test_failures_in_a_row_are_counted_and_dated_from_the_first() -> None:
    first = trouble_of(Conflict("once"), NOON, None)
    second = trouble_of(Conflict("twice"), NOON + timedelta(seconds=9), first)
    assert (second.failures, second.since, second.message) == (2, NOON, "twice")
    assert first.passing
    assert not second.passing


REFS = {
    KEY: [RouteRef("default", "translator", "primary"), RouteRef("default", "edge")],
    OTHER: [RouteRef("b", "edge")],
}


@pytest.mark.parametrize(
    ("change", "woken"),
    [
        pytest.param(None, [KEY, OTHER], id="anything may have changed"),
        pytest.param(RouteRef("default", "edge"), [KEY], id="a document of one shift"),
        pytest.param(RouteRef("b", "edge"), [OTHER], id="the same name elsewhere"),
        pytest.param(RouteRef("default", "none"), [], id="nobody's document"),
    ],
)
def test_who_is_concerned_by_a_change(change: RouteRef | None, woken: list[ShiftKey]) -> None:
    assert concerned(REFS, change) == woken
