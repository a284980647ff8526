"""Something that answers as a gateway with a translator behind it does: upper case, with the trailers of a version.

Only for what `tidegate translate` prints and how it ends; the stories go through the real one.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc

TRAILERS = (("tidegate-served-by", "v2"), ("tidegate-attempt-count", "2"))
BAD = "no such pair"


class _Shouting(translation_pb2_grpc.TranslationServiceServicer):
    async def TranslateText(self, request: pb.TranslateTextRequest, context: Any) -> pb.TranslateTextResponse:
        if request.target_language_code == "xx":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "xx is no language")
        context.set_trailing_metadata(TRAILERS)
        return pb.TranslateTextResponse(translations=[_shouted(text) for text in request.contents])

    async def StreamTranslate(
        self, request: pb.StreamTranslateRequest, context: Any
    ) -> AsyncIterator[pb.StreamTranslateResponse]:
        context.set_trailing_metadata(TRAILERS)
        for index, word in enumerate(request.content.split(". ")):
            segment = pb.Segment(index=index, source_text=word, translated_text=word.upper())
            yield pb.StreamTranslateResponse(segment=segment)
        yield pb.StreamTranslateResponse(final=_shouted(request.content))


def _shouted(text: str) -> pb.Translation:
    translation = pb.Translation(translated_text=text.upper(), cache=pb.CACHE_RESULT_MISS, unknown_ratio=0.25)
    translation.detected_language_code = "en"
    if text == BAD:
        translation.translated_text = ""
        translation.status.code, translation.status.message = 3, "en to xx is not offered"
    return translation


@contextmanager
def running_gateway() -> Iterator[str]:
    """Its address, until the context ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server, address = asyncio.run_coroutine_threadsafe(_serve(), loop).result(10)
    try:
        yield address
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(0), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


async def _serve() -> tuple[Any, str]:
    server = grpc.aio.server()
    translation_pb2_grpc.add_TranslationServiceServicer_to_server(_Shouting(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}"
