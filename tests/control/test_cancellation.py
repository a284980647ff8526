"""A cancellation is never lost, whatever it arrives together with."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

import pytest

from control.cancellation import cancellable, until_interrupted


async def _swallows_and_answers(begun: asyncio.Event) -> str:
    try:
        begun.set()
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        pass
    return "answer"


async def _swallows_and_fails(begun: asyncio.Event) -> str:
    await _swallows_and_answers(begun)
    raise ValueError("status OK")


async def _obeys(begun: asyncio.Event) -> str:
    begun.set()
    await asyncio.Event().wait()
    return "never"


@pytest.mark.parametrize("call", [_swallows_and_answers, _swallows_and_fails, _obeys])
async def test_who_is_cancelled_ends(call: Callable[[asyncio.Event], Awaitable[str]]) -> None:
    begun = asyncio.Event()
    inner = asyncio.ensure_future(call(begun))
    outer = asyncio.ensure_future(cancellable(inner))
    await begun.wait()
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(outer, 60)


async def test_a_timeout_comes_even_if_the_call_swallows_it() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await cancellable(asyncio.ensure_future(_swallows_and_answers(asyncio.Event())))


async def test_who_is_not_cancelled_gets_the_answer_or_the_error() -> None:
    async def answer() -> int:
        return 7

    async def failure() -> int:
        raise ValueError("wrong")

    assert await cancellable(answer()) == 7
    with pytest.raises(ValueError, match="wrong"):
        await cancellable(failure())


async def test_a_call_while_cleaning_up_after_a_cancellation_still_answers() -> None:
    async def answer() -> int:
        return 7

    async def cleans_up(begun: asyncio.Event) -> int:
        try:
            begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await cancellable(answer())
        return 0

    begun = asyncio.Event()
    task = asyncio.ensure_future(cleans_up(begun))
    await begun.wait()
    task.cancel()
    assert await task == 7


async def _loses_the_first(asked: list[int], cleaned: list[str]) -> str:
    """Work that loses one cancellation, as a call of grpc.aio may."""
    try:
        try:
            signal.raise_signal(signal.SIGUSR1)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            asked.append(1)
        await asyncio.Event().wait()
    finally:
        cleaned.append("yes")
    return "never"


async def test_an_interrupt_is_not_lost_with_one_cancellation() -> None:
    asked: list[int] = []
    cleaned: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        await until_interrupted(_loses_the_first(asked, cleaned), (signal.SIGUSR1,))
    assert (asked, cleaned) == ([1], ["yes"])


async def test_work_that_nobody_interrupts_brings_its_result() -> None:
    assert await until_interrupted(asyncio.sleep(0, "done"), (signal.SIGUSR1,)) == "done"
