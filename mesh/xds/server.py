"""Who asks for discovery, and who gets what?

The aggregated discovery service on gRPC: carries bytes between Envoys and their `Subscription`s, holds the snapshot of
each node, and tells watchers when an Envoy acknowledged or refused something. All decisions are made in
`subscription`.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio

from mesh.pulse import Pulse
from mesh.xds.protobuf import Malformed
from mesh.xds.snapshot import Kind, Snapshot
from mesh.xds.subscription import Response, Subscription
from mesh.xds.wire import Received, read_request, write_response

SERVICE = "envoy.service.discovery.v3.AggregatedDiscoveryService"
METHOD = "StreamAggregatedResources"
OPTIONS = (
    ("grpc.max_receive_message_length", 4 << 20),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
)


@dataclass(slots=True)
class Stream:
    """One connected Envoy: its state machine, and encoded responses on their way out."""

    node: str
    subscription: Subscription
    outbox: deque[Response] = field(default_factory=deque)
    filled: asyncio.Event = field(default_factory=asyncio.Event)

    def post(self, responses: list[Response]) -> None:
        if responses:
            self.outbox.extend(responses)
            self.filled.set()


class AdsServer:
    """Serves a snapshot to each node. `heard` beats whenever an Envoy connects, leaves, acknowledges or refuses."""

    def __init__(self) -> None:
        self.heard = Pulse()
        self._snapshots: dict[str, Snapshot] = {}
        self._streams: dict[str, Stream] = {}
        self._last: dict[str, Subscription] = {}
        self._server: grpc.aio.Server | None = None

    async def start(self, address: str) -> str:
        """Listens on `host:port` (port 0: a free one) and returns the address. Raises OSError when it is taken."""
        server = grpc.aio.server(options=OPTIONS)
        server.add_generic_rpc_handlers((Carrier(self),))
        try:
            port = server.add_insecure_port(address)
        except RuntimeError as taken:
            raise OSError(f"cannot listen on {address}: {taken}") from taken
        await server.start()
        self._server = server
        return f"{address.rpartition(':')[0]}:{port}"

    async def stop(self) -> None:
        if self._server:
            await self._server.stop(grace=0)
            self._server = None

    def publish(self, snapshots: Mapping[str, Snapshot]) -> None:
        """From now on these nodes have these snapshots (all nodes at once; others keep what they run)."""
        self._snapshots = dict(snapshots)
        self._last = {node: last for node, last in self._last.items() if node in snapshots}
        for node, stream in self._streams.items():
            wanted = self._snapshots.get(node)
            if wanted is not None:
                stream.post(stream.subscription.on_snapshot(wanted))

    def connected(self, node: str) -> bool:
        return node in self._streams

    def acked(self, node: str, kind: Kind) -> Mapping[str, str]:
        """Names and digests of what the node acknowledged; empty while it isn't connected."""
        stream = self._streams.get(node)
        if stream is None:
            return {}
        return {name: resource.digest for name, resource in stream.subscription.acked(kind).items()}

    def runs(self, node: str, kind: Kind, name: str, digest: str) -> bool:
        """Is this what the node acknowledged last of that name?"""
        stream = self._streams.get(node)
        resource = stream.subscription.acked(kind).get(name) if stream else None
        return resource is not None and resource.digest == digest

    def rejections(self, node: str) -> list[tuple[Kind, str, str]]:
        """Kind, name and reason of what the node refuses of its snapshot."""
        stream = self._streams.get(node)
        return stream.subscription.rejections() if stream else []

    async def serve(self, requests: AsyncIterator[Received], context: Any) -> None:
        """One stream, until it ends."""
        writing: asyncio.Task[None] | None = None
        stream: Stream | None = None
        try:
            async for received in requests:
                if stream is None:
                    stream = self._open(received.node)
                    writing = asyncio.create_task(write(stream, context))
                stream.post(stream.subscription.on_request(received.request))
                self.heard.beat()
        finally:
            if writing:
                writing.cancel()
            if stream and self._streams.get(stream.node) is stream:
                del self._streams[stream.node]
            self.heard.beat()

    def _open(self, node: str) -> Stream:
        """A newer stream of a node takes the place of an older one, which dies by itself."""
        subscription = self._last[node] = Subscription(self._snapshots.get(node), self._last.get(node))
        stream = self._streams[node] = Stream(node, subscription)
        return stream


async def write(stream: Stream, context: Any) -> None:
    """Sends what is in the outbox, whenever something is, until cancelled."""
    with contextlib.suppress(grpc.aio.UsageError, asyncio.InvalidStateError):
        while True:
            await stream.filled.wait()
            stream.filled.clear()
            while stream.outbox:
                await context.write(write_response(stream.outbox.popleft()))


class Carrier(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # only the stubs are generic
    """Routes the one method; requests are read by hand, responses are bytes already."""

    def __init__(self, ads: AdsServer) -> None:
        self._ads = ads

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[Any, Any] | None":
        if handler_call_details.method != f"/{SERVICE}/{METHOD}":
            return None
        return grpc.stream_stream_rpc_method_handler(self._stream, request_deserializer=read)

    async def _stream(self, requests: AsyncIterator[Received | None], context: Any) -> None:
        async def wellformed() -> AsyncIterator[Received]:
            async for received in requests:
                if received is None:
                    await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not a DiscoveryRequest")
                else:
                    yield received

        await self._ads.serve(wellformed(), context)


def read(message: bytes) -> Received | None:
    """The request, or None when it is malformed (an exception here would be logged as a bug of ours)."""
    try:
        return read_request(message)
    except Malformed:
        return None
