"""When is a pipeline opened, replaced and closed?"""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from services.translator.engines.apertium.pipeline import open_pipeline
from services.translator.engines.apertium.warm_mode import DEATHS_IN_A_ROW, DeadlyTextError, WarmMode
from tests.support.mesh_wait import until

POISON = ("sed", "-u", "-z", "/poison/Q1")


class Opener:
    """Counts the pipelines that it opens."""

    def __init__(self, *stages):
        self.stages, self.opened = stages, []

    async def __call__(self):
        self.opened.append(await open_pipeline("test", self.stages))
        return self.opened[-1]


@asynccontextmanager
async def warm(opener, idle=timedelta(minutes=1)):
    mode = WarmMode(opener, idle)
    try:
        yield mode
    finally:
        await mode.close()


async def test_it_is_opened_once_for_all_who_ask_at_first():
    opener = Opener(("cat",))
    async with warm(opener) as mode:
        assert opener.opened == []
        assert await asyncio.gather(*(mode.ask(str(n)) for n in range(20))) == [str(n) for n in range(20)]
        assert len(opener.opened) == 1


async def test_a_caller_that_leaves_while_it_opens_takes_it_from_nobody():
    opener = Opener(("cat",))
    async with warm(opener) as mode:
        first, second = (asyncio.create_task(mode.ask(word)) for word in ("first", "second"))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "second"
        assert len(opener.opened) == 1


async def test_after_a_death_the_next_use_opens_another():
    opener = Opener(("cat",), ("cat",))
    async with warm(opener) as mode:
        await mode.ask("x")
        os.kill(opener.opened[0].pids[1], signal.SIGKILL)
        await until(lambda: opener.opened[0].why_dead)
        assert await mode.ask("y") == "y"
        assert len(opener.opened) == 2


async def test_a_deadly_text_fails_by_itself_and_takes_no_neighbour_with_it():
    opener = Opener(POISON)
    async with warm(opener) as mode:
        words = [f"good {n}" if n != 50 else "poison" for n in range(100)]
        outcomes = await asyncio.gather(*(mode.ask(word) for word in words), return_exceptions=True)
        assert isinstance(outcomes[50], DeadlyTextError)
        assert [o for n, o in enumerate(outcomes) if n != 50] == [w for n, w in enumerate(words) if n != 50]


async def test_a_mode_that_always_dies_is_not_started_without_end():
    opener = Opener(("true",))
    async with warm(opener) as mode:
        outcomes = [type(await outcome_of(mode.ask("x"))) for _ in range(3 * DEATHS_IN_A_ROW)]
        assert outcomes[0] is DeadlyTextError
        assert outcomes[-1] is ChildProcessError
        assert len(opener.opened) <= 3 * DEATHS_IN_A_ROW


async def outcome_of(awaitable):
    try:
        return await awaitable
    except (DeadlyTextError, OSError) as error:
        return error


async def test_a_mode_that_cannot_be_started_says_so_each_time():
    async with warm(Opener(("no-such-program-here",))) as mode:
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                await mode.ask("x")


async def test_nobody_asks_and_it_closes_and_opens_again():
    opener = Opener(("cat",))
    async with warm(opener, idle=timedelta(milliseconds=400)) as mode:
        await mode.ask("x")
        await until(lambda: opener.opened[0].why_dead == "it was idle")
        assert await mode.ask("y") == "y"
        assert len(opener.opened) == 2
