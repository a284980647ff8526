"""How does a person's tool talk to the controller? `ShiftClient`, and the carrier of it that a laptop uses.

A client speaks of TrafficShift documents as they are (apiVersion, kind, metadata, spec, status: plain JSON values);
there is no second model. Every method raises the errors of `control.errors` and nothing of gRPC: Unavailable (no
controller answers), SpecError (with every problem of the text), NotFound, Refused, Conflict.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from control.engine.command import Command


@dataclass(frozen=True, slots=True)
class ShiftDocument:
    """One whole TrafficShift. `revision` grows with every change of spec or status."""

    namespace: str
    name: str
    document: Mapping[str, Any]
    revision: int

    @property
    def spec(self) -> Mapping[str, Any]:
        spec: Mapping[str, Any] = self.document.get("spec", {})
        return spec

    @property
    def status(self) -> Mapping[str, Any]:
        status: Mapping[str, Any] = self.document.get("status", {})
        return status


@dataclass(frozen=True, slots=True)
class ShiftChange:
    """One event of a watch: the document as it is now, or as it was last when it is deleted."""

    shift: ShiftDocument
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """`outcome` is "created", "changed" or "unchanged"."""

    shift: ShiftDocument
    outcome: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """`outcome` says in a sentence what the command does."""

    shift: ShiftDocument
    outcome: str


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

    async def version(self) -> str:
        """The controller's version."""


def connect(address: str, token: str, *, timeout_s: float = 10.0) -> AbstractAsyncContextManager[ShiftClient]:
    """A client of the controller at host:port. Usage: `async with connect(address, token) as client: ...`"""
    from control.api.grpc_client import GrpcShiftClient

    return GrpcShiftClient(address, token, timeout_s=timeout_s)
