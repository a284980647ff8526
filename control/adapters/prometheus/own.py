"""What do people's own metrics say? Their queries, asked a version at a time; what does not fit is told, never guessed.

A ratio and a histogram are selectors of counters: each process's counter is differenced by us, so that neither a
restart nor a pod that leaves looks like anything else. A gauge is any query that gives one number. A metric that can't
be read is a trouble of that metric alone.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import assert_never

from control.adapters.prometheus.answer import QueryRefused, Series
from control.adapters.prometheus.presence import Presence
from control.adapters.prometheus.promises import Broken, buckets, counter, gauge
from control.adapters.prometheus.selectors import span
from control.adapters.prometheus.server import PrometheusServer
from control.adapters.prometheus.slots import Part
from control.adapters.prometheus.streams import Stream, streams
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.spec.metric import GaugeQuery, HistogramQuery, RatioQuery, UserMetric
from control.spec.promql import rendered
from control.spec.shift import full_host

NO_SELECTOR = "ranges only allowed for vector selectors"


@dataclass(frozen=True, slots=True)
class Own:
    """What was read of people's own metrics: counters as streams, gauges by metric and version, and troubles."""

    streams: tuple[Stream, ...] = ()
    gauges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """One question about one metric, as of `now`. `window` is how far it reaches back."""

    query: MetricsQuery
    metric: UserMetric
    window: timedelta
    now: datetime

    def variables(self, version: str) -> Mapping[str, str]:
        """What the queries may name."""
        host = full_host(self.query.host, self.query.namespace)
        interval = f"{round(self.window / timedelta(milliseconds=1))}ms"
        service = host.partition(".")[0]
        names = {"namespace": self.query.namespace, "host": host, "service": service}
        return {**names, "version": version, "interval": interval}


class OwnMetrics:
    """Reads the metrics that a query names."""

    def __init__(self, server: PrometheusServer, presence: Presence) -> None:
        self._server = server
        self._presence = presence

    async def read(self, query: MetricsQuery, window: timedelta, now: datetime) -> Own:
        """Raises nothing: what could not be read is in `troubles`."""
        found = await asyncio.gather(*(self._metric(Look(query, each, window, now)) for each in query.metrics))
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
        answers = await _each_version(self._server, look, query.value, span="")
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
    name, by, reach = look.metric.name, query.by, span(look.window)
    totals, bad = await asyncio.gather(
        _each_version(server, look, query.total, reach), _each_version(server, look, query.bad, reach)
    )
    return streams(
        [each for version, series in totals for each in counter(series, version, name, Part.TOTAL, by)],
        [each for version, series in bad for each in counter(series, version, name, Part.BAD, by)],
    )


async def _histogram(server: PrometheusServer, look: Look, query: HistogramQuery) -> dict[str, Stream]:
    name, by, unit_ms = look.metric.name, query.by, query.unit.ms
    answers = await _each_version(server, look, query.buckets, span(look.window))
    return streams([each for version, series in answers for each in buckets(series, version, name, unit_ms, by)])


async def _each_version(
    server: PrometheusServer, look: Look, template: str, span: str
) -> list[tuple[str, tuple[Series, ...]]]:
    queries = [rendered(template, look.variables(version)) + span for version in look.query.versions]
    answers = await asyncio.gather(*(server.ask(query, look.now) for query in queries))
    return list(zip(look.query.versions, answers, strict=True))


def why(error: Exception) -> str:
    """What is wrong with a metric, for its author."""
    match error:
        case Broken():
            return f"the query gives {error}"
        case QueryRefused():
            return f"Prometheus refuses the query: {error}{_what_to_do(str(error))}"
        case Unavailable():
            return error.message + (f" ({error.hint})" if error.hint else "")
        case _:
            return f"the query can't be sent: {error}"


def _what_to_do(refusal: str) -> str:
    if NO_SELECTOR not in refusal:
        return ""
    return " (name a counter, as in my_errors_total{version=...}: it is differenced here, without rate() or sum())"
