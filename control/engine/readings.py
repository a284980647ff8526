"""How many requests has each version served so far, and how did they end? What one look at the metrics may bring.

A source returns counts since the process began. Differencing is ours (`increments`; never rate()), since an increment
must count once or never.
"""

from collections.abc import Mapping
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
    gauge of requests that have begun and not ended, None where the source counts at completion only. Latency is
    cumulative counts by upper bucket edge in milliseconds.
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
    """A person's own metric, as its two counters: `total`, and what the query calls `bad`.

    Which direction is better is none of the source's business: it is asked of what is new (`polls`), since a difference
    of two counters may fall where neither does.
    """

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


def tally(counts: Counts) -> Tally:
    """Which of a series' counts blame the server. Requests that the caller abandoned are no answers of it."""
    failures = sum(n for code, n in counts.ended.items() if code in SERVER_FAULTS)
    abandoned = counts.ended.get(CANCELLED, 0)
    return Tally(counts.n - abandoned, failures, counts.retries, abandoned)


def merged(proxies: Reading, own: Reading) -> Reading:
    """Both sources' readings as one: requests as the proxies counted them, people's own metrics from elsewhere.

    What either missed is kept as readings of its own, oldest first: each brings what its own source had counted by
    then, and says nothing of the other.
    """
    return replace(
        proxies,
        at=max(proxies.at, own.at),
        unread=(*proxies.unread, *own.unread),
        ratios={**proxies.ratios, **own.ratios},
        histograms={**proxies.histograms, **own.histograms},
        gauges={**proxies.gauges, **own.gauges},
        troubles={**proxies.troubles, **own.troubles},
        earlier=tuple(sorted((*proxies.earlier, *own.earlier), key=lambda each: each.at)),
    )


def oldest_first(reading: Reading) -> tuple[Reading, ...]:
    """The reading and all that it brings from before, in the order in which they are learned."""
    before = (each for each in reading.earlier if each.at < reading.at)
    return (*sorted(before, key=lambda each: each.at), reading)
