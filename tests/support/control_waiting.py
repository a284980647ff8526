"""Awaiting a condition with a deadline, instead of sleeping and hoping."""

import asyncio
from collections.abc import Callable

LOOK_EVERY_S = 0.005


async def until(condition: Callable[[], bool], *, within_s: float = 10.0) -> None:
    """Returns once the condition holds. Raises TimeoutError."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110  what is awaited has no event of its own
            await asyncio.sleep(LOOK_EVERY_S)
