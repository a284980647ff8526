"""What becomes of what people write into objects of the API server? The same as of what they ask of our own API.

Each piece of news is looked at once and wakes its shift. Whoever can't be served (the API server is away, another
controller has written) is served at the next news or look: nothing is lost, since the object still says it.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from control.api.shifts import Shifts
from control.engine.command import Command
from control.errors import Conflict, Refused, SpecError, TidegateError
from control.loop.feed import ShiftKey

AGAIN = 3
Later = Callable[[ShiftKey], None]


class Post(Protocol):
    """Where people's words come from, and where answers go."""

    def news(self) -> AsyncIterator[ShiftKey]: ...

    def is_going(self, key: ShiftKey) -> bool: ...

    async def hold_fast(self, key: ShiftKey) -> None: ...

    async def let_go(self, key: ShiftKey) -> None: ...

    async def command(self, key: ShiftKey) -> Command | None: ...

    async def answer(self, key: ShiftKey, command_id: str, sentence: str, *, refused: bool = False) -> None: ...


async def serve(post: Post, shifts: Shifts, invalid: Callable[[ShiftKey, str], Awaitable[None]], later: Later) -> None:
    """Serves all news until cancelled. `invalid` shows what is wrong with a document, `later` calls again."""
    async for key in post.news():
        await serve_one(post, shifts, key, invalid, later)


async def serve_one(
    post: Post, shifts: Shifts, key: ShiftKey, invalid: Callable[[ShiftKey, str], Awaitable[None]], later: Later
) -> None:
    try:
        await _taken(post, shifts, key)
    except SpecError as error:
        await _wrong(post, key, invalid, str(error))
    except Refused:
        pass
    except TidegateError:
        later(key)
    shifts.looks.wake_by_person(key)


async def _wrong(post: Post, key: ShiftKey, invalid: Callable[[ShiftKey, str], Awaitable[None]], message: str) -> None:
    """A document that was never right: what is wrong is shown; deleted, it goes, since it never had any traffic."""
    with contextlib.suppress(TidegateError):
        await (post.let_go(key) if post.is_going(key) else invalid(key, message))


async def _taken(post: Post, shifts: Shifts, key: ShiftKey) -> None:
    for _ in range(AGAIN):
        try:
            return await _once(post, shifts, key)
        except Conflict:
            continue
    return await _once(post, shifts, key)


async def _once(post: Post, shifts: Shifts, key: ShiftKey) -> None:
    if not post.is_going(key):
        await shifts.store.load(*key)  # one that was never right is told so, and nothing holds it
    await post.hold_fast(key)
    command = await post.command(key)
    if command is not None:
        await _command(post, shifts, key, command)
    if post.is_going(key):
        await shifts.delete(*key)


async def _command(post: Post, shifts: Shifts, key: ShiftKey, command: Command) -> None:
    try:
        result = await shifts.command(*key, command)
    except Refused as error:
        hint = f" ({error.hint})" if error.hint else ""
        await post.answer(key, command.id, f"{error.message}{hint}", refused=True)
    else:
        await post.answer(key, command.id, result.outcome)
