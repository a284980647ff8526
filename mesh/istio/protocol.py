"""How does a port speak? The protocols that the local mesh routes: all of them carry HTTP."""

from enum import StrEnum


class Protocol(StrEnum):
    """A port's protocol, as Istio spells it."""

    HTTP = "HTTP"
    HTTP2 = "HTTP2"
    GRPC = "GRPC"
    GRPC_WEB = "GRPC-WEB"

    @property
    def is_http2(self) -> bool:
        """Does an upstream of this protocol get HTTP/2?"""
        return self is not Protocol.HTTP

    @property
    def is_grpc(self) -> bool:
        """Do calls on this port end with a gRPC status?"""
        return self in (Protocol.GRPC, Protocol.GRPC_WEB)


def parse_protocol(text: str) -> Protocol:
    """The protocol named `text`, in any case.

    Raises: ValueError when the local mesh doesn't route it.
    """
    return Protocol(text.upper())


GRPC_CODES = {
    name: number
    for number, name in enumerate(
        (
            "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
            "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
            "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
        )
    )
}  # fmt: skip
"""The statuses of gRPC by the names that Istio's documents use."""
