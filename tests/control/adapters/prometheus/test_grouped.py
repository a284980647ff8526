"""Many shifts, few questions: who asks together, or a moment later, shares an answer."""

import asyncio
from datetime import datetime, timedelta

import pytest

from control.adapters.prometheus.grouped import Grouped, Table
from control.adapters.prometheus.selectors import Subject
from control.errors import Unavailable
from tests.support.control_time import NOON, StillClock

WINDOW, WIDE = timedelta(seconds=75), timedelta(seconds=150)
A, B, C = (Subject(name, ("v1", "v2")) for name in "abc")


class Server:
    """Keeps what it was asked for; answers when `open` is set, or fails with `error`."""

    def __init__(self) -> None:
        self.asked: list[tuple[set[Subject], timedelta]] = []
        self.began = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()
        self.error: Exception | None = None

    async def fetch(self, subjects: frozenset[Subject], window: timedelta, at: datetime) -> Table:
        self.asked.append((set(subjects), window))
        self.began.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return Table(at, subjects)


def grouped(server: Server, clock: StillClock | None = None) -> Grouped:
    return Grouped(server.fetch, clock or StillClock(), fresh_for=timedelta(seconds=1))


async def test_who_asks_at_once_shares_one_question() -> None:
    server = Server()
    group = grouped(server)
    tables = await asyncio.gather(*(group.table(each, WINDOW) for each in (A, B, C, A)))
    assert server.asked == [({A, B, C}, WINDOW)]
    assert all(table is tables[0] for table in tables)


async def test_who_asks_meanwhile_shares_the_next_question() -> None:
    server = Server()
    server.open.clear()
    group = grouped(server)
    first = asyncio.ensure_future(group.table(A, WINDOW))
    await server.began.wait()
    others = [asyncio.ensure_future(group.table(each, WINDOW)) for each in (B, C)]
    await asyncio.sleep(0)
    server.open.set()
    await asyncio.gather(first, *others)
    assert [names for names, _ in server.asked] == [{A}, {A, B, C}]


async def test_who_asks_a_moment_later_is_answered_at_once_and_later_anew() -> None:
    server, clock = Server(), StillClock()
    group = grouped(server, clock)
    await group.table(A, WINDOW)
    await group.table(B, WINDOW)
    clock.move(timedelta(milliseconds=900))
    await group.table(A, WINDOW)
    assert [names for names, _ in server.asked] == [{A}, {A, B}]
    clock.move(timedelta(milliseconds=200))
    await group.table(A, WINDOW)
    assert [names for names, _ in server.asked] == [{A}, {A, B}, {A, B}], "whoever asked lately is asked for too"
    clock.move(timedelta(seconds=31))
    await group.table(A, WINDOW)
    assert server.asked[-1] == ({A}, WINDOW), "B has stopped asking"


async def test_a_clock_that_steps_back_asks_anew() -> None:
    server, clock = Server(), StillClock()
    group = grouped(server, clock)
    await group.table(A, WINDOW)
    clock.at = NOON - timedelta(hours=1)
    await group.table(A, WINDOW)
    assert len(server.asked) == 2


async def test_other_windows_are_other_questions() -> None:
    server = Server()
    group = grouped(server)
    await asyncio.gather(group.table(A, WINDOW), group.table(B, WIDE))
    assert server.asked == [({A}, WINDOW), ({B}, WIDE)]


async def test_everybody_is_told_of_an_error_and_the_next_question_is_asked() -> None:
    server = Server()
    server.error = Unavailable("away")
    group = grouped(server)
    found = await asyncio.gather(group.table(A, WINDOW), group.table(B, WINDOW), return_exceptions=True)
    assert [str(each) for each in found] == ["away", "away"]
    server.error = None
    assert (await group.table(A, WINDOW)).subjects == {A, B}


async def test_one_who_leaves_takes_no_answer_from_the_others() -> None:
    server = Server()
    server.open.clear()
    group = grouped(server)
    one, other = (asyncio.ensure_future(group.table(each, WINDOW)) for each in (A, B))
    await server.began.wait()
    one.cancel()
    server.open.set()
    assert (await other).subjects == {A, B}


async def test_closing_ends_what_is_under_way() -> None:
    server = Server()
    server.open.clear()
    group = grouped(server)
    waiting = asyncio.ensure_future(group.table(A, WINDOW))
    await server.began.wait()
    await group.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
