"""Which shift is looked at next, and when? A level-triggered queue: a key means "look at it", never "this happened".

Adding a key twice is adding it once; the earlier time wins. A key that is being worked on is not given to a second
worker: adding it meanwhile makes it due again the moment the first is done, so that no change is missed and no shift
is ticked twice at once.
"""

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after the n-th failure in a row. Doubles up to a cap; the lower half is fixed, the upper random.

    Units: seconds. Example: base 0.5, cap 30: first 0.25-0.5, second 0.5-1, third 1-2, from the seventh on 15-30.
    """

    base_s: float = 0.5
    cap_s: float = 30.0

    def delay_s(self, failures: int, luck: float) -> float:
        """`luck` is uniform in 0 to 1."""
        whole = min(self.cap_s, self.base_s * 2.0 ** min(failures - 1, 60))
        return whole * (0.5 + luck / 2)


class WorkQueue(Generic[K]):
    """Keys with the time at which each is due. `time` is a monotonic clock in seconds."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self._due: dict[K, float] = {}
        self._busy: set[K] = set()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._due)

    def add(self, key: K, *, after_s: float = 0.0) -> None:
        """Makes the key due after this time, or earlier if it already is."""
        due = self._time() + after_s
        self._due[key] = min(due, self._due.get(key, due))
        self._changed.set()

    def forget(self, key: K) -> None:
        self._due.pop(key, None)

    async def get(self) -> K:
        """Waits for the key that is due first, and gives it to the caller until `done`."""
        while True:
            ready, wait_s = self._next()
            if ready is not None:
                del self._due[ready]
                self._busy.add(ready)
                return ready
            await self._change_or(wait_s)

    def done(self, key: K) -> None:
        self._busy.discard(key)
        self._changed.set()

    def _next(self) -> tuple[K | None, float | None]:
        idle = {key: due for key, due in self._due.items() if key not in self._busy}
        if not idle:
            return None, None
        first = min(idle, key=idle.__getitem__)
        wait_s = idle[first] - self._time()
        return (first, 0.0) if wait_s <= 0 else (None, wait_s)

    async def _change_or(self, wait_s: float | None) -> None:
        self._changed.clear()
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return
