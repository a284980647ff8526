"""Which moments of looking are there since the last look? One a round: in a round each process was scraped once. Pure.

After an outage of ours the rounds are the gap replayed: a counter that fell in it is seen to fall. What a process has
not counted anew is what it had counted before, so that nothing comes or goes with the order of scrapes.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from control.adapters.prometheus.slots import Slot
from control.adapters.prometheus.streams import Stream


def rounds(streams: Sequence[Stream], since: int | None, awaited: Iterable[Stream] = ()) -> tuple[int, ...]:
    """The moments at which a round was complete, in milliseconds since 1970, oldest first. Without `since` only the
    newest scrape counts. A last round that lacks any of `awaited` is left for the next look.

    Example: scrapes of a at 1 and 4, of b at 2 and 5, since 0: rounds end at 2 and 5. Before the scrape at 5: at 2 and
    4, or at 2 alone if b is awaited.
    """
    if since is None:
        return (max(stream.newest for stream in streams),) if streams else ()
    scrapes = sorted((time, n) for n, stream in enumerate(streams) for time in stream.times if time > since)
    ends: list[int] = []
    seen: set[int] = set()
    for place, (_, n) in enumerate(scrapes):
        if n in seen:
            ends.append(scrapes[place - 1][0])
            seen.clear()
        seen.add(n)
    whole = {id(each) for each in awaited} <= {id(streams[n]) for n in seen}
    return (*ends, scrapes[-1][0]) if scrapes and whole else tuple(ends)


def counted(streams: Iterable[Stream], at: int) -> dict[Slot, int]:
    """What all processes had counted at their last scrapes up to `at`."""
    found: dict[Slot, int] = {}
    for stream in streams:
        if before := bisect_right(stream.times, at):
            found |= stream.at(stream.times[before - 1])
    return found


def moment(time: int) -> datetime:
    """Milliseconds since 1970 as a time."""
    return datetime.fromtimestamp(time / 1000, UTC)


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
