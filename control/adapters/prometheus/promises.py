"""Does an answer about a person's own metric keep what its query promised? One series a version, stratum and process,
of numbers that a counter can have. What does not is a sentence for that person, never a guess. Pure.
"""

import math
from collections.abc import Iterable
from functools import partial

from control.adapters.prometheus.answer import Labels, Series
from control.adapters.prometheus.slots import Part, Slot, Slots
from control.adapters.prometheus.streams import Counter, counters, process
from control.engine.readings import SeriesKey

EDGE = "le"
SHOWN = 3


class Broken(Exception):
    """The answer is not what was promised; the message says to the author of the query how it differs."""


def counter(series: Iterable[Series], version: str, metric: str, part: Part, by: tuple[str, ...]) -> list[Counter]:
    """A counter's series, by process and stratum. Raises Broken."""
    found = list(series)
    _one_each(found, by)
    return counters(found, own_process, partial(_slots, version=version, metric=metric, part=part, by=by))


def buckets(series: Iterable[Series], version: str, metric: str, unit_ms: float, by: tuple[str, ...]) -> list[Counter]:
    """A histogram's series, by process, stratum and upper edge. Raises Broken."""
    found = list(series)
    if any(EDGE not in each.labels for each in found):
        raise Broken("series without the label le; the query must select a metric that ends in _bucket")
    _one_each(found, (*by, EDGE))

    def slots(labels: Labels, name: str) -> Slots:
        key = SeriesKey(version, name, _stratum(labels, by))
        return ((Slot(Part.BUCKET, key, _edge(labels[EDGE], unit_ms), metric), 1),)

    return counters(found, own_process, slots)


def gauge(series: Iterable[Series]) -> float | None:
    """The one value of a gauge, None when there is none. Raises Broken."""
    found = list(series)
    if len(found) > 1:
        raise Broken(_several(found[0].labels, found[1].labels, len(found)))
    if found and not math.isfinite(found[0].last[1]):
        raise Broken(f"{_shown(found[0].last[1])}, which nothing can be compared with (a division by nothing?)")
    return found[0].last[1] if found else None


def own_process(labels: Labels) -> str:
    """Whose counter a series is: the target that was scraped."""
    return labels.get("instance") or process(labels)


def _one_each(series: Iterable[Series], by: tuple[str, ...]) -> None:
    first: dict[tuple[str, ...], Labels] = {}
    for each in series:
        place = own_process(each.labels), *(each.labels.get(name, "") for name in by)
        if place in first:
            raise Broken(_several(first[place], each.labels, 2))
        first[place] = each.labels
        _sound(each)


def _sound(series: Series) -> None:
    """A counter counts: no NaN, no infinity, nothing below 0."""
    wrong = next((value for _, value in series.samples if not (math.isfinite(value) and value >= 0)), None)
    if wrong is not None:
        raise Broken(f"{_shown(wrong)} from {own_process(series.labels) or 'a series'}, which no counter can be")


def _shown(value: float) -> str:
    """As Prometheus writes it: NaN, +Inf, -3.5."""
    return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}.get(f"{value:g}", f"{value:g}")


def _several(one: Labels, other: Labels, count: int) -> str:
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    differ = ", ".join(f"{name} ({one.get(name, '')!r}, {other.get(name, '')!r})" for name in names[:SHOWN])
    several = "several" if count == 2 else str(count)
    return f"{several} series where one was promised; they differ in {differ or 'nothing that has a name'}"


def _slots(labels: Labels, name: str, *, version: str, metric: str, part: Part, by: tuple[str, ...]) -> Slots:
    return ((Slot(part, SeriesKey(version, name, _stratum(labels, by)), metric=metric), 1),)


def _stratum(labels: Labels, by: tuple[str, ...]) -> str:
    """Example: route=/buy,tenant=a."""
    return ",".join(f"{name}={labels.get(name, '')}" for name in by)


def _edge(text: str, unit_ms: float) -> float:
    """Example: 0.07 of seconds is 70 ms, not 70.00000000000001."""
    try:
        return float(f"{float(text) * unit_ms:.9g}")
    except ValueError:
        raise Broken(f"a bucket with the edge {text!r}, which is no number") from None
