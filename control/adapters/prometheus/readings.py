"""How do counted slots become a reading? Numbers of one key are put together, and each moment becomes one. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from control.adapters.prometheus.rounds import counted, milliseconds, moment, rounds
from control.adapters.prometheus.slots import Part, Slot
from control.adapters.prometheus.streams import Stream, Values
from control.engine.readings import Buckets, Counts, PodCounts, PodKey, Ratio, Reading, SeriesKey

Numbers = dict[tuple[Part, float], int]
K = TypeVar("K", SeriesKey, PodKey)


def readings(
    streams: Sequence[Stream], since: datetime | None, otherwise: datetime, awaited: Iterable[Stream] = ()
) -> Reading:
    """The newest reading, with those missed since `since` in its `earlier`. Its time is that of the newest scrape (of
    the newest that all `awaited` were in); with nothing newer it is `since`, and with nothing at all `otherwise`.
    """
    ends = rounds(streams, None if since is None else milliseconds(since), awaited)
    if not ends:
        return reading(since or otherwise, streams)
    made = [reading(moment(end), streams) for end in ends]
    return replace(made[-1], earlier=tuple(made[:-1]))


def reading(at: datetime, streams: Iterable[Stream]) -> Reading:
    """What all processes had counted at that time."""
    return reading_of(at, counted(streams, milliseconds(at)))


def reading_of(at: datetime, found: Values) -> Reading:
    """Slots as a reading."""
    series = [slot for slot in found if not slot.metric and isinstance(slot.key, SeriesKey)]
    pods = [slot for slot in found if isinstance(slot.key, PodKey)]
    return Reading(
        at=at,
        series={key: _counts(numbers) for key, numbers in _by_key(series, found, SeriesKey).items()},
        pods={key: _pod_counts(numbers) for key, numbers in _by_key(pods, found, PodKey).items()},
        ratios={name: _ratios(slots, found) for name, slots in _by_metric(found, Part.TOTAL, Part.BAD).items()},
        histograms={name: _histograms(slots, found) for name, slots in _by_metric(found, Part.BUCKET).items()},
    )


def _by_key(slots: Iterable[Slot], found: Values, kind: type[K]) -> dict[K, Numbers]:
    of_key: dict[K, Numbers] = {}
    for slot in slots:
        if isinstance(slot.key, kind):
            of_key.setdefault(slot.key, {})[slot.part, slot.at] = found[slot]
    return of_key


def _by_metric(found: Values, *parts: Part) -> dict[str, list[Slot]]:
    of_metric: dict[str, list[Slot]] = {}
    for slot in found:
        if slot.metric and slot.part in parts:
            of_metric.setdefault(slot.metric, []).append(slot)
    return of_metric


def _counts(numbers: Numbers) -> Counts:
    """Istio counts a request when it has ended: how many are under way, nobody knows."""
    return Counts(
        ended={int(code): n for (part, code), n in numbers.items() if part is Part.ENDED},
        retries=numbers.get((Part.RETRIES, 0), 0),
        in_flight=None,
        latency_ms={edge: n for (part, edge), n in numbers.items() if part is Part.LATENCY},
    )


def _pod_counts(numbers: Numbers) -> PodCounts:
    return PodCounts(n=numbers.get((Part.TRIES, 0), 0), bad=numbers.get((Part.BAD_TRIES, 0), 0))


def _ratios(slots: Iterable[Slot], found: Values) -> Mapping[SeriesKey, Ratio]:
    return {
        key: Ratio(n=numbers.get((Part.TOTAL, 0), 0), bad=numbers.get((Part.BAD, 0), 0))
        for key, numbers in _by_key(slots, found, SeriesKey).items()
    }


def _histograms(slots: Iterable[Slot], found: Values) -> Mapping[SeriesKey, Buckets]:
    return {
        key: {edge: n for (_, edge), n in numbers.items()} for key, numbers in _by_key(slots, found, SeriesKey).items()
    }
