"""By how much was the clock set since a shift was last looked at? Told by the clock that nobody sets."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from control.loop.feed import ShiftKey

LEAST = timedelta(seconds=2)
"""Less than this between two looks is a clock that is led to the right time little by little, as it should be."""


def steady_s() -> float:
    """Seconds since the machine began, its sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ClockSteps:
    """Remembers for each shift how far the clock was ahead of the steady one when it was looked at last."""

    def __init__(self, steady: Callable[[], float] = steady_s) -> None:
        self._steady = steady
        self._ahead_s: dict[ShiftKey, float] = {}

    def since(self, key: ShiftKey, now: datetime) -> timedelta:
        """Zero for a shift that was not looked at yet, and where the clock was not set."""
        ahead_s = self._ahead(now)
        by = timedelta(seconds=ahead_s - self._ahead_s.get(key, ahead_s))
        return by if abs(by) >= LEAST else timedelta(0)

    def looked(self, key: ShiftKey, now: datetime) -> None:
        """The look at `now` was carried out."""
        self._ahead_s[key] = self._ahead(now)

    def _ahead(self, now: datetime) -> float:
        return now.timestamp() - self._steady()
