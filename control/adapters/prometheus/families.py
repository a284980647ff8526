"""How are the built-in counters fetched? One query a family, for all subjects at once."""

import asyncio
from datetime import datetime, timedelta

from control.adapters.prometheus import selectors
from control.adapters.prometheus.answer import QueryRefused, Series
from control.adapters.prometheus.counted import by_service
from control.adapters.prometheus.grouped import Table
from control.adapters.prometheus.selectors import Subject
from control.adapters.prometheus.server import PrometheusServer
from control.errors import Unavailable

FAMILIES = (selectors.requests, selectors.durations, selectors.retries)


async def fetch(server: PrometheusServer, subjects: frozenset[Subject], window: timedelta, at: datetime) -> Table:
    """The raw samples of these subjects from `window` before `at` to `at`. Raises Unavailable."""
    answers = await asyncio.gather(*(asked(server, family(subjects, window), at) for family in FAMILIES))
    return Table(at, subjects, *(by_service(series) for series in answers))


async def asked(server: PrometheusServer, query: str, at: datetime) -> tuple[Series, ...]:
    """The answer to a query of ours. It is never wrong: what refuses it is no Prometheus that we know."""
    try:
        return await server.ask(query, at)
    except QueryRefused as error:
        raise Unavailable(f"Prometheus refuses a query: {error}", hint=f"the query is {query}") from error
