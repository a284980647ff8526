"""How does an error of ours travel over gRPC, and come back as the same error? As a `google.rpc.Status` with details.

`ErrorInfo` names the kind (the error's code) and its hint; a SpecError adds `BadRequest` with one field violation a
problem, whose field is "source:line:column". A client that knows nothing of Tidegate still reads a sound status.
"""

from collections.abc import Mapping
from typing import cast

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from control.errors import (
    Conflict,
    InvariantBroken,
    NotFound,
    Problem,
    Refused,
    Rejected,
    SpecError,
    StartFailed,
    TidegateError,
    TimedOut,
    Unavailable,
)

NO_ANSWER = "no controller answers"
DOMAIN = "tidegate.dev"
CODES: Mapping[type[TidegateError], int] = {
    SpecError: code_pb2.INVALID_ARGUMENT,
    NotFound: code_pb2.NOT_FOUND,
    Refused: code_pb2.FAILED_PRECONDITION,
    Rejected: code_pb2.FAILED_PRECONDITION,
    Unavailable: code_pb2.UNAVAILABLE,
    Conflict: code_pb2.ABORTED,
    TimedOut: code_pb2.DEADLINE_EXCEEDED,
    StartFailed: code_pb2.FAILED_PRECONDITION,
    InvariantBroken: code_pb2.INTERNAL,
}
KINDS: Mapping[str, type[TidegateError]] = {kind.code: kind for kind in CODES if kind is not SpecError}
BY_STATUS: Mapping[grpc.StatusCode, type[TidegateError]] = {
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.FAILED_PRECONDITION: Refused,
    grpc.StatusCode.INVALID_ARGUMENT: Refused,
    grpc.StatusCode.RESOURCE_EXHAUSTED: Refused,
    grpc.StatusCode.ABORTED: Conflict,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: TimedOut,
}


def status_of(error: TidegateError) -> status_pb2.Status:
    """The rich status that carries an error."""
    info = error_details_pb2.ErrorInfo(reason=error.code, domain=DOMAIN, metadata={"hint": error.hint})
    status = status_pb2.Status(code=CODES[type(error)], message=error.message, details=[_packed(info)])
    if isinstance(error, SpecError):
        status.details.append(_packed(_bad_request(error)))
    return status


def error_of(call: grpc.aio.AioRpcError) -> TidegateError:
    """The error that a failed call carried; one that is not ours is told apart by its plain status."""
    status = rpc_status.from_call(cast(grpc.Call, call))
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    for detail in status.details if status is not None else ():
        detail.Unpack(info) or detail.Unpack(bad_request)
    message = call.details() or call.code().name
    if bad_request.field_violations:
        return SpecError([_problem(each) for each in bad_request.field_violations])
    if info.domain == DOMAIN and info.reason in KINDS:
        return KINDS[info.reason](message, hint=info.metadata["hint"])
    return _foreign(call.code(), message)


def _foreign(code: grpc.StatusCode, message: str) -> TidegateError:
    match code:
        case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
            hint = "is it the token of the controller's state folder?"
            return Refused(f"the controller does not accept the token: {message}", hint=hint)
        case grpc.StatusCode.UNAVAILABLE:
            return Unavailable(NO_ANSWER, hint="does one run there?")
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return Unavailable("the controller did not answer in time")
        case _:
            return BY_STATUS.get(code, InvariantBroken)(message)


def _bad_request(error: SpecError) -> error_details_pb2.BadRequest:
    violations = [
        error_details_pb2.BadRequest.FieldViolation(
            field=f"{each.source}:{each.line}:{each.column}",
            description=each.message,
            localized_message=error_details_pb2.LocalizedMessage(locale="en", message=each.hint),
        )
        for each in error.problems
    ]
    return error_details_pb2.BadRequest(field_violations=violations)


def _problem(violation: error_details_pb2.BadRequest.FieldViolation) -> Problem:
    source, line, column = violation.field.rsplit(":", 2)
    return Problem(source, int(line), int(column), violation.description, violation.localized_message.message)


def _packed(message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed
