"""Which processes are read, which can't be, and which are gone? Judged by the age of their newest scrape.

A process that was not scraped for three intervals is asked about: Prometheus's own `up` says whether it still knows the
target. A target that is known and not scraped is unread. One that is gone has its final counts. One that is scraped and
has no counters any more began anew and has served nothing yet.

What a process had counted is remembered for a while, so that a series that drops out of an answer (a slow scrape, a
replica of Prometheus that is behind) does not look like a counter that begins anew when it is back.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.rounds import milliseconds
from control.adapters.prometheus.streams import Stream, trimmed

MISSED = 3
REMEMBERED = timedelta(minutes=15)
Up = Callable[[Iterable[str], datetime], Awaitable[Iterable[Series]]]


@dataclass(frozen=True, slots=True)
class Present:
    """All streams that count, those whose process is `unread`, and those that were scraped lately."""

    streams: tuple[Stream, ...] = ()
    unread: tuple[str, ...] = ()
    scraped: frozenset[str] = frozenset()


class Presence:
    """Remembers processes by what they were asked for. `up` brings the samples of `up` of some targets."""

    def __init__(self, up: Up, interval: timedelta) -> None:
        self._up = up
        self._patience = MISSED * interval
        self._known: dict[Hashable, dict[str, Stream]] = {}

    async def of(self, what: Hashable, found: Mapping[str, Stream], now: datetime) -> Present:
        """Who is there, of those found now and those known before. Raises Unavailable."""
        streams = _newest(self._known.get(what, {}), found, now)
        late = [each for each in streams.values() if self._late(each.newest, now)]
        targets = await self._targets(late, now)
        self._remember(what, streams, now)
        unread = [each.process for each in late if not _answers(each, targets, default=True)]
        gone_or_unread = {each.process for each in late if not _answers(each, targets, default=False)}
        return Present(tuple(streams.values()), tuple(sorted(unread)), frozenset(streams.keys() - gone_or_unread))

    async def _targets(self, late: Iterable[Stream], now: datetime) -> dict[str, bool]:
        """Whether each known target was scraped lately; unknown ones are not in it."""
        instances = {instance for stream in late for instance in stream.instances}
        targets = dict.fromkeys(("",), False) if "" in instances else {}
        for series in await self._up(instances - {""}, now) if instances - {""} else ():
            instance, (time, value) = series.labels.get("instance", ""), series.last
            targets[instance] = targets.get(instance, False) or (value == 1 and not self._late(time, now))
        return targets

    def _late(self, time: int, now: datetime) -> bool:
        return time < milliseconds(now - self._patience)

    def _remember(self, what: Hashable, streams: Mapping[str, Stream], now: datetime) -> None:
        self._known[what] = {name: trimmed(stream) for name, stream in streams.items()}
        oldest = milliseconds(now - REMEMBERED)
        self._known = {
            key: streams
            for key, streams in self._known.items()
            if key == what or any(each.newest > oldest for each in streams.values())
        }


def _newest(known: Mapping[str, Stream], found: Mapping[str, Stream], now: datetime) -> dict[str, Stream]:
    """The streams of both; of each process the newer one."""
    oldest = milliseconds(now - REMEMBERED)
    kept = {name: stream for name, stream in known.items() if stream.newest > oldest}
    newer = {name: stream for name, stream in found.items() if name not in kept or stream.newest >= kept[name].newest}
    return kept | newer


def _answers(stream: Stream, targets: Mapping[str, bool], *, default: bool) -> bool:
    """Is one of its targets scraped? `default` for a process none of whose targets is known any more."""
    known = [targets[each] for each in stream.instances if each in targets]
    return any(known) if known else default
