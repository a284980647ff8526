"""Does a cancellation that arrives together with an answer get lost? Not with `cancellable`.

grpc.aio awaits each unary call in a task of its own, which swallows a cancellation that comes in the moment when the
answer is there: the caller goes on with a result, or with an error of status OK, and a deadline or a stop that was
meant for it never comes again. Seen about once in a hundred cancellations on a busy machine; a worker that lost one
would hold up the controller's end for ever.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def cancellable(call: Awaitable[T]) -> T:
    """What `call` brings, unless we were cancelled meanwhile. Raises what the call raises, or CancelledError."""
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    try:
        return await call
    finally:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError
