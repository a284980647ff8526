"""A pulse wakes everybody who waits, and nobody misses a beat."""

import asyncio

from mesh.pulse import Pulse


async def test_a_beat_wakes_all_waiters() -> None:
    pulse = Pulse()
    waiting = [asyncio.create_task(pulse.after(0)) for _ in range(3)]
    await asyncio.sleep(0)
    pulse.beat()
    assert await asyncio.gather(*waiting) == [1, 1, 1]


async def test_a_beat_that_was_before_the_wait_is_not_missed_and_several_are_one() -> None:
    pulse = Pulse()
    pulse.beat()
    pulse.beat()
    assert await pulse.after(0) == 2


async def test_a_waiter_that_gave_up_is_forgotten() -> None:
    pulse = Pulse()
    waiting = asyncio.create_task(pulse.after(0))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    pulse.beat()
    assert await pulse.after(0) == 1
