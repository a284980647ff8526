"""How do the controller's operations look from outside? ControlService: messages in, messages out, errors as rich
statuses.

Nothing is decided here; `control.api.shifts` does that. A watch pushes a document when it changes, not on a timer.
"""

import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

import grpc
from grpc_status import rpc_status
from tidegate.control.v1 import control_pb2, control_pb2_grpc

from control.api.access import TokenInterceptor, loopback
from control.api.model import ShiftDocument
from control.api.shifts import Shifts
from control.api.statuses import status_of
from control.api.verbs import verb_from_wire
from control.engine.command import Command
from control.errors import InvariantBroken, StartFailed, TidegateError

MAX_MESSAGE_BYTES = 1024 * 1024
Context = grpc.aio.ServicerContext[Any, Any]
Request = TypeVar("Request")
Response = TypeVar("Response")


class ControlServer:
    """ControlService on one loopback address. `address` is where it listens once it has started."""

    def __init__(self, shifts: Shifts, *, listen: str, token: str, version: str) -> None:
        """Raises Refused when `listen` is not a loopback address."""
        options = (("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.so_reuseport", 0))
        self._listen = loopback(listen)
        self._shifts = shifts
        self._server = grpc.aio.server(interceptors=[TokenInterceptor(token)], options=options)
        servicer = _Servicer(shifts, version)
        control_pb2_grpc.add_ControlServiceServicer_to_server(servicer, self._server)  # type: ignore[no-untyped-call]
        self.address = ""

    async def start(self) -> None:
        """Raises StartFailed when the port is taken."""
        host, _, _ = self._listen.rpartition(":")
        try:
            port = self._server.add_insecure_port(self._listen)
        except RuntimeError as error:
            raise StartFailed(f"{self._listen} can't be listened on: {error}", hint="is the port taken?") from error
        await self._server.start()
        self.address = f"{host}:{port}"

    async def stop(self, grace_s: float) -> None:
        """Ends watches at once and gives other calls this long."""
        self._shifts.close()
        await self._server.stop(grace_s)


def _rich(method: Callable[[Any, Request], Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
    """An error of ours becomes the call's rich status; one that is not ours is called a bug, with its words."""

    @wraps(method)
    async def call(self: Any, request: Request, context: Context) -> Response:
        try:
            return await method(self, request)
        except TidegateError as error:
            await _abort(context, error)
        except (grpc.RpcError, grpc.aio.AbortError, AssertionError):
            raise
        except Exception as error:
            await _abort(context, InvariantBroken(f"{type(error).__name__}: {error}"))
            raise
        raise AssertionError("abort raises")

    return call


async def _abort(context: Context, error: TidegateError) -> None:
    status = rpc_status.to_status(status_of(error))
    await context.abort(status.code, status.details, status.trailing_metadata)


class _Servicer(control_pb2_grpc.ControlServiceServicer):
    def __init__(self, shifts: Shifts, version: str) -> None:
        self._shifts = shifts
        self._version = version

    @_rich
    async def ListShifts(self, request: Any) -> Any:
        documents = await self._shifts.list(request.namespace)
        return control_pb2.ListShiftsResponse(shifts=[_shift(each) for each in documents])

    @_rich
    async def GetShift(self, request: Any) -> Any:
        return _shift(await self._shifts.get(request.name.namespace, request.name.name))

    async def WatchShifts(self, request: Any, context: Context) -> AsyncIterator[Any]:
        changes = self._shifts.watch(request.name.namespace, request.name.name)
        async with contextlib.aclosing(changes):
            try:
                async for change in changes:
                    yield control_pb2.WatchShiftsResponse(shift=_shift(change.shift), deleted=change.deleted)
            except TidegateError as error:
                await _abort(context, error)

    @_rich
    async def ApplyShift(self, request: Any) -> Any:
        result = await self._shifts.apply(request.text, request.source or "shift", dry_run=request.dry_run)
        return control_pb2.ApplyShiftResponse(shift=_shift(result.shift), outcome=result.outcome)

    @_rich
    async def DeleteShift(self, request: Any) -> Any:
        name = request.name
        outcome = await self._shifts.delete(name.namespace, name.name, dry_run=request.dry_run)
        return control_pb2.DeleteShiftResponse(outcome=outcome)

    @_rich
    async def SendCommand(self, request: Any) -> Any:
        command = Command(
            id=request.id or uuid.uuid4().hex,
            verb=verb_from_wire(request.verb),
            expect_step=request.expect_step if request.HasField("expect_step") else None,
            actor=request.actor,
            reason=request.reason,
            at=self._shifts.now(),
        )
        name = request.name
        result = await self._shifts.command(name.namespace, name.name, command, dry_run=request.dry_run)
        return control_pb2.SendCommandResponse(shift=_shift(result.shift), outcome=result.outcome)

    @_rich
    async def GetHistory(self, request: Any) -> Any:
        entries = await self._shifts.history(request.name.namespace, request.name.name, limit=request.limit)
        return control_pb2.GetHistoryResponse(entries=[_json(each) for each in entries])

    @_rich
    async def GetBaseline(self, request: Any) -> Any:
        found = await self._shifts.baseline(request.name.namespace, request.name.name)
        return control_pb2.GetBaselineResponse(baseline=_json(found))

    @_rich
    async def GetVersion(self, _request: Any) -> Any:
        return control_pb2.GetVersionResponse(version=self._version)


def _shift(shift: ShiftDocument) -> control_pb2.Shift:
    name = control_pb2.ShiftName(namespace=shift.namespace, name=shift.name)
    return control_pb2.Shift(name=name, document=_json(shift.document), revision=shift.revision)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()
