"""What does a Prometheus have of Istio's requests, and how often are they scraped?"""

from datetime import datetime
from itertools import pairwise
from statistics import median

from control.adapters.prometheus.answer import QueryRefused
from control.adapters.prometheus.selectors import REQUESTS, quoted
from control.adapters.prometheus.server import PrometheusServer
from control.doctor.facts import Scraped
from control.errors import TidegateError

LOOKED_BACK = "10m"


async def scraped(server: PrometheusServer, url: str, now: datetime) -> Scraped:
    """The labels of one of its series, the time between its samples, and the age of the newest."""
    try:
        found = await server.ask(f"topk(1, {REQUESTS})", now)
        if not found:
            return Scraped(url)
        labels = {name: value for name, value in found[0].labels.items() if name != "__name__"}
        chosen = ",".join(f"{name}={quoted(value)}" for name, value in labels.items())
        samples = (await server.ask(f"{REQUESTS}{{{chosen}}}[{LOOKED_BACK}]", now))[0].samples
    except (TidegateError, QueryRefused, IndexError) as error:
        return Scraped(url, trouble=str(getattr(error, "message", error)))
    times = [at / 1000 for at, _ in samples]
    apart = [later - earlier for earlier, later in pairwise(times)]
    interval = round(median(apart), 1) if apart else None
    return Scraped(url, frozenset(labels), interval, now.timestamp() - times[-1])
