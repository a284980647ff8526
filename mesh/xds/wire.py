"""How do discovery messages look in bytes?

Responses are put together from resources that are encoded already; of requests only the few fields that matter are
read, and the node only where it is sent (parsing it with a generated message costs tens of milliseconds).

Source: envoy/service/discovery/v3/discovery.proto, google/rpc/status.proto, google/protobuf/any.proto.
"""

from dataclasses import dataclass

from mesh.xds.protobuf import chunk, fields, first_text, key, text
from mesh.xds.subscription import Request, Response


@dataclass(frozen=True, slots=True)
class Received:
    """A request, and the id of the node that sent it where it says so (on the first message of a stream)."""

    node: str
    request: Request


def read_request(message: bytes) -> Received:
    """The fields of a DiscoveryRequest that matter. Raises Malformed."""
    version = node = type_url = nonce = ""
    names: list[str] = []
    error: str | None = None
    for number, value in fields(message):
        match number, value:
            case 1, bytes():
                version = text(value)
            case 2, bytes():
                node = first_text(value, 1)
            case 3, bytes():
                names.append(text(value))
            case 4, bytes():
                type_url = text(value)
            case 5, bytes():
                nonce = text(value)
            case 6, bytes():
                error = first_text(value, 2) or "rejected without a message"
            case _:
                pass  # resource locators and what later versions add
    return Received(node, Request(type_url, frozenset(names), version, nonce, error))


def write_response(response: Response) -> bytes:
    """An encoded DiscoveryResponse."""
    type_url = str(response.kind).encode()
    head = chunk(1, type_url)
    parts = [chunk(1, response.version.encode())]
    for resource in response.resources:
        body = chunk(2, resource.body)
        parts += [key(2, len(head) + len(body)), head, body]
    parts += [chunk(4, type_url), chunk(5, response.nonce.encode())]
    return b"".join(parts)


def write_request(node: str, request: Request) -> bytes:
    """An encoded DiscoveryRequest, as an Envoy would send it; for clients of the server."""
    parts = [chunk(1, request.version.encode()), chunk(2, chunk(1, node.encode())) if node else b""]
    parts += [chunk(3, name.encode()) for name in sorted(request.names)]
    parts += [chunk(4, request.type_url.encode()), chunk(5, request.nonce.encode())]
    if request.error is not None:
        parts.append(chunk(6, chunk(2, request.error.encode())))
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Discovered:
    """A DiscoveryResponse as a client sees it: the bodies of its resources, still encoded."""

    type_url: str
    version: str
    nonce: str
    bodies: tuple[bytes, ...]


def read_response(message: bytes) -> Discovered:
    """The fields of a DiscoveryResponse; for clients of the server. Raises Malformed."""
    found: dict[int, str] = {}
    bodies: list[bytes] = []
    for number, value in fields(message):
        if isinstance(value, int):
            continue
        if number == 2:
            bodies += [body for inner, body in fields(value) if inner == 2 and isinstance(body, bytes)]
        else:
            found[number] = text(value)
    return Discovered(found.get(4, ""), found.get(1, ""), found.get(5, ""), tuple(bodies))
