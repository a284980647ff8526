"""Addresses that can't be had are told with the line that asks for them."""

import errno
import socket

import pytest

from mesh.istio.document import Document, read_documents
from mesh.runner.taken import address_of, free_port, reason, refusal, unavailable

TEXT = b"""apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: a}
spec:
  ingress:
    - port:
        number: 50051
        protocol: GRPC
        name: grpc
      defaultEndpoint: 127.0.0.1:1
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: b}
spec:
  servers:
    - port:
        number: PORT
        name: grpc
        protocol: GRPC
      bind: 127.0.0.1
      hosts: [a.example.com]
"""


def documents(port: int) -> list[Document]:
    return read_documents("mesh.yaml", TEXT.replace(b"PORT", str(port).encode()))[0]


def test_a_taken_port_names_its_line() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        [problem] = unavailable([("127.0.0.1", port)], documents(port))
    assert str(problem).startswith(f"mesh.yaml:18:9: 127.0.0.1:{port} is taken by another program (see who listens")
    assert problem.document == ("Gateway", "default", "b")


def test_one_that_no_document_names_is_told_without_a_place() -> None:
    [problem] = unavailable([("192.0.2.1", 80)], documents(1))
    assert (problem.file, problem.message) == ("", "192.0.2.1:80 is no address of this machine")


def test_a_free_port_is_no_problem() -> None:
    assert unavailable([("127.0.0.1", free_port("127.0.0.1"))], documents(1)) == []
    assert refusal(("::1", 0)) in (None, "is no address of this machine")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EADDRINUSE, "is taken by another program"),
        (errno.EADDRNOTAVAIL, "is no address of this machine"),
        (errno.EACCES, "may not be opened by this user"),
        (errno.EPERM, "can't be listened on: Operation not permitted"),
    ],
)
def test_reasons(number: int, sentence: str) -> None:
    assert reason(OSError(number, "")) == sentence


@pytest.mark.parametrize(
    ("name", "address"),
    [("127.0.0.1_80", ("127.0.0.1", 80)), ("virtualInbound", None), ("_80", None), ("a_b", None)],
)
def test_addresses_in_names_of_listeners(name: str, address: tuple[str, int] | None) -> None:
    assert address_of(name) == address
