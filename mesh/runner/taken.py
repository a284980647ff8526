"""Can the Envoys have the addresses that the documents give them?

Asked before an Envoy starts and before a change goes live: Envoys share ports willingly (SO_REUSEPORT), so two meshes
would silently take each other's connections, and a foreign program's port only shows as a refused listener, when the
one that it was to replace is gone already.
"""

import errno
import os
import socket
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mesh.istio.document import Document
from mesh.istio.problem import Problem
from mesh.runner.own_ports import Address, is_own

Refusal = Callable[[Address], str | None]
SPEC_LISTS = {"Gateway": ("servers",), "Sidecar": ("ingress", "egress")}


def address_of(listener: str) -> Address | None:
    """Host and port in a listener's name. Example: "127.0.0.11_50061" is ("127.0.0.11", 50061)."""
    host, _, port = listener.rpartition("_")
    return (host, int(port)) if host and port.isdigit() else None


def refusal(address: Address) -> str | None:
    """Why nobody can listen there now, or None."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            return reason(error)
        return None


def refusal_by_others(asked: Collection[Address]) -> Refusal:
    """Like `refusal`, but what one of our own Envoys (still) has, because it was `asked` for before, is not refused."""

    def refused(address: Address) -> str | None:
        return None if not refusal(address) or is_own(address, asked) else refusal(address)  # it may be free by now

    return refused


def unavailable(
    listeners: Iterable[Address], documents: Sequence[Document], refused: Refusal = refusal
) -> list[Problem]:
    """A problem for each address that can't be listened on, at the line that asks for it."""
    found = []
    for address in sorted(set(listeners)):
        why = refused(address)
        if why:
            found.append(problem(documents, address, why))
    return found


def reason(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "is taken by another program"
        case errno.EADDRNOTAVAIL:
            return "is no address of this machine"
        case errno.EACCES:
            return "may not be opened by this user"
        case number:
            return f"can't be listened on: {os.strerror(number or 0)}"


def problem(documents: Sequence[Document], address: Address, why: str) -> Problem:
    """The refusal at the line of the port in the Gateway or Sidecar that asks for it."""
    host, port = address
    sentence, hint = f"{host}:{port} {why}", f"see who listens: ss -ltnp 'sport = :{port}'"
    for document, path in askers(documents, address):
        place = document.place(path)
        return Problem(document.file, place.line, place.column, sentence, hint, document.key)
    return Problem("", 0, 0, sentence, hint)


def askers(documents: Sequence[Document], address: Address) -> Iterator[tuple[Document, tuple[str | int, ...]]]:
    """Documents with the path to a port that has this number, those that name the very address first."""
    found = []
    for document in documents:
        spec = document.data.get("spec") or {}
        for name in SPEC_LISTS.get(document.kind, ()):
            for index, entry in enumerate(spec.get(name) or ()):
                if port_of(entry) == address[1]:
                    same_host = entry.get("bind") == address[0]
                    found.append((not same_host, document, ("spec", name, index, "port", "number")))
    for _, document, path in sorted(found, key=lambda each: each[0]):
        yield document, path


def port_of(entry: Mapping[str, Any]) -> int | None:
    port = entry.get("port")
    number = port.get("number") if isinstance(port, Mapping) else None
    return number if isinstance(number, int) else None


def free_port(host: str) -> int:
    """A port of `host` that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
