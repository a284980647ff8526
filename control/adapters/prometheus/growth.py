"""How much did a process's counters grow within a span of the past? Scrape by scrape, resets included. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from control.adapters.prometheus.slots import Slot
from control.adapters.prometheus.streams import Stream, Values


@dataclass(slots=True)
class Growth:
    """Adds up what was counted after `begin`, stretch by stretch, oldest first. Units: milliseconds since 1970."""

    begin: int
    total: dict[Slot, int] = field(default_factory=dict)
    _last: dict[str, Values] = field(default_factory=dict)
    _seen: dict[str, int] = field(default_factory=dict)

    def add(self, streams: Iterable[Stream]) -> None:
        """The next stretch; scrapes that the one before had are passed over."""
        for stream in streams:
            for time in stream.times:
                if time > self._seen.get(stream.process, -1):
                    self._scrape(stream.process, time, stream.at(time))

    def _scrape(self, process: str, time: int, now: Values) -> None:
        before = self._last.get(process)
        if before is not None and time > self.begin:
            for slot, new in grown(before, now).items():
                self.total[slot] = self.total.get(slot, 0) + new
        self._last[process], self._seen[process] = now, time


def grown(before: Mapping[Slot, int], now: Values) -> Values:
    """From one scrape of a process to the next. A counter that is new in it began at 0; where any fell, all began anew.

    Example: 5 and 2, then 7 and 2: 2 and 0. Then 3 and 2: 3 and 2.
    """
    if any(n < before.get(slot, 0) for slot, n in now.items()):
        return dict(now)
    return {slot: n - before.get(slot, 0) for slot, n in now.items()}
