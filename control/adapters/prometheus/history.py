"""What was counted in a span of the past? Read in stretches, so that a day of many proxies is no answer of its own."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from control.adapters.prometheus.answer import QueryRefused
from control.adapters.prometheus.counted import counted, retries_are_counted
from control.adapters.prometheus.families import fetch
from control.adapters.prometheus.growth import Growth
from control.adapters.prometheus.own import Look, counted_of_own, why
from control.adapters.prometheus.promises import Broken
from control.adapters.prometheus.readings import reading_of
from control.adapters.prometheus.rounds import milliseconds
from control.adapters.prometheus.selectors import Subject
from control.adapters.prometheus.server import PrometheusServer
from control.adapters.prometheus.streams import Stream
from control.engine.readings import Reading
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.spec.shift import full_host

STRETCH = timedelta(hours=1)
LONGEST = timedelta(days=1)
BEFORE = 3
"""So many scrape intervals before a stretch, the scrape that its first one is differenced against is looked for."""


class PrometheusHistory:
    """The History port on a Prometheus that scrapes its targets each `interval`."""

    def __init__(self, server: PrometheusServer, *, interval: timedelta) -> None:
        self._server = server
        self._interval = interval

    async def window(self, query: MetricsQuery, begin: datetime, end: datetime) -> Reading:
        if not timedelta(0) < end - begin <= LONGEST:
            raise Unavailable(f"a window from {begin} to {end} can't be read", hint="it may last a day at most")
        built_in = Growth(milliseconds(begin))
        own = {metric.name: Growth(milliseconds(begin)) for metric in query.metrics}
        troubles: dict[str, str] = {}
        for start, stop in _stretches(begin, end):
            width = stop - start + BEFORE * self._interval
            built_in.add(await self._counted(query, width, stop))
            troubles |= await self._own(query, width, stop, own)
        if not built_in.total:
            nothing = f"Prometheus has no requests of {query.host} from {begin} to {end}"
            raise Unavailable(nothing, hint="does it keep its data so long?")
        of_own = {slot: n for name, each in own.items() if name not in troubles for slot, n in each.total.items()}
        return replace(reading_of(end, {**built_in.total, **of_own}), troubles=troubles)

    async def _counted(self, query: MetricsQuery, width: timedelta, stop: datetime) -> Iterable[Stream]:
        subject = Subject(full_host(query.host, query.namespace), query.versions)
        table = await fetch(self._server, frozenset((subject,)), width, stop)
        return counted(table, subject, by_envoy=retries_are_counted(table, subject)).values()

    async def _own(
        self, query: MetricsQuery, width: timedelta, stop: datetime, growth: dict[str, Growth]
    ) -> dict[str, str]:
        looks = [Look(query, metric, width, stop, self._interval) for metric in query.metrics]
        answers = await asyncio.gather(*(counted_of_own(self._server, look) for look in looks), return_exceptions=True)
        troubles: dict[str, str] = {}
        for look, found in zip(looks, answers, strict=True):
            match found:
                case Broken() | QueryRefused() | ValueError() | Unavailable():
                    troubles[look.metric.name] = why(found)
                case BaseException():
                    raise found
                case streams:
                    growth[look.metric.name].add(streams.values())
        return troubles


def _stretches(begin: datetime, end: datetime) -> Iterable[tuple[datetime, datetime]]:
    start = begin
    while start < end:
        stop = min(start + STRETCH, end)
        yield start, stop
        start = stop
