"""Readings for tests, in order of time, and what one of them added."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from control.engine.cursor import Cursor
from control.engine.increments import LATENCY, Increments, increments
from control.engine.readings import Counts, PodCounts, PodKey, Ratio, Reading, SeriesKey
from tests.support.fake_ports import START

Row = tuple[str, str, int] | tuple[str, str, int, int, int] | tuple[str, str, int, int, int, int]
POLL = timedelta(seconds=5)
_TICKS = count(1)


def reading(*rows: Row, unread: tuple[str, ...] = (), at: datetime | None = None) -> Reading:
    """Rows of version, process as proxy#incarnation, requests, and perhaps failures, retries and abandoned ones.

    Each is newer than the last one that was made, unless its time is given.
    """
    series = {}
    for version, process, requests, *rest in rows:
        bad, retries, left = (*rest, 0, 0, 0)[:3]
        key = SeriesKey(version, process, process.partition("#")[0])
        series[key] = Counts({0: requests - bad, 1: left, 14: bad}, retries)
    return Reading(at or START + next(_TICKS) * POLL, series, unread)


def one(cursor: Cursor, new: Reading) -> tuple[Increments, Cursor]:
    """What one reading added that brings nothing from before."""
    (found,), used = increments(cursor, new)
    return found, used


def served(*pods: tuple[str, str, int, int], version: str = "v2") -> Reading:
    """Rows of pod, whose counter, tries and bad ones."""
    counts = {PodKey(version, pod, counter): PodCounts(n, bad) for pod, counter, n, bad in pods}
    return replace(reading((version, "gw#1", 0)), pods=counts)


def measured(*rows: tuple[str, Mapping[float, float]], name: str = "ttft") -> Reading:
    """Rows of process and cumulative buckets, of latency or of a metric of one's own."""
    keys = {SeriesKey("v2", process, process.partition("#")[0]): buckets for process, buckets in rows}
    made = reading(("v2", "gw#1", 0))
    if name == LATENCY:
        return replace(made, series={key: Counts(latency_ms=each) for key, each in keys.items()})  # type: ignore[arg-type]
    return replace(made, histograms={name: keys})  # type: ignore[dict-item]


def own(*rows: tuple[str, str, float, float]) -> Reading:
    """Rows of process, stratum, all and bad ones of a metric of one's own."""
    made = {SeriesKey("v2", process, stratum): Ratio(n, bad) for process, stratum, n, bad in rows}  # type: ignore[arg-type]
    return replace(reading(("v2", "gw#1", 0)), ratios={"misses": made})
