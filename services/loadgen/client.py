"""How does one call of the load go over the wire, and how did it end?

A call is sent once: there is no retry policy, so each attempt beyond the first is the mesh's. (gRPC still moves a
request to another stream when the server says that it never looked at it, as every gRPC client does.) The answer's
trailing metadata says which version answered last and at which attempt; without it the version is `unknown`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from time import perf_counter
from typing import Any

import grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1.translation_pb2_grpc import TranslationServiceStub

from services.loadgen.mix import Call
from services.loadgen.tally import OK, UNKNOWN, Outcome

SERVED_BY = "tidegate-served-by"
ATTEMPT_COUNT = "tidegate-attempt-count"
EMPTY_ANSWER = "EMPTY_ANSWER"
ITEM_STATUS = {code.value[0]: code.name for code in grpc.StatusCode}
CACHE_NAMES = {
    pb.CACHE_RESULT_MISS: "miss",
    pb.CACHE_RESULT_HIT_LOCAL: "hitLocal",
    pb.CACHE_RESULT_HIT_SHARED: "hitShared",
    pb.CACHE_RESULT_UNAVAILABLE: "unavailable",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A translation as it came, and when a stream's first segment did (perf_counter seconds)."""

    translation: pb.Translation
    first_segment_at: float | None = None


class TranslationClient:
    """Calls of the translation service over several connections, taken in turn."""

    def __init__(self, target: str, *, authority: str | None, channels: int, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._channels = [_channel(target, authority) for _ in range(channels)]
        new_stub: Callable[[grpc.aio.Channel], Any] = TranslationServiceStub
        self._stubs = cycle([new_stub(channel) for channel in self._channels])

    async def send(self, call: Call, *, intended_at: float) -> Outcome:
        """Send the call and wait for its end. Failures of the call are outcomes, never exceptions.

        Units: `intended_at` is in perf_counter seconds.
        """
        started_at = min(intended_at, perf_counter())
        try:
            rpc, answer = await self._ask(call)
            status, metadata = item_status(answer.translation), await rpc.trailing_metadata()
        except grpc.aio.AioRpcError as error:
            answer, status, metadata = None, error.code().name, error.trailing_metadata()
        return _outcome(status, metadata, answer, started_at)

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close(None)

    async def _ask(self, call: Call) -> tuple[Any, Answer]:
        stub = next(self._stubs)
        return await (self._stream if call.stream else self._unary)(stub, call)

    async def _unary(self, stub: Any, call: Call) -> tuple[Any, Answer]:
        rpc = stub.TranslateText(
            pb.TranslateTextRequest(
                contents=[call.text], source_language_code=call.source, target_language_code=call.target
            ),
            timeout=self._deadline_s,
        )
        response = await rpc
        return rpc, Answer(next(iter(response.translations), pb.Translation()))

    async def _stream(self, stub: Any, call: Call) -> tuple[Any, Answer]:
        rpc = stub.StreamTranslate(
            pb.StreamTranslateRequest(
                content=call.text, source_language_code=call.source, target_language_code=call.target
            ),
            timeout=self._deadline_s,
        )
        final, first_segment_at = pb.Translation(), None
        async for event in rpc:
            if event.HasField("segment"):
                first_segment_at = first_segment_at or perf_counter()
            else:
                final = event.final
        return rpc, Answer(final, first_segment_at)


def item_status(translation: pb.Translation) -> str:
    """OK, the item's own failure as ITEM_<name>, or EMPTY_ANSWER when a call succeeded without any text."""
    if translation.status.code:
        return f"ITEM_{ITEM_STATUS.get(translation.status.code, str(translation.status.code))}"
    return OK if translation.translated_text else EMPTY_ANSWER


def served_by(metadata: Iterable[tuple[str, str | bytes]] | None) -> tuple[str, int | None]:
    """The version that answered and the attempt that it saw, from trailing metadata; (unknown, None) without."""
    found = {
        key: value if isinstance(value, str) else value.decode("ascii", "replace") for key, value in metadata or ()
    }
    attempts = found.get(ATTEMPT_COUNT, "")
    return found.get(SERVED_BY) or UNKNOWN, int(attempts) if attempts.isascii() and attempts.isdigit() else None


def _outcome(status: str, metadata: Any, answer: Answer | None, started_at: float) -> Outcome:
    version, attempts = served_by(metadata)
    first = answer.first_segment_at if answer else None
    return Outcome(
        status=status,
        latency_s=perf_counter() - started_at,
        ended_at=datetime.now(UTC),
        version=version,
        attempts=attempts,
        cache=CACHE_NAMES.get(answer.translation.cache) if answer else None,
        first_segment_s=first - started_at if first else None,
    )


def _channel(target: str, authority: str | None) -> grpc.aio.Channel:
    options: Sequence[tuple[str, Any]] = [
        ("grpc.use_local_subchannel_pool", 1),  # one connection a channel, not one a process
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
        *([("grpc.default_authority", authority)] if authority else []),
    ]
    return grpc.aio.insecure_channel(target, options=options)
