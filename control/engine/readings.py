"""How many requests has each version served, and how did they end? Cumulative counts, and the one function that differences them.

A source returns counts since the process began. Differencing is ours (never rate()), since an increment must count once
or never. A process is one incarnation of one proxy: a restarted proxy is another process, that counts from 0 if the source was read
before (its whole count is new), and is neutral at the very first reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
    gauge of requests that have begun and not ended. Latency is cumulative counts by upper bucket edge in milliseconds.
    """

    ended: Mapping[int, int] = field(default_factory=dict)
    retries: int = 0
    retries_exhausted: int = 0
    in_flight: int = 0
    latency_ms: Mapping[float, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return sum(self.ended.values())


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one look at the metrics brought. Processes that could not be read are named, never zero."""

    at: datetime
    series: Mapping[SeriesKey, Counts]
    unread: tuple[str, ...] = ()
