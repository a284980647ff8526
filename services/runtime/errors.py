"""How does a service say no, to the whole call or to one item of it?

`CallError` is the one exception that servicers raise. It becomes a `google.rpc.Status` with details: BadRequest when
fields are wrong, ErrorInfo (a stable reason for machines) always.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "tidegate.dev"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One wrong field of a request: `field` is its path ("contents[3]")."""

    field: str
    description: str


class CallError(Exception):
    """Why a call, or one item of it, was not served. `reason` is UPPER_SNAKE_CASE and stable."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: str,
        violations: Sequence[FieldViolation] = (),
        facts: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = reason
        self.violations = tuple(violations)
        self.facts = dict(facts or {})

    def status(self) -> status_pb2.Status:
        """The error as a message: an item's status, or the whole call's `grpc-status-details-bin`."""
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        for detail in self._details():
            status.details.add().Pack(detail)
        return status

    def _details(self) -> list[Message]:
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.facts)
        if not self.violations:
            return [info]
        fields = [
            error_details_pb2.BadRequest.FieldViolation(field=v.field, description=v.description)
            for v in self.violations
        ]
        return [error_details_pb2.BadRequest(field_violations=fields), info]


def bad_request(*violations: FieldViolation, reason: str = "BAD_REQUEST") -> CallError:
    """All wrong fields of a request in one INVALID_ARGUMENT."""
    message = "; ".join(f"{v.field}: {v.description}" for v in violations)
    return CallError(grpc.StatusCode.INVALID_ARGUMENT, message, reason=reason, violations=violations)


def unavailable(message: str, *, reason: str) -> CallError:
    """Something that this call needs cannot be reached now; the same call may succeed later."""
    return CallError(grpc.StatusCode.UNAVAILABLE, message, reason=reason)
