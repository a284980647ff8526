"""Who is asked for a shift's counters? The proxies of the mesh or Prometheus, as the shift says; and people's own
metrics always from Prometheus.
"""

import asyncio
from dataclasses import dataclass, replace

from control.engine.readings import Reading, merged
from control.errors import Unavailable
from control.ports import Metrics, MetricsQuery
from control.spec import Source

NO_PROMETHEUS = "no Prometheus is configured"
HINT = "set TIDEGATE_PROMETHEUS_URL for the controller"


@dataclass(frozen=True, slots=True)
class Sources:
    """The Metrics port on all sources that there are. `prometheus` is None where none is configured."""

    mesh: Metrics
    prometheus: Metrics | None

    async def read(self, query: MetricsQuery) -> Reading:
        """What each source has of it, as one reading. Raises Unavailable when nobody can say how requests ended; of a
        metric of one's own that can't be read, the reading tells.
        """
        if query.source is Source.PROMETHEUS:
            if self.prometheus is None:
                raise Unavailable(f"the shift's source is Prometheus, and {NO_PROMETHEUS}", hint=HINT)
            return await self.prometheus.read(query)
        if not query.metrics:
            return await self.mesh.read(query)
        proxies, own = await asyncio.gather(self.mesh.read(replace(query, metrics=())), self._own(query))
        if isinstance(own, Unavailable):
            why = f"{own.message} ({own.hint})" if own.hint else own.message
            return replace(proxies, troubles={**proxies.troubles, **{each.name: why for each in query.metrics}})
        return merged(proxies, own)

    async def _own(self, query: MetricsQuery) -> Reading | Unavailable:
        """People's own metrics, or why none of them can be read."""
        if self.prometheus is None:
            return Unavailable(NO_PROMETHEUS, hint=HINT)
        try:
            return await self.prometheus.read(query)
        except Unavailable as error:
            return error


@dataclass(frozen=True, slots=True)
class PrometheusAlone:
    """The Metrics port on a cluster. Its proxies can't be read one by one: Prometheus counts, whatever a shift says."""

    prometheus: Metrics | None

    async def read(self, query: MetricsQuery) -> Reading:
        """Raises Unavailable."""
        if self.prometheus is None:
            raise Unavailable(NO_PROMETHEUS, hint=HINT)
        return await self.prometheus.read(replace(query, source=Source.PROMETHEUS))
