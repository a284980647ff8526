"""What do people's own metrics say? Their queries, asked a version at a time; what does not fit is told, never guessed.

A ratio and a histogram are counters: each process's is differenced by us, so that neither a restart nor a pod that
leaves looks like anything else. A gauge is any query that gives one number. A metric that can't be read is a trouble of
that metric alone.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import assert_never

from control.adapters.prometheus.answer import QueryRefused, Series
from control.adapters.prometheus.presence import Presence
from control.adapters.prometheus.promises import Broken, buckets, counter, gauge
from control.adapters.prometheus.selectors import reaching, span
from control.adapters.prometheus.server import PrometheusServer
from control.adapters.prometheus.slots import Part
from control.adapters.prometheus.streams import Stream, streams
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.spec.metric import GaugeQuery, HistogramQuery, RatioQuery, UserMetric
from control.spec.promql import rendered
from control.spec.shift import full_host

Answer = tuple[Series, ...]

SCRAPES = 5
"""So many scrape intervals are what queries may name as `{{ interval }}`: enough for a rate()."""


@dataclass(frozen=True, slots=True)
class Own:
    """What was read of people's own metrics: counters as streams, gauges by metric and version, and troubles."""

    streams: tuple[Stream, ...] = ()
    gauges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """One question about one metric, as of `now`. `window` is how far it reaches back, `interval` the time between two
    scrapes.
    """

    query: MetricsQuery
    metric: UserMetric
    window: timedelta
    now: datetime
    interval: timedelta

    def variables(self, version: str) -> Mapping[str, str]:
        """What the queries may name."""
        host = full_host(self.query.host, self.query.namespace)
        interval = span(SCRAPES * self.interval).strip("[]")
        service = host.partition(".")[0]
        names = {"namespace": self.query.namespace, "host": host, "service": service}
        return {**names, "version": version, "interval": interval}


class OwnMetrics:
    """Reads the metrics that a query names."""

    def __init__(self, server: PrometheusServer, presence: Presence, interval: timedelta) -> None:
        self._server = server
        self._presence = presence
        self._interval = interval

    async def read(self, query: MetricsQuery, window: timedelta, now: datetime) -> Own:
        """Raises nothing: what could not be read is in `troubles`."""
        looks = [Look(query, each, window, now, self._interval) for each in query.metrics]
        found = await asyncio.gather(*(self._metric(look) for look in looks))
        return Own(
            tuple(stream for each in found for stream in each.streams),
            {name: values for each in found for name, values in each.gauges.items()},
            {name: why for each in found for name, why in each.troubles.items()},
        )

    async def _metric(self, look: Look) -> Own:
        try:
            if isinstance(look.metric.query, GaugeQuery):
                return Own(gauges={look.metric.name: await self._gauge(look, look.metric.query)})
            return await self._present(look, await counted_of_own(self._server, look))
        except (Broken, QueryRefused, ValueError, Unavailable) as error:
            return Own(troubles={look.metric.name: why(error)})

    async def _gauge(self, look: Look, query: GaugeQuery) -> dict[str, float]:
        queries = [rendered(query.value, look.variables(version)) for version in look.query.versions]
        answers = zip(look.query.versions, await _answers(self._server, queries, look.now), strict=True)
        values = {version: gauge(series) for version, series in answers}
        return {version: value for version, value in values.items() if value is not None}

    async def _present(self, look: Look, found: Mapping[str, Stream]) -> Own:
        """The streams, and a trouble when some process that should have answered did not."""
        what = (look.metric, look.query.namespace, look.query.host, look.query.versions)
        present = await self._presence.of(what, found, look.now)
        if present.unread:
            return Own(present.streams, troubles={look.metric.name: f"not scraped: {', '.join(present.unread)}"})
        if present.streams and not present.scraped:
            return Own(present.streams, troubles={look.metric.name: "no process that counts it was scraped lately"})
        return Own(present.streams)


async def counted_of_own(server: PrometheusServer, look: Look) -> dict[str, Stream]:
    """A metric's counters as streams; a gauge has none. Raises Broken, QueryRefused, ValueError, Unavailable."""
    match look.metric.query:
        case RatioQuery() as query:
            return await _ratio(server, look, query)
        case HistogramQuery() as query:
            return await _histogram(server, look, query)
        case GaugeQuery():
            return {}
        case other:
            assert_never(other)


async def _ratio(server: PrometheusServer, look: Look, query: RatioQuery) -> dict[str, Stream]:
    name, by = look.metric.name, query.by
    totals, bad = await _counters(server, look, query.total, query.bad)
    return streams(
        [each for version, series in totals for each in counter(series, version, name, Part.TOTAL, by)],
        [each for version, series in bad for each in counter(series, version, name, Part.BAD, by)],
    )


async def _histogram(server: PrometheusServer, look: Look, query: HistogramQuery) -> dict[str, Stream]:
    name, by, unit_ms = look.metric.name, query.by, query.unit.ms
    (answers,) = await _counters(server, look, query.buckets)
    return streams([each for version, series in answers for each in buckets(series, version, name, unit_ms, by)])


async def _counters(server: PrometheusServer, look: Look, *templates: str) -> list[list[tuple[str, Answer]]]:
    """What each counter's query brings, by version."""
    versions = look.query.versions
    queries = [rendered(each, look.variables(version)) for each in templates for version in versions]
    answers = await _answers(server, reaching(queries, look.window, look.interval), look.now)
    parts = [answers[start : start + len(versions)] for start in range(0, len(answers), len(versions))]
    return [list(zip(versions, part, strict=True)) for part in parts]


async def _answers(server: PrometheusServer, queries: Iterable[str], now: datetime) -> list[Answer]:
    return await asyncio.gather(*(server.ask(query, now) for query in queries))


def why(error: Exception) -> str:
    """What is wrong with a metric, for its author."""
    match error:
        case Broken():
            return f"the query gives {error}"
        case QueryRefused():
            return f"Prometheus refuses the query: {error}"
        case Unavailable():
            return error.message + (f" ({error.hint})" if error.hint else "")
        case _:
            return f"the query can't be sent: {error}"
