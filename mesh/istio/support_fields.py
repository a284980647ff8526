"""What does one row of the support table hold, and which rows come up again and again?"""

from dataclasses import dataclass

from mesh.istio.support_types import HEADER_VALUE, OBJECT, PORT, REGEX, STRING, WORD, Type, one_of

HTTP_ONLY = "not supported by the local mesh: it routes HTTP and gRPC, not bare connections"
NO_CERTIFICATES = "not supported by the local mesh: there are no certificates on loopback"
PROTOCOL = one_of("HTTP", "HTTP2", "GRPC", "GRPC-WEB", "http", "http2", "grpc", "grpc-web")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one kind. `refused` is the reason when the local mesh doesn't take it; it then has no type."""

    path: str
    type: Type = OBJECT
    note: str = ""
    required: bool = False
    refused: str = ""


def no(path: str, reason: str) -> Field:
    """A field that is refused."""
    return Field(path, refused=reason)


def must(path: str, kind: Type, note: str = "") -> Field:
    """A field that has to stand where its parent stands."""
    return Field(path, kind, note, required=True)


def port(path: str, note: str = "") -> tuple[Field, ...]:
    """A numbered port with a protocol."""
    return (
        Field(path, note=note),
        must(f"{path}.number", PORT),
        must(f"{path}.protocol", PROTOCOL, "TCP, TLS and the like carry no HTTP"),
        Field(f"{path}.name", STRING),
    )


def matches(path: str, note: str = "") -> tuple[Field, ...]:
    """A comparison of a string."""
    return (
        Field(path, note=note),
        Field(f"{path}.exact", STRING),
        Field(f"{path}.prefix", STRING),
        Field(f"{path}.regex", REGEX),
    )


def destination(path: str, note: str = "") -> tuple[Field, ...]:
    """A host, one of its subsets, one of its ports."""
    return (
        Field(path, note=note),
        must(f"{path}.host", WORD),
        Field(f"{path}.subset", STRING),
        must(f"{path}.port.number", PORT, "else the service's only port, else the listener's"),
    )


def headers(path: str, note: str) -> tuple[Field, ...]:
    """Operations on headers both ways."""
    return (Field(path, note=note), *_operations(f"{path}.request"), *_operations(f"{path}.response"))


def _operations(path: str) -> tuple[Field, ...]:
    return (
        Field(f"{path}.set{{}}", HEADER_VALUE, "overwrites; before `add`, sorted by name"),
        Field(f"{path}.add{{}}", HEADER_VALUE, "appends, sorted by name"),
        Field(f"{path}.remove[]", WORD),
    )
