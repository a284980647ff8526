"""Does a cancellation that arrives together with an answer get lost? Not with `cancellable`.

grpc.aio awaits each unary call in a task of its own, which swallows a cancellation that comes in the moment when the
answer is there: the caller goes on with a result, or with an error of status OK, and a deadline or a stop that was
meant for it never comes again. Seen about once in a hundred cancellations on a busy machine; a worker that lost one
would hold up the controller's end for ever.
"""

import asyncio
import signal
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
AGAIN_S = 2.0


async def cancellable(call: Awaitable[T]) -> T:
    """What `call` brings, unless we were cancelled meanwhile. Raises what the call raises, or CancelledError."""
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0
    try:
        return await call
    finally:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError


async def until_interrupted(
    work: Coroutine[Any, Any, T], signals: Sequence[signal.Signals] = (signal.SIGINT,), *, again_s: float = AGAIN_S
) -> T:
    """What `work` brings. Raises KeyboardInterrupt, after it has cleaned up, when one of the signals comes first.

    It is cancelled again every `again_s` seconds until it ends: one cancellation may get lost, and Ctrl-C must not.
    Cleaning up must be quicker than that.
    """
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)

    def stop() -> None:
        if not task.done():
            task.cancel()
            loop.call_later(again_s, stop)

    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
