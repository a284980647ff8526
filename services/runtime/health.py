"""Is this process fit to take calls?

The standard health service. What is added: a drain ends the streams of those who watch, after they were told
NOT_SERVING. Without that, one watcher would hold up the end of the process for the whole grace.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from grpc_health.v1 import health_pb2
from grpc_health.v1._async import HealthServicer


class Health(HealthServicer):  # type: ignore[misc]
    """Health of the process ("") and of each of its services."""

    def __init__(self, service_names: Sequence[str]) -> None:
        super().__init__()
        self._closing = asyncio.Event()
        for name in service_names:
            self._server_status[name] = health_pb2.HealthCheckResponse.SERVING

    async def Watch(self, request: Any, context: Any) -> None:
        """Every change of the status, until the watcher leaves or the process drains."""
        watching = asyncio.create_task(super().Watch(request, context))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait([watching, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            watching.cancel()
            closing.cancel()
            await asyncio.gather(watching, closing, return_exceptions=True)

    def end_watches(self) -> None:
        """Ends every watch; nothing will change any more."""
        self._closing.set()
