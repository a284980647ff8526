"""How many endpoints of a subset could serve a request this moment? Those whose addresses all accept a connection.

Envoys keep no health of their own here (no active checks), so we knock ourselves: one connection, closed at once, to
each address that the documents name. It is a question of milliseconds on one machine, and a process that is gone
refuses immediately.
"""

import asyncio
import contextlib

from control.adapters.localmesh.channel import MeshChannel
from control.adapters.localmesh.documents import live_documents
from control.adapters.localmesh.endpoints import KINDS, Endpoint, endpoints

KNOCK_S = 5.0
"""Who is gone refuses at once; a machine that is busy may take long to say that somebody is there."""


class LocalWorkloads:
    """The Workloads port on a mesh that runs on this machine."""

    def __init__(self, channel: MeshChannel) -> None:
        self._channel = channel

    async def ready_endpoints(self, namespace: str, host: str, subset: str) -> int:
        documents = await live_documents(self._channel, KINDS)
        declared = endpoints(documents, namespace, host, subset)
        return sum(await asyncio.gather(*(_ready(endpoint) for endpoint in declared)))

    async def builds(self, namespace: str, host: str, subset: str) -> tuple[str, ...]:  # noqa: ARG002
        """None: an address on this machine does not say what was built for it."""
        return ()


async def _ready(endpoint: Endpoint) -> bool:
    return all(await asyncio.gather(*(accepts(address) for address in endpoint.addresses)))


async def accepts(address: str) -> bool:
    """Whether something accepts connections at "host:port" or "unix:path" within the deadline."""
    try:
        async with asyncio.timeout(KNOCK_S):
            _, writer = await _connect(address)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _connect(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.startswith("unix:"):
        return await asyncio.open_unix_connection(address.removeprefix("unix:"))
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))
