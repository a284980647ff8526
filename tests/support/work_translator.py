"""A real gRPC server whose translations are told to it: how it fails, waits and signs its answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.rpc import status_pb2
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc


@dataclass
class TranslatorDouble(pb_grpc.TranslationServiceServicer):
    """Answers as its fields say. `gate` closed: every request waits for it. `workers`: requests served at once."""

    version: str = "v1"
    attempts: str = "1"
    signed: bool = True
    text: str = "hola"
    cache: int = pb.CACHE_RESULT_MISS
    item_code: int = 0
    failure: grpc.StatusCode | None = None
    workers: int = 1_000
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[Any] = field(default_factory=list)
    waiting: int = 0
    most_waiting: int = 0

    def __post_init__(self) -> None:
        self.gate.set()
        self._free = asyncio.Semaphore(self.workers)

    async def TranslateText(self, request: Any, context: Any) -> Any:
        await self._received(request, context)
        return pb.TranslateTextResponse(translations=[self._translation()])

    async def StreamTranslate(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self._received(request, context)
        yield pb.StreamTranslateResponse(segment=pb.Segment(index=0, translated_text=self.text))
        yield pb.StreamTranslateResponse(final=self._translation())

    def _translation(self) -> Any:
        status = status_pb2.Status(code=self.item_code)
        return pb.Translation(translated_text=self.text, cache=self.cache, status=status)

    async def _received(self, request: Any, context: Any) -> None:
        self.requests.append(request)
        if self.signed:
            signature = (("tidegate-served-by", self.version), ("tidegate-attempt-count", self.attempts))
            context.set_trailing_metadata(signature)
        async with self._free:
            self.waiting += 1
            self.most_waiting = max(self.most_waiting, self.waiting)
            await self.gate.wait()
            self.waiting -= 1
        if self.failure:
            await context.abort(self.failure, "told to fail")


@asynccontextmanager
async def serving_translator(double: TranslatorDouble, options: Sequence[tuple[str, Any]] = ()) -> AsyncIterator[str]:
    """The address of a server that answers as `double` says."""
    server = grpc.aio.server(options=list(options))
    pb_grpc.add_TranslationServiceServicer_to_server(double, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        double.gate.set()
        await server.stop(None)
