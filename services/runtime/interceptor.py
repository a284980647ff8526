"""What happens around every call of a service?

In this order: the call becomes the current one, its trailers are set, it is counted, a request that is not a valid
message is refused, faults happen, the servicer runs; then whatever came out (answer, `CallError`, cancellation, bug)
becomes one gRPC code, one count and one log line. Only methods of the process's own services pass through here; health
and reflection do not.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_status import rpc_status

from services.runtime.call import ATTEMPT_TRAILER, FAULT_HEADER, SERVED_BY_TRAILER, Call, begin_call
from services.runtime.errors import CallError
from services.runtime.metrics import IN_FLIGHT, LATENCY, REQUESTS, Meter
from services.runtime.sabotage import Saboteur

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

OWN_FAULT = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
Serve = Callable[[Any, Any, Any], Awaitable[Any]]
Trailers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Undecodable:
    """A request whose bytes are not the message that the method takes."""

    problem: str


@dataclass(slots=True)
class CallInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]
    """Wraps the methods of `services` (full names)."""

    services: Collection[str]
    version_label: str
    meter: Meter
    log: "FilteringBoundLogger"
    saboteur: Saboteur

    async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """The method's handler, wrapped."""
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.split("/")[1] not in self.services:
            return handler
        decode = _tolerant(handler.request_deserializer)
        if handler.unary_unary:
            wrapped = self._wrap(method, handler.unary_unary, _one_answer)
            return grpc.unary_unary_rpc_method_handler(wrapped, decode, handler.response_serializer)
        if handler.unary_stream:
            wrapped = self._wrap(method, handler.unary_stream, _many_answers)
            return grpc.unary_stream_rpc_method_handler(wrapped, decode, handler.response_serializer)
        return handler

    def _wrap(self, method: str, behaviour: Any, serve: Serve) -> Callable[[Any, Any], Awaitable[Any]]:
        async def wrapped(request: Any, context: Any) -> Any:
            metadata = context.invocation_metadata() or ()
            call = begin_call(method, metadata, context.time_remaining())
            trailers = self._trailers(call)
            context.set_trailing_metadata(trailers)
            with self.meter[IN_FLIGHT].labels(method).track_inprogress():
                self.meter.attempt(call.attempt)
                return await self._outcome(
                    call, trailers, context, self._served(call, request, context, behaviour, serve)
                )

        return wrapped

    def _trailers(self, call: Call) -> Trailers:
        return ((SERVED_BY_TRAILER, self.version_label), (ATTEMPT_TRAILER, call.attempt_text))

    async def _served(self, call: Call, request: Any, context: Any, behaviour: Any, serve: Serve) -> Any:
        if isinstance(request, Undecodable):
            raise CallError(grpc.StatusCode.INVALID_ARGUMENT, request.problem, reason="NOT_A_VALID_MESSAGE")
        asked = dict(context.invocation_metadata() or ()).get(FAULT_HEADER, "")
        await self.saboteur.before_call(call, str(asked), context)
        return await serve(behaviour, request, context)

    async def _outcome(self, call: Call, trailers: Trailers, context: Any, served: Awaitable[Any]) -> Any:
        try:
            answer = await served
        except CallError as error:
            self._ended(call, error.code, problem=error.message)
            await _abort(context, error, trailers)
        except asyncio.CancelledError:
            self._ended(call, _cancel_code(call))
            raise
        except grpc.aio.AbortError:
            self._ended(call, context.code(), problem=context.details())
            raise
        except Exception as bug:
            self._ended(call, grpc.StatusCode.INTERNAL, problem=repr(bug), exc_info=bug)
            hidden = CallError(grpc.StatusCode.INTERNAL, "internal error; see the service's log", reason="BUG")
            await _abort(context, hidden, trailers)
        else:
            self._ended(call, grpc.StatusCode.OK)
            return answer

    def _ended(self, call: Call, code: grpc.StatusCode, **facts: Any) -> None:
        seconds = time.monotonic() - call.started
        self.meter[REQUESTS].labels(call.method, code.name).inc()
        self.meter[LATENCY].labels(call.method).observe(seconds)
        write = self.log.warning if code in OWN_FAULT else self.log.debug
        write(
            "request",
            method=call.method,
            code=code.name,
            ms=round(seconds * 1000, 2),
            attempt=call.attempt,
            request_id=call.request_id,
            **{**call.facts, **facts},
        )


def _tolerant(decode: Callable[[bytes], Message]) -> Callable[[bytes], Message | Undecodable]:
    def decoded(data: bytes) -> Message | Undecodable:
        try:
            return decode(data)
        except DecodeError as error:
            return Undecodable(f"the request is not a valid message (text must be valid UTF-8): {error}")

    return decoded


async def _one_answer(behaviour: Any, request: Any, context: Any) -> Any:
    return await behaviour(request, context)


async def _many_answers(behaviour: Any, request: Any, context: Any) -> None:
    answers: AsyncIterator[Any] = behaviour(request, context)
    async with aclosing(answers) as open_answers:  # type: ignore[type-var]
        async for answer in open_answers:
            await context.write(answer)


def _cancel_code(call: Call) -> grpc.StatusCode:
    return grpc.StatusCode.DEADLINE_EXCEEDED if call.remaining_s() == 0 else grpc.StatusCode.CANCELLED


async def _abort(context: Any, error: CallError, trailers: Trailers) -> None:
    status = rpc_status.to_status(error.status())
    await context.abort(status.code, status.details, (*status.trailing_metadata, *trailers))
