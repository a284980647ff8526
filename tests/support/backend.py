"""A trivial gRPC backend: says which version it is, fails when the request's metadata asks for it, remembers attempts.

Metadata of a request: `request-id` (attempts are remembered by it), `fail-first` (fail while the attempt count is at
most that), `fail-status` (a name, UNAVAILABLE by default), `fail-when` (`before-headers` or `after-headers`).
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio

UNARY, STREAM = "/tidegate.test.Echo/Unary", "/tidegate.test.Echo/Stream"
BEAT_S = 0.01


@dataclass
class Backend(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """`attempts` has what `x-envoy-attempt-count` said, by request id; `finish` ends the streams."""

    version: str
    attempts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    finish: asyncio.Event = field(default_factory=asyncio.Event)

    def service(self, handler_call_details: Any) -> Any:
        if handler_call_details.method == UNARY:
            return grpc.unary_unary_rpc_method_handler(self._unary)
        if handler_call_details.method == STREAM:
            return grpc.unary_stream_rpc_method_handler(self._stream)
        return None

    async def _unary(self, request: bytes, context: Any) -> bytes:
        await self._record_and_fail(context)
        return json.dumps({"version": self.version}).encode()

    async def _stream(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        await self._record_and_fail(context)
        while not self.finish.is_set():
            yield self.version.encode()
            await asyncio.sleep(BEAT_S)

    async def _record_and_fail(self, context: Any) -> None:
        said = dict(context.invocation_metadata())
        attempt = str(said.get("x-envoy-attempt-count", ""))
        self.attempts[str(said.get("request-id", ""))].append(attempt)
        if int(attempt or 1) <= int(said.get("fail-first", "0")):
            if said.get("fail-when") == "after-headers":
                await context.send_initial_metadata(())
            await context.abort(
                grpc.StatusCode[str(said.get("fail-status", "UNAVAILABLE"))], f"{self.version} was asked to fail"
            )


@asynccontextmanager
async def backend(version: str, address: str) -> AsyncIterator[Backend]:
    """A backend that listens on host:port."""
    served = Backend(version)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((served,))
    server.add_insecure_port(address)
    await server.start()
    try:
        yield served
    finally:
        served.finish.set()
        await server.stop(grace=0)


@dataclass
class Client:
    """Calls the backend through a proxy."""

    channel: grpc.aio.Channel

    async def call(self, **metadata: str) -> str:
        """The version that answered. Raises AioRpcError."""
        unary = self.channel.unary_unary(UNARY)
        pairs = tuple((name.replace("_", "-"), value) for name, value in metadata.items())
        answer = await unary(b"", metadata=pairs, timeout=10)
        version: str = json.loads(answer)["version"]
        return version

    def stream(self) -> Any:
        return self.channel.unary_stream(STREAM)(b"", timeout=60)


@asynccontextmanager
async def client(target: str, authority: str) -> AsyncIterator[Client]:
    options = [("grpc.default_authority", authority), ("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(target, options=options) as channel:
        yield Client(channel)
