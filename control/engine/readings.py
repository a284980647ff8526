"""How many requests has each version served, and how did they end? Counts, and the one function that differences them.

A source returns counts since the process began. Differencing is ours (never rate()), since an increment must count once
or never. A process is one incarnation of one proxy: a restarted proxy is another process, that counts from 0 if the
source was read before (its whole count is new), and is neutral at the very first reading.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, order=True)
class SeriesKey:
    """Whose counts: the version (subset) that served, the process that counted, the stratum (the proxy that sent)."""

    version: str
    process: str
    stratum: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Requests and tries since the process began.

    `ended` counts finished requests by gRPC status code; `retries` are tries after the first one; `in_flight` is a
    gauge of requests that have begun and not ended, None where the source counts at completion only. Latency is cumulative counts by upper bucket edge in milliseconds.
    """

    ended: Mapping[int, int] = field(default_factory=dict)
    retries: int = 0
    retries_exhausted: int = 0
    in_flight: int | None = 0
    latency_ms: Mapping[float, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return sum(self.ended.values())


@dataclass(frozen=True, slots=True, order=True)
class PodKey:
    """Who answered: the version (subset), the process that served (an endpoint's address, or a pod's name), and whose
    counter it is: one incarnation of one sending proxy, "" where the pod counts itself. Counts are differenced by key
    and then added up by pod: a sender that begins anew is another key, so that no sum over senders ever falls.
    """

    version: str
    pod: str
    counter: str = ""


@dataclass(frozen=True, slots=True)
class PodCounts:
    """Tries that one serving process ended, and those of them that it is to blame for, since it began."""

    n: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Ratio:
    """A person's own metric, as two counters: how many, and how many of those were bad."""

    n: int = 0
    bad: int = 0


Buckets = Mapping[float, int]
"""A histogram: cumulative counts by upper edge; the edge `inf` counts all. Units: those of the metric, made ms."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one look at the metrics brought. Processes that could not be read are named, never zero.

    `pods` are tries by serving process, empty where the source can't tell. `ratios`, `histograms` and `gauges` are
    people's own metrics by name; `troubles` says why one of those could not be read. `earlier` are readings that were
    missed since the last look, oldest first: they are learned before this one.
    """

    at: datetime
    series: Mapping[SeriesKey, Counts]
    unread: tuple[str, ...] = ()
    pods: Mapping[PodKey, PodCounts] = field(default_factory=dict)
    ratios: Mapping[str, Mapping[SeriesKey, Ratio]] = field(default_factory=dict)
    histograms: Mapping[str, Mapping[SeriesKey, Buckets]] = field(default_factory=dict)
    gauges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)
    earlier: tuple["Reading", ...] = ()


SERVER_FAULTS = frozenset({2, 4, 8, 12, 13, 14, 15})
"""gRPC codes that blame the server: UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL,
UNAVAILABLE, DATA_LOSS.
"""

CANCELLED = 1
"""The caller left, or its deadline passed before an answer: no outcome, but the version may have made it wait."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened in some span of time: requests that were answered, those of them that the server is to blame for,
    retries; and, beside them, requests that their callers abandoned.
    """

    requests: int = 0
    failures: int = 0
    retries: int = 0
    abandoned: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.requests + other.requests,
            self.failures + other.failures,
            self.retries + other.retries,
            self.abandoned + other.abandoned,
        )


Mark = tuple[str, str, str, int, int, int, int]
"""One series as far as it was used up: version, process, stratum, requests, failures, retries, abandoned."""
UNKNOWN = -1
"""In a mark: nobody knows how many were abandoned so far."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the counters have been used up. Opaque to everyone else; stored together with the evidence that used
    it.
    """

    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Increments:
    """What one reading added, a version and stratum. `versions` are those that the source answered about at all."""

    tallies: Mapping[tuple[str, str], Tally] = field(default_factory=dict)
    versions: frozenset[str] = frozenset()

    def total(self, version: str) -> Tally:
        return sum((each for (name, _), each in self.tallies.items() if name == version), Tally())

    @property
    def strata(self) -> tuple[str, ...]:
        return tuple(sorted({stratum for _, stratum in self.tallies}))


def increments(cursor: Cursor, reading: Reading) -> tuple[Increments, Cursor]:
    """What is new since `cursor`, and the cursor that has used it up.

    A proxy's very first reading is neutral, since nobody knows when its counts arose. Once it has been read, a
    process of it that appears counts from 0, and one that shrank has restarted: its whole count is new. A proxy that
    could not be read is neutral now and caught up, once, when it answers again.
    """
    known = {mark[:3]: Tally(*mark[3:]) for mark in cursor.marks}
    proxies = {mark[2] for mark in cursor.marks}
    tallies: dict[tuple[str, str], Tally] = {}
    marks = list(_kept(cursor.marks, reading))
    for key, counts in reading.series.items():
        before, now = known.get((key.version, key.process, key.stratum)), tally(counts)
        pair = key.version, key.stratum
        tallies[pair] = tallies.get(pair, Tally()) + _growth(before, now, key.stratum in proxies)
        marks.append(_mark(key, _used_up(before, now)))
    return Increments(tallies, frozenset(key.version for key in reading.series)), Cursor(tuple(sorted(marks)))


def tally(counts: Counts) -> Tally:
    """Which of a series' counts blame the server. Requests that the caller abandoned are no answers of it."""
    failures = sum(n for code, n in counts.ended.items() if code in SERVER_FAULTS)
    abandoned = counts.ended.get(CANCELLED, 0)
    return Tally(counts.n - abandoned, failures, counts.retries, abandoned)


def _growth(before: Tally | None, now: Tally, proxy_known: bool) -> Tally:
    if before is None:
        return now if proxy_known else Tally()
    if _restarted(before, now):
        return now
    return Tally(
        now.requests - before.requests,
        now.failures - before.failures,
        now.retries - before.retries,
        0 if before.abandoned == UNKNOWN else max(0, now.abandoned - before.abandoned),
    )


def _restarted(before: Tally, now: Tally) -> bool:
    """Did the process begin anew? `abandoned` tells nothing: a source may work it out from counters that it reads one
    after the other, so that it dips now and then.
    """
    return now.requests < before.requests or now.failures < before.failures or now.retries < before.retries


def _used_up(before: Tally | None, now: Tally) -> Tally:
    """What has been counted once `now` is: after a dip, what was counted before it."""
    if before is None or _restarted(before, now):
        return now
    return replace(now, abandoned=max(before.abandoned, now.abandoned))


def _mark(key: SeriesKey, used: Tally) -> Mark:
    return key.version, key.process, key.stratum, used.requests, used.failures, used.retries, used.abandoned


def _kept(marks: Iterable[Mark], reading: Reading) -> Iterable[Mark]:
    """Marks that this reading does not replace: unread proxies, and series missing from a process that still answers.

    A process that gave way to another of the same proxy is gone for good; its marks would only grow the state.
    """
    read = {(key.version, key.process, key.stratum) for key in reading.series}
    alive = {key.process for key in reading.series}
    succeeded = {key.stratum for key in reading.series}
    return (mark for mark in marks if mark[:3] not in read and (mark[2] not in succeeded or mark[1] in alive))
