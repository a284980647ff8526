"""How have both versions' requests ended so far, as Prometheus knows it? Istio's standard metrics and people's own.

Everything is a raw counter: the engine differences it, so that a request counts once or never. A reading's time is
that of its newest scrape, which lags behind now by up to a scrape interval; what was missed since the last look comes
as readings of its own.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from control.adapters.prometheus import selectors
from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.counted import counted, retries_are_counted
from control.adapters.prometheus.families import asked, fetch
from control.adapters.prometheus.grouped import Grouped
from control.adapters.prometheus.own import OwnMetrics
from control.adapters.prometheus.presence import Presence, Present
from control.adapters.prometheus.readings import readings
from control.adapters.prometheus.rounds import milliseconds
from control.adapters.prometheus.selectors import Subject
from control.adapters.prometheus.server import PrometheusServer
from control.adapters.prometheus.slots import Part
from control.adapters.prometheus.streams import Stream
from control.engine.readings import Reading
from control.errors import Unavailable
from control.ports import Clock, MetricsQuery
from control.spec.shift import Source, full_host

KNOWN_TARGETS = timedelta(minutes=5)
LONGEST_GAP = timedelta(hours=1)
SCRAPES = 5
USED_AGAIN_S = 1.0


class PrometheusMetrics:
    """The Metrics port on a Prometheus that scrapes its targets each `interval`. It owns connections: `close` it."""

    def __init__(self, server: PrometheusServer, clock: Clock, *, interval: timedelta) -> None:
        self._server = server
        self._clock = clock
        self._interval = interval
        fresh_for = min(timedelta(seconds=USED_AGAIN_S), interval / 10)
        self._grouped = Grouped(partial(fetch, server), clock, fresh_for=fresh_for)
        self._presence = Presence(self._up, interval)
        self._own = OwnMetrics(server, self._presence, interval)
        self._by_envoy: set[Subject] = set()

    async def close(self) -> None:
        await self._grouped.close()
        await self._server.close()

    async def read(self, query: MetricsQuery) -> Reading:
        """The built-in counters if `query.source` is Prometheus, and people's own metrics. Raises Unavailable."""
        now = self._clock.now()
        window = self._window(query.since, now)
        present, own = await asyncio.gather(self._counted(query, window, now), self._own.read(query, window, now))
        found = readings((*present.streams, *own.streams), query.since, now, self._awaited(query, present))
        return replace(found, unread=present.unread, gauges=own.gauges, troubles=own.troubles)

    async def _counted(self, query: MetricsQuery, window: timedelta, now: datetime) -> Present:
        if query.source is not Source.PROMETHEUS:
            return Present()
        subject = _subject(query)
        table = await self._grouped.table(subject, window)
        if retries_are_counted(table, subject):
            self._by_envoy.add(subject)
        found = counted(table, subject, by_envoy=subject in self._by_envoy)
        present = await self._presence.of(subject, found, now)
        self._some_caller_scraped(subject, present, now)
        return present

    def _awaited(self, query: MetricsQuery, present: Present) -> Iterable[Stream]:
        """Whose scrapes must come together: requests and the failed tries that stand for their retries are counted by
        different processes, and what one of them has counted alone is no rate.
        """
        if query.source is not Source.PROMETHEUS or _subject(query) in self._by_envoy:
            return ()
        return [stream for stream in present.streams if stream.process in present.scraped]

    def _some_caller_scraped(self, subject: Subject, present: Present, now: datetime) -> None:
        """Counters of callers that are all old say nothing about now: that is blindness, not silence."""
        callers = [stream for stream in present.streams if stream.counts(Part.ENDED)]
        if callers and not any(stream.process in present.scraped for stream in callers):
            age_s = (milliseconds(now) - max(stream.newest for stream in callers)) / 1000
            raise Unavailable(
                f"Prometheus has scraped no caller of {subject.service} for {age_s:.0f} s",
                hint=f"does it scrape the proxies, at least every {self._interval.total_seconds():g} s "
                "(TIDEGATE_PROMETHEUS_SCRAPE_S)?",
            )

    def _window(self, since: datetime | None, now: datetime) -> timedelta:
        """How far a query reaches back: some scrapes, or the gap after an outage of ours, in few different widths so
        that shifts with the same gap are asked for together.
        """
        window = SCRAPES * self._interval
        gap = min(now - since + self._interval, LONGEST_GAP) if since is not None else window
        while window < gap:
            window *= 2
        return window

    async def _up(self, instances: Iterable[str], now: datetime) -> Iterable[Series]:
        return await asked(self._server, selectors.up(instances, KNOWN_TARGETS), now)


def _subject(query: MetricsQuery) -> Subject:
    return Subject(full_host(query.host, query.namespace), query.versions)
