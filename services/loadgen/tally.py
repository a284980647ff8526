"""What came back: how many, how well, how fast, from which version?

`Tally` adds outcomes up and renders them as the JSON that the load generator prints. It reads no clock.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hdrh.histogram import HdrHistogram

UNKNOWN = "unknown"
OK = "OK"
MAX_LATENCY_US = 600_000_000
QUANTILES = (50.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one request ended.

    `status` is OK, the name of the final gRPC status, ITEM_<name> when the call succeeded but its text did not, or
    NOT_SENT. `version` and `attempts` are what the answer's trailing metadata says, `unknown` and None without it.
    Units: `latency_s` counts from the intended send time.
    """

    status: str
    latency_s: float
    ended_at: datetime
    version: str = UNKNOWN
    attempts: int | None = None
    cache: str | None = None
    first_segment_s: float | None = None

    @property
    def failed(self) -> bool:
        return self.status != OK

    @property
    def retried(self) -> bool:
        return self.attempts is not None and self.attempts > 1


def _histogram() -> HdrHistogram:
    return HdrHistogram(1, MAX_LATENCY_US, 2)  # 2 digits: every value within 1 %


@dataclass(slots=True)
class Latency:
    """A histogram of seconds with quantiles in milliseconds, each right within 1 %."""

    histogram: HdrHistogram = field(default_factory=_histogram)
    max_us: int = 0

    def add(self, latency_s: float) -> None:
        micros = min(max(1, round(latency_s * 1e6)), MAX_LATENCY_US)
        self.histogram.record_value(micros)
        self.max_us = max(self.max_us, micros)

    def to_json(self) -> dict[str, float | None]:
        if not self.histogram.total_count:
            return dict.fromkeys(("p50Ms", "p95Ms", "p99Ms", "p999Ms", "maxMs"))
        found = self.histogram.get_percentile_to_value_dict(list(QUANTILES))
        p50, p95, p99, p999 = (round(min(found[quantile], self.max_us) / 1000, 3) for quantile in QUANTILES)
        return {"p50Ms": p50, "p95Ms": p95, "p99Ms": p99, "p999Ms": p999, "maxMs": round(self.max_us / 1000, 3)}


@dataclass(slots=True)
class VersionTally:
    """Requests that one version answered last."""

    n: int = 0
    failed: int = 0
    attempts: Counter[str] = field(default_factory=Counter)
    latency: Latency = field(default_factory=Latency)

    def add(self, outcome: Outcome) -> None:
        self.n += 1
        self.failed += outcome.failed
        self.attempts[str(outcome.attempts or UNKNOWN)] += 1
        self.latency.add(outcome.latency_s)

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, "failed": self.failed, "attempts": _sorted(self.attempts), **self.latency.to_json()}


@dataclass(slots=True)
class Tally:
    """The outcomes of one stretch of time: a second, or the whole run."""

    sent: int = 0
    done: int = 0
    failed: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    cache: Counter[str] = field(default_factory=Counter)
    versions: dict[str, VersionTally] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    first_segment: Latency = field(default_factory=Latency)
    first_failure_at: datetime | None = None
    first_retry_at: datetime | None = None

    def send(self) -> None:
        self.sent += 1

    def add(self, outcome: Outcome) -> None:
        self.done += 1
        self.failed += outcome.failed
        self.statuses[outcome.status] += 1
        self.latency.add(outcome.latency_s)
        self.versions.setdefault(outcome.version, VersionTally()).add(outcome)
        if outcome.cache:
            self.cache[outcome.cache] += 1
        if outcome.first_segment_s is not None:
            self.first_segment.add(outcome.first_segment_s)
        if outcome.failed:
            self.first_failure_at = _earlier(self.first_failure_at, outcome.ended_at)
        if outcome.retried:
            self.first_retry_at = _earlier(self.first_retry_at, outcome.ended_at)

    def to_json(self) -> dict[str, Any]:
        """The stretch as one JSON object; `sent` may exceed ok + failed by the calls still in flight."""
        return {
            "sent": self.sent,
            "ok": self.done - self.failed,
            "failed": self.failed,
            **self.latency.to_json(),
            "statuses": _sorted(self.statuses),
            "cache": _sorted(self.cache),
            "versions": {name: self.versions[name].to_json() for name in sorted(self.versions)},
            "firstFailureAt": timestamp(self.first_failure_at),
            "firstRetryAt": timestamp(self.first_retry_at),
        }

    def stream_json(self) -> dict[str, float | None]:
        """Quantiles of the time to a stream's first segment."""
        return self.first_segment.to_json()


def timestamp(moment: datetime | None) -> str | None:
    """RFC 3339 with milliseconds, or None."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None


def _earlier(known: datetime | None, new: datetime) -> datetime:
    return new if known is None else min(known, new)


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def added(tallies: Iterable[Tally], outcome: Outcome) -> None:
    """Add one outcome to several stretches at once."""
    for tally in tallies:
        tally.add(outcome)
