"""A client of the discovery server that asks for and acknowledges everything: an Envoy without a data path."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from mesh.xds.server import METHOD, SERVICE
from mesh.xds.snapshot import Kind, Snapshot
from mesh.xds.subscription import Request
from mesh.xds.wire import Discovered, read_response, write_request
from tests.support.mesh_wait import until


@dataclass
class AdsClient:
    """`heard` is every response of the stream."""

    node: str
    call: Any
    heard: list[Discovered] = field(default_factory=list)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def subscribe(self, wanted: Snapshot) -> None:
        """Asks in Envoy's order, and waits for each answer."""
        for kind in Kind:
            named = kind in (Kind.ENDPOINT, Kind.ROUTE)
            await self.say(Request(kind, frozenset(wanted.of(kind)) if named else frozenset()))
            await self.answered(kind)

    async def answered(self, kind: Kind) -> None:
        await until(lambda: any(response.type_url == kind for response in self.heard))

    async def say(self, request: Request) -> None:
        node, self.node = self.node, ""
        async with self.writing:
            await self.call.write(write_request(node, request))

    async def listen(self, wanted: Snapshot) -> None:
        """Hears and acknowledges until the stream ends."""
        while (message := await self.call.read()) is not grpc.aio.EOF:
            response = read_response(message)
            self.heard.append(response)
            kind = Kind(response.type_url)
            named = kind in (Kind.ENDPOINT, Kind.ROUTE)
            names = frozenset(wanted.of(kind)) if named else frozenset[str]()
            await self.say(Request(kind, names, response.version, response.nonce))


@asynccontextmanager
async def ads_clients(address: str, nodes: list[str], wanted: Snapshot) -> AsyncIterator[list[AdsClient]]:
    """One subscribed client for each node, all on their own streams."""
    async with grpc.aio.insecure_channel(address) as channel:
        method = channel.stream_stream(f"/{SERVICE}/{METHOD}")
        clients = [AdsClient(node, method()) for node in nodes]
        listening = [asyncio.create_task(client.listen(wanted)) for client in clients]
        try:
            await asyncio.gather(*(client.subscribe(wanted) for client in clients))
            yield clients
        finally:
            for task in listening:
                task.cancel()
            for client in clients:
                client.call.cancel()
            await asyncio.gather(*listening, return_exceptions=True)
