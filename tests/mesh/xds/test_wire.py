"""Discovery messages by hand beside the same ones by the generated classes."""

import contextlib

import pytest
from envoy_data_plane.envoy.service.discovery import v3 as discovery
from hypothesis import given
from hypothesis import strategies as st

from mesh.xds.protobuf import Malformed, encoded, fields, varint
from mesh.xds.snapshot import Kind
from mesh.xds.subscription import Request, Response
from mesh.xds.wire import Received, read_request, read_response, write_request, write_response
from tests.support.ads_model import thing

REQUEST = Request(Kind.ROUTE, frozenset({"80", "81"}), "v1", "7", "bad regex")


def test_a_request_is_read_as_the_generated_class_writes_it() -> None:
    from envoy_data_plane.envoy.config.core import v3 as core
    from envoy_data_plane.google.rpc import Status

    message = discovery.DiscoveryRequest(
        version_info="v1",
        node=core.Node(id="sidecar~127.0.0.1~a.b~b.svc.cluster.local", cluster="c"),
        resource_names=["80", "81"],
        type_url=str(Kind.ROUTE),
        response_nonce="7",
        error_detail=Status(code=3, message="bad regex"),
    )
    assert read_request(bytes(message)) == Received("sidecar~127.0.0.1~a.b~b.svc.cluster.local", REQUEST)


def test_a_response_is_written_as_the_generated_class_reads_it() -> None:
    resources = (thing("a", "x" * 300), thing("b", ""))
    parsed = discovery.DiscoveryResponse.parse(write_response(Response(Kind.CLUSTER, "v9", "3", resources)))
    assert (parsed.version_info, parsed.nonce, parsed.type_url) == ("v9", "3", str(Kind.CLUSTER))
    assert [(each.type_url, each.value) for each in parsed.resources] == [
        (str(Kind.CLUSTER), b"x" * 300),
        (str(Kind.CLUSTER), b""),
    ]


def test_a_client_reads_what_the_server_writes() -> None:
    response = read_response(write_response(Response(Kind.ROUTE, "v", "1", (thing("80", "c-red"),))))
    assert (response.type_url, response.version, response.nonce, response.bodies) == (Kind.ROUTE, "v", "1", (b"c-red",))


names = st.text(min_size=1, max_size=40)


@given(st.frozensets(names), st.text(), st.text(), st.one_of(st.none(), names), st.text())
def test_reading_undoes_writing(asked: frozenset[str], version: str, nonce: str, error: str | None, node: str) -> None:
    request = Request(Kind.CLUSTER, asked, version, nonce, error)
    assert read_request(write_request(node, request)) == Received(node, request)


@given(st.integers(0, 2**63))
def test_numbers_survive(value: int) -> None:
    assert varint(encoded(value), 0) == (value, len(encoded(value)))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(message: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert sum(1 for _ in fields(message)) <= len(message)


@pytest.mark.parametrize(
    "message", [b"\x0a\x05ab", b"\x0b", b"\x80" * 12, b"\x09\x00"], ids=["cut off", "a group", "endless", "cut number"]
)
def test_what_is_no_message_is_refused(message: bytes) -> None:
    with pytest.raises(Malformed):
        list(fields(message))


def test_an_error_without_words_is_still_one() -> None:
    assert read_request(b"\x32\x00").request.error == "rejected without a message"


def test_fields_of_fixed_size_and_unknown_ones_are_passed_over() -> None:
    message = b"\x39" + bytes(8) + b"\x3d" + bytes(4) + b"\x38\x01" + write_request("n", REQUEST)
    assert read_request(message) == Received("n", REQUEST)
