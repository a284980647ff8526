"""How does a person's tool talk to the controller? `ShiftClient`, and the carrier of it that a laptop uses.

A client speaks of TrafficShift documents as they are (apiVersion, kind, metadata, spec, status: plain JSON values);
there is no second model. Every method raises the errors of `control.errors` and nothing of gRPC: Unavailable (no
controller answers), SpecError (with every problem of the text), NotFound, Refused, Conflict.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol

import grpc
from tidegate.control.v1 import control_pb2, control_pb2_grpc

from control.api.model import ApplyResult, CommandResult, ShiftChange, ShiftDocument
from control.api.statuses import error_of
from control.api.verbs import verb_to_wire
from control.cancellation import cancellable
from control.engine.command import Command
from control.errors import Unavailable

__all__ = ["ApplyResult", "CommandResult", "GrpcShiftClient", "ShiftChange", "ShiftClient", "ShiftDocument"]


class ShiftClient(Protocol):
    """What every screen and verb needs of a controller. An async context manager: leaving it closes the connection."""

    async def list(self, namespace: str = "") -> Sequence[ShiftDocument]:
        """All shifts of a namespace, or of all namespaces when it is empty."""

    async def get(self, namespace: str, name: str) -> ShiftDocument:
        """Raises NotFound with the names that exist."""

    def watch(self, namespace: str = "", name: str = "") -> AsyncIterator[ShiftChange]:
        """The documents now, then each change when it happens. Ends never. Raises Unavailable when the controller
        goes.
        """

    async def apply(self, text: bytes, source: str, *, dry_run: bool = False) -> ApplyResult:
        """Creates or replaces a spec from the text as the person wrote it. Raises SpecError, Refused."""

    async def delete(self, namespace: str, name: str, *, dry_run: bool = False) -> str:
        """Says what happens to the traffic. Raises NotFound."""

    async def command(self, namespace: str, name: str, command: Command, *, dry_run: bool = False) -> CommandResult:
        """Idempotent by the command's id; its `at` is the controller's business. Raises NotFound, Refused."""

    async def history(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        """Journal entries, oldest first; the newest `limit` (0: all that are kept)."""

    async def baseline(self, namespace: str, name: str) -> Mapping[str, Any]:
        """What an earlier window says of stable. Raises NotFound, Refused when none is named, Unavailable."""

    async def version(self) -> str:
        """The controller's version."""


class GrpcShiftClient:
    """A ShiftClient of the controller at host:port. Usage: `async with GrpcShiftClient(address, token) as client:
    ...`
    """

    def __init__(self, address: str, token: str, *, timeout_s: float = 10.0) -> None:
        self._channel = grpc.aio.insecure_channel(address)
        self._stub: Any = control_pb2_grpc.ControlServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._timeout_s = timeout_s

    async def __aenter__(self) -> "GrpcShiftClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channel.close(None)

    async def list(self, namespace: str = "") -> Sequence[ShiftDocument]:
        response = await self._call(self._stub.ListShifts, control_pb2.ListShiftsRequest(namespace=namespace))
        return [_document(shift) for shift in response.shifts]

    async def get(self, namespace: str, name: str) -> ShiftDocument:
        request = control_pb2.GetShiftRequest(name=_name(namespace, name))
        return _document(await self._call(self._stub.GetShift, request))

    async def watch(self, namespace: str = "", name: str = "") -> AsyncIterator[ShiftChange]:
        request = control_pb2.WatchShiftsRequest(name=_name(namespace, name))
        stream = self._stub.WatchShifts(request, metadata=self._metadata)
        try:
            async for event in stream:
                yield ShiftChange(_document(event.shift), event.deleted)
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            stream.cancel()
        raise Unavailable("the controller ended the watch", hint="it is stopping; ask again in a moment")

    async def apply(self, text: bytes, source: str, *, dry_run: bool = False) -> ApplyResult:
        request = control_pb2.ApplyShiftRequest(text=text, source=source, dry_run=dry_run)
        response = await self._call(self._stub.ApplyShift, request)
        return ApplyResult(_document(response.shift), response.outcome)

    async def delete(self, namespace: str, name: str, *, dry_run: bool = False) -> str:
        request = control_pb2.DeleteShiftRequest(name=_name(namespace, name), dry_run=dry_run)
        response = await self._call(self._stub.DeleteShift, request)
        return str(response.outcome)

    async def command(self, namespace: str, name: str, command: Command, *, dry_run: bool = False) -> CommandResult:
        request = control_pb2.SendCommandRequest(
            name=_name(namespace, name),
            id=command.id,
            verb=verb_to_wire(command.verb),  # type: ignore[arg-type]
            expect_step=command.expect_step,
            actor=command.actor,
            reason=command.reason,
            dry_run=dry_run,
        )
        response = await self._call(self._stub.SendCommand, request)
        return CommandResult(_document(response.shift), response.outcome)

    async def history(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        request = control_pb2.GetHistoryRequest(name=_name(namespace, name), limit=limit)
        response = await self._call(self._stub.GetHistory, request)
        return [json.loads(entry) for entry in response.entries]

    async def baseline(self, namespace: str, name: str) -> Mapping[str, Any]:
        response = await self._call(self._stub.GetBaseline, control_pb2.GetBaselineRequest(name=_name(namespace, name)))
        found: Mapping[str, Any] = json.loads(response.baseline)
        return found

    async def version(self) -> str:
        response = await self._call(self._stub.GetVersion, control_pb2.GetVersionRequest())
        return str(response.version)

    async def _call(self, method: Any, request: Any) -> Any:
        try:
            return await cancellable(method(request, timeout=self._timeout_s, metadata=self._metadata))
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from error


def _name(namespace: str, name: str) -> control_pb2.ShiftName:
    return control_pb2.ShiftName(namespace=namespace, name=name)


def _document(shift: control_pb2.Shift) -> ShiftDocument:
    return ShiftDocument(shift.name.namespace, shift.name.name, json.loads(shift.document), shift.revision)
