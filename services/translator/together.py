"""How much of one call is worked on at once?

All of a call's texts and sentences could be started together, but they would stand before every other caller's in the
engine's queue. Each call has a few in flight at a time, so a long text and a short one take turns.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def together(items: Sequence[Item], act: Callable[[Item], Awaitable[Result]], *, at_once: int) -> list[Result]:
    """The result of each item, in order, with at most `at_once` being worked on. A failure ends all of them."""
    results: dict[int, Result] = {}
    rest = iter(enumerate(items))

    async def work() -> None:
        for index, item in rest:
            results[index] = await act(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(at_once, len(items))):
            group.create_task(work())
    return [results[index] for index in range(len(items))]


async def in_turn(
    items: Sequence[Item], act: Callable[[Item], Coroutine[Any, Any, Result]], *, at_once: int
) -> AsyncGenerator[Result, None]:
    """Each item's result as soon as it and all before it are there. Leaving early ends what is being worked on."""
    rest = iter(items)
    running = deque(asyncio.create_task(act(item)) for item in islice(rest, at_once))
    try:
        while running:
            result = await running[0]
            running.popleft()
            running.extend(asyncio.create_task(act(item)) for item in islice(rest, 1))
            yield result
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
