"""What had a process counted at each of its scrapes? Samples put together again by the moment of their scrape. Pure.

All samples of one scrape carry the same time. A process that is scraped by two jobs, or by two Prometheus servers, has
two kinds of moments, never two counts: each moment has everything that was counted up to it.

The families of a stream (its requests, their durations) come by several queries. A scrape that was stored between two
of them is not whole yet and is left for the next look.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from control.adapters.prometheus.answer import Labels, Series
from control.adapters.prometheus.slots import Part, Slot, Slots

POD = ("pod", "kubernetes_pod_name", "pod_name")
NAMESPACE = ("namespace", "kubernetes_namespace")

Values = Mapping[Slot, int]
"""What a process had counted at some moment."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One series of a process: the slots that it adds to, and its value at each scrape (milliseconds since 1970)."""

    process: str
    instance: str
    slots: Slots
    values: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Stream:
    """All counters of one process. `times` are its whole scrapes, oldest first; `instances` the targets scraped."""

    process: str
    instances: frozenset[str]
    counters: tuple[Counter, ...]
    times: tuple[int, ...]

    @property
    def newest(self) -> int:
        return self.times[-1]

    def counts(self, part: Part) -> bool:
        """Does it have such numbers?"""
        return any(slot.part is part for counter in self.counters for slot, _ in counter.slots)

    def at(self, time: int) -> Values:
        """What it had counted at the scrape of that time."""
        found: dict[Slot, int] = {}
        for counter in self.counters:
            value = counter.values.get(time)
            for slot, worth in counter.slots if value is not None else ():
                found[slot] = found.get(slot, 0) + worth * round(value or 0)
        return found


def process(labels: Labels) -> str:
    """Whose counter a series of Istio's is: a pod has one proxy, however often it is scraped."""
    pod = next((labels[each] for each in POD if labels.get(each)), "")
    namespace = next((labels[each] for each in NAMESPACE if labels.get(each)), "")
    return "/".join(filter(None, (namespace, pod))) if pod else labels.get("instance", "")


def counters(
    series: Iterable[Series], of: Callable[[Labels], str], slots: Callable[[Labels, str], Slots]
) -> list[Counter]:
    """Series as counters of the process that `of` names; samples that are no numbers are no samples."""
    found = []
    for each in series:
        name = of(each.labels)
        values = {time: value for time, value in each.samples if math.isfinite(value)}
        if added := slots(each.labels, name):
            found.append(Counter(name, each.labels.get("instance", ""), added, values))
    return found


def streams(*families: Iterable[Counter]) -> dict[str, Stream]:
    """Streams by process. A process need not have counters of every family."""
    of_process: dict[str, list[list[Counter]]] = {}
    for place, family in enumerate(families):
        for counter in family:
            of_process.setdefault(counter.process, [[] for _ in families])[place].append(counter)
    made = (_stream(name, [each for each in found if each]) for name, found in of_process.items())
    return {stream.process: stream for stream in made if stream.times}


def _stream(name: str, families: list[list[Counter]]) -> Stream:
    moments = [{time for counter in family for time in counter.values} for family in families]
    members = tuple(counter for family in families for counter in family)
    instances = frozenset(counter.instance for counter in members)
    return Stream(name, instances, members, tuple(sorted(set.intersection(*moments))))


def trimmed(stream: Stream) -> Stream:
    """Its newest scrape alone."""
    time = stream.newest
    kept = (replace(each, values={time: each.values[time]}) for each in stream.counters if time in each.values)
    return replace(stream, counters=tuple(kept), times=(time,))
