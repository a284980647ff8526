"""How much of one call is worked on at once?"""

import asyncio
from contextlib import aclosing

import pytest

from services.translator.together import in_turn, together


class Work:
    """Doubles numbers, those of `closed` only when their gate opens; knows how many are being worked on."""

    def __init__(self, closed=()):
        self.gates = {number: asyncio.Event() for number in closed}
        self.now, self.most, self.begun = 0, 0, []

    async def __call__(self, number):
        self.begun.append(number)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            if number in self.gates:
                await self.gates[number].wait()
            await asyncio.sleep(0)
            if number < 0:
                raise ValueError(number)
            return 2 * number
        finally:
            self.now -= 1


async def collected(items, act, *, at_once):
    return [result async for result in in_turn(items, act, at_once=at_once)]


@pytest.mark.parametrize("run", [together, collected])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 100])
async def test_results_keep_their_order_and_the_bound_holds(run, count):
    work = Work()
    assert await run(range(count), work, at_once=3) == [2 * number for number in range(count)]
    assert work.most <= 3


async def test_a_failure_ends_the_others():
    work = Work(closed=[1])
    with pytest.raises(ExceptionGroup):
        await together([1, -1, 2], work, at_once=2)
    assert work.now == 0


async def test_a_failure_in_turn_comes_as_it_is():
    work = Work(closed=[2])
    with pytest.raises(ValueError, match="-1"):
        await collected([1, -1, 2, 3], work, at_once=3)
    assert work.now == 0


async def test_leaving_early_ends_what_is_being_worked_on_and_begins_nothing_more():
    work = Work(closed=[2, 3])
    async with aclosing(in_turn([1, 2, 3, 4, 5, 6], work, at_once=2)) as results:
        assert await anext(results) == 2
    assert work.now == 0
    assert 4 not in work.begun
