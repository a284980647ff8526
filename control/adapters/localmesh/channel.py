"""How does the controller reach the local mesh? One gRPC channel with a token; every call has a deadline.

gRPC's statuses end here: ABORTED is Conflict (somebody wrote in between), a refused write is Rejected, a missing
document NotFound, and whatever says that nobody answered is Unavailable.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

import grpc
from tidegate.mesh.v1 import mesh_pb2_grpc

from control.cancellation import cancellable
from control.errors import Conflict, NotFound, Rejected, TidegateError, Unavailable

DEADLINE_S = 2.0
OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
)

T = TypeVar("T")


class MeshChannel:
    """The mesh's API at host:port. It connects when first used and again whenever the mesh comes back."""

    def __init__(self, address: str, token: str, *, deadline_s: float = DEADLINE_S) -> None:
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.deadline_s = deadline_s
        self._channel = grpc.aio.insecure_channel(address, options=OPTIONS)
        self.stub: Any = mesh_pb2_grpc.MeshServiceStub(self._channel)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        await self._channel.close(None)


async def answer(call: Awaitable[T]) -> T:
    """What the mesh answered. Raises the errors of `control.errors`."""
    try:
        return await cancellable(call)
    except grpc.aio.AioRpcError as error:
        raise translated(error) from error


def translated(error: grpc.aio.AioRpcError) -> TidegateError:
    """The mesh's status as an error of ours."""
    details = error.details() or error.code().name
    match error.code():
        case grpc.StatusCode.ABORTED:
            return Conflict(details, hint="the document changed in between; it is read again")
        case grpc.StatusCode.NOT_FOUND:
            return NotFound(details)
        case grpc.StatusCode.INVALID_ARGUMENT | grpc.StatusCode.FAILED_PRECONDITION | grpc.StatusCode.OUT_OF_RANGE:
            return Rejected(f"the mesh refused: {details}")
        case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
            return Unavailable(f"the mesh does not accept our token: {details}", hint="is it the token of this mesh?")
        case _:
            return Unavailable(f"the mesh does not answer: {details}")
