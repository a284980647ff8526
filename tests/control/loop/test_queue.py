"""The work queue: what is due, when, and for whom."""

import asyncio
from dataclasses import dataclass

import pytest

from control.loop.queue import Backoff, WorkQueue


@dataclass
class Hand:
    """A clock that a test turns by hand."""

    s: float = 0.0

    def __call__(self) -> float:
        return self.s


async def taken(queue: WorkQueue[str]) -> str:
    return await asyncio.wait_for(queue.get(), 60)


async def nothing_due(queue: WorkQueue[str]) -> bool:
    get = asyncio.ensure_future(queue.get())
    for _ in range(5):
        await asyncio.sleep(0)
    given = get.done()
    get.cancel()
    return not given


async def test_a_key_added_twice_is_given_once() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    queue.add("a")
    queue.add("a")
    assert await taken(queue) == "a"
    queue.done("a")
    assert await nothing_due(queue)


async def test_the_key_that_is_due_first_comes_first() -> None:
    hand = Hand()
    queue: WorkQueue[str] = WorkQueue(hand)
    queue.add("late", after_s=20)
    queue.add("soon", after_s=10)
    hand.s = 30
    assert [await taken(queue), await taken(queue)] == ["soon", "late"]


async def test_a_key_is_not_given_before_its_time() -> None:
    hand = Hand()
    queue: WorkQueue[str] = WorkQueue(hand)
    queue.add("a", after_s=10)
    assert await nothing_due(queue)
    hand.s = 10
    assert await taken(queue) == "a"


@pytest.mark.parametrize(
    ("first", "second", "due"),
    [
        pytest.param(10, 3, 3, id="a wake-up brings it forward"),
        pytest.param(3, 10, 3, id="a later time does not push it back"),
    ],
)
async def test_the_earlier_time_wins(first: float, second: float, due: float) -> None:
    hand = Hand()
    queue: WorkQueue[str] = WorkQueue(hand)
    queue.add("a", after_s=first)
    queue.add("a", after_s=second)
    hand.s = due
    assert await taken(queue) == "a"


async def test_a_busy_key_is_not_given_to_a_second_worker_but_comes_again_when_done() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    queue.add("a")
    await taken(queue)
    queue.add("a")
    assert await nothing_due(queue)
    queue.done("a")
    assert await taken(queue) == "a"


async def test_a_busy_key_does_not_hold_up_others() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    queue.add("a")
    await taken(queue)
    queue.add("a")
    queue.add("b")
    assert await taken(queue) == "b"


async def test_a_forgotten_key_is_not_given() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    queue.add("a")
    queue.forget("a")
    assert len(queue) == 0
    assert await nothing_due(queue)


async def test_a_worker_that_waits_is_woken_by_an_addition() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    waiting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(0)
    queue.add("a")
    assert await asyncio.wait_for(waiting, 60) == "a"


async def test_a_worker_that_waits_for_a_time_is_woken_by_it() -> None:
    queue: WorkQueue[str] = WorkQueue(asyncio.get_running_loop().time)
    queue.add("a", after_s=0.02)
    assert await taken(queue) == "a"


async def test_two_workers_share_the_work() -> None:
    queue: WorkQueue[str] = WorkQueue(Hand())
    gets = [asyncio.ensure_future(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("a")
    queue.add("b")
    assert sorted(await asyncio.wait_for(asyncio.gather(*gets), 60)) == ["a", "b"]


@pytest.mark.parametrize(
    ("failures", "luck", "delay_s"),
    [
        pytest.param(1, 0.0, 0.25, id="first, at least half of the base"),
        pytest.param(1, 1.0, 0.5, id="first, at most the base"),
        pytest.param(3, 1.0, 2.0, id="doubles with each failure"),
        pytest.param(100, 1.0, 30.0, id="never over the cap"),
        pytest.param(10**6, 0.0, 15.0, id="no overflow"),
    ],
)
def test_backoff(failures: int, luck: float, delay_s: float) -> None:
    assert Backoff(0.5, 30.0).delay_s(failures, luck) == pytest.approx(delay_s)
