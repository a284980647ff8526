"""What do a controller and its tools hand to each other? TrafficShift documents, and what became of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    """`outcome` is "created", "changed" or "unchanged"; when the mesh could not be asked, it goes on to say so."""

    shift: ShiftDocument
    outcome: str


@dataclass(frozen=True, slots=True)
class CommandResult:
    """`outcome` says in a sentence what the command does."""

    shift: ShiftDocument
    outcome: str
