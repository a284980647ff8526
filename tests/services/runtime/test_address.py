"""Which words are addresses?"""

import pytest

from services.runtime.address import TcpAddress, UnixAddress, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:0", TcpAddress("127.0.0.1", 0)),
        ("localhost:65535", TcpAddress("localhost", 65_535)),
        ("[::1]:80", TcpAddress("[::1]", 80)),
        ("unix:/tmp/a.sock", UnixAddress("/tmp/a.sock")),
        ("unix:relative", UnixAddress("relative")),
    ],
)
def test_an_address_is_read_and_written_back(text, address):
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "neither HOST:PORT nor unix:PATH"),
        ("50051", "neither HOST:PORT nor unix:PATH"),
        (":50051", "neither HOST:PORT nor unix:PATH"),
        ("host:", "'' is not a port"),
        ("host:http", "'http' is not a port"),
        ("host:-1", "'-1' is not a port"),
        ("host:65536", "'65536' is not a port"),
        ("host:٣", "is not a port"),
        ("unix:", "names no socket path"),
        ("unix:/a\0b", "names no socket path"),
    ],
)
def test_anything_else_is_refused_with_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=r"port|path|neither") as refused:
        parse_address(text)
    assert sentence in str(refused.value)
