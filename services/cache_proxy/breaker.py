"""When is Redis left alone?

After some failures in a row. From then on no request waits for it; a prober asks at growing intervals whether it is
back, so that no caller ever pays for finding out. Only the prober closes an open breaker: an answer that was under way
when it opened proves nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

FIRST_PROBE = timedelta(milliseconds=100)
LAST_PROBE = timedelta(seconds=2)


@dataclass(slots=True)
class Breaker:
    """Open: nobody asks. It opens after `limit` failures in a row."""

    limit: int = 3
    is_open: bool = False
    _failures: int = 0

    def fail(self) -> bool:
        """Count a failure. True when this one opened the breaker."""
        self._failures += 1
        opened = not self.is_open and self._failures >= self.limit
        self.is_open = self.is_open or opened
        return opened

    def succeed(self) -> None:
        """Count a success: the failures before it are forgotten."""
        self._failures = 0

    def trip(self) -> None:
        """Open at once."""
        self.is_open = True

    def close(self) -> None:
        """Redis is back."""
        self._failures = 0
        self.is_open = False


def probe_delays(first: timedelta = FIRST_PROBE, last: timedelta = LAST_PROBE) -> Iterator[timedelta]:
    """How long to wait before each probe: doubling from `first` to `last`, endless."""
    delay = first
    while True:
        yield min(delay, last)
        delay = min(delay * 2, last)
