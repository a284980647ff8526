"""How do many waiters learn that something changed, without missing a change or queueing them?

A waiter remembers the beat that it saw last and waits for a later one; several beats in between are one.
"""

import asyncio


class Pulse:
    """A counter that can be awaited."""

    def __init__(self) -> None:
        self.beats = 0
        self._waiters: set[asyncio.Future[None]] = set()

    def beat(self) -> None:
        """Wakes everybody who waits."""
        self.beats += 1
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def after(self, seen: int) -> int:
        """The current beat, as soon as it is later than `seen`."""
        while self.beats <= seen:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
        return self.beats
