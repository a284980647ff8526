"""How does a person's tool ask the translation service, and what does it learn about the answer?

The caller's side only: which version answered and at which try stands in the trailing metadata that the service sends.
"""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1.translation_pb2_grpc import TranslationServiceStub

from control.errors import Refused, Rejected, TidegateError, TimedOut, Unavailable

DEADLINE_S = 20.0
SERVED_BY, ATTEMPT_COUNT = "tidegate-served-by", "tidegate-attempt-count"
CACHE_WORDS = {
    pb.CACHE_RESULT_UNSPECIFIED: "not asked",
    pb.CACHE_RESULT_MISS: "miss",
    pb.CACHE_RESULT_HIT_LOCAL: "hit",
    pb.CACHE_RESULT_HIT_SHARED: "hit (Redis)",
    pb.CACHE_RESULT_UNAVAILABLE: "unavailable",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What to translate, and through which gateway."""

    gateway: str
    authority: str
    texts: tuple[str, ...]
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One text's translation, or why there is none. Units: `unknown_ratio` is the share of words not known, 0 to 1."""

    text: str
    detected: str
    cache: str
    model: str
    unknown_ratio: float
    error: str


@dataclass(frozen=True, slots=True)
class Translated:
    """The answer to one call. `attempts` is None when the service didn't say."""

    pieces: tuple[Piece, ...]
    version: str
    attempts: int | None
    latency_ms: float


async def translate(ask: Ask) -> Translated:
    """All texts in one call. Raises Refused (the texts or languages), Unavailable, TimedOut, Rejected."""
    started = perf_counter()
    async with _channel(ask) as channel:
        call = _stub(channel).TranslateText(
            pb.TranslateTextRequest(
                contents=ask.texts, source_language_code=ask.source, target_language_code=ask.target
            ),
            timeout=DEADLINE_S,
        )
        try:
            response = await call
            metadata = await call.trailing_metadata()
        except grpc.aio.AioRpcError as error:
            raise error_of(error, ask) from None
    return _translated([_piece(each) for each in response.translations], metadata, started)


async def stream(ask: Ask) -> AsyncIterator[str | Translated]:
    """Each text's segments as they come; after the last segment of a text, its `Translated`."""
    async with _channel(ask) as channel:
        for text in ask.texts:
            async for part in _stream_one(channel, ask, text):
                yield part


async def _stream_one(channel: grpc.aio.Channel, ask: Ask, text: str) -> AsyncIterator[str | Translated]:
    started, final = perf_counter(), pb.Translation()
    call = _stub(channel).StreamTranslate(
        pb.StreamTranslateRequest(content=text, source_language_code=ask.source, target_language_code=ask.target),
        timeout=DEADLINE_S,
    )
    try:
        async for event in call:
            if event.HasField("segment"):
                yield event.segment.translated_text
            else:
                final = event.final
        metadata = await call.trailing_metadata()
    except grpc.aio.AioRpcError as error:
        raise error_of(error, ask) from None
    yield _translated([_piece(final)], metadata, started)


def error_of(error: grpc.aio.AioRpcError, ask: Ask) -> TidegateError:
    """The failed call as an error of ours, by who must act."""
    said = f"{error.code().name}: {error.details() or 'no details'}"
    match error.code():
        case grpc.StatusCode.UNAVAILABLE:
            return Unavailable(f"the gateway {ask.gateway} could not reach a translator ({said})", "tidegate status")
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return TimedOut(
                f"no translation within {DEADLINE_S:g} s", "tidegate status shows whether a version is slow"
            )
        case grpc.StatusCode.INVALID_ARGUMENT:
            return Refused(f"this can't be translated: {error.details()}", "")
        case _:
            return Rejected(f"the translator refused: {said}", "")


def _channel(ask: Ask) -> grpc.aio.Channel:
    options = [("grpc.default_authority", ask.authority), ("grpc.enable_retries", 0)]
    return grpc.aio.insecure_channel(ask.gateway, options=options)


def _stub(channel: grpc.aio.Channel) -> Any:
    return TranslationServiceStub(channel)  # type: ignore[no-untyped-call]


def _piece(translation: pb.Translation) -> Piece:
    failed = translation.status.code != 0
    return Piece(
        text=translation.translated_text,
        detected=translation.detected_language_code,
        cache=CACHE_WORDS.get(translation.cache, "unknown"),
        model=translation.model,
        unknown_ratio=translation.unknown_ratio,
        error=translation.status.message or f"status {translation.status.code}" if failed else "",
    )


def _translated(pieces: list[Piece], metadata: Iterable[tuple[str, str | bytes]] | None, started: float) -> Translated:
    said = {key: value for key, value in metadata or () if isinstance(value, str)}
    attempts = said.get(ATTEMPT_COUNT, "")
    return Translated(
        pieces=tuple(pieces),
        version=said.get(SERVED_BY, "unknown"),
        attempts=int(attempts) if attempts.isascii() and attempts.isdigit() else None,
        latency_ms=(perf_counter() - started) * 1000,
    )
