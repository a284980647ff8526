"""Who listens on an address: a child of this process, or somebody else?"""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mesh.runner.own_ports import Address, address_of_hex, is_own, overlap
from mesh.runner.taken import refusal, refusal_by_others

CHILD = """
import socket, sys
with socket.create_server((sys.argv[1], 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def child() -> Iterator[Address]:
    """An address that a child of this process listens on."""
    command = [sys.executable, "-c", CHILD, "127.0.0.1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield "127.0.0.1", int(process.stdout.readline())
        process.stdin.close()


def test_an_address_of_a_child_is_our_own_when_it_was_asked_for(child: Address) -> None:
    assert is_own(child, {child})
    assert is_own(("0.0.0.0", child[1]), {child})
    assert not is_own(child, {("127.0.0.1", 1)})
    assert refusal(child) == "is taken by another program"
    assert refusal_by_others({child})(child) is None
    assert refusal_by_others(set())(child) == "is taken by another program"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_an_address_that_this_process_or_nobody_has_is_not_an_envoys(host: str) -> None:
    with socket.create_server((host, 0)) as listener:
        address = ("127.0.0.1", listener.getsockname()[1])
        assert not is_own(address, {address, (host, address[1])})
        assert refusal_by_others({address})(address) == "is taken by another program"
    assert not is_own(address, {address})
    assert refusal_by_others({address})(address) is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0B00007F:C38D", ("127.0.0.11", 50061)),
        ("00000000:1F90", ("0.0.0.0", 8080)),
        ("00000000000000000000000001000000:0050", ("::1", 80)),
    ],
)
def test_addresses_as_linux_writes_them(text: str, address: Address) -> None:
    assert address_of_hex(text) == address


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("127.0.0.1", 80), ("127.0.0.1", 80), True),
        (("127.0.0.1", 80), ("127.0.0.2", 80), False),
        (("127.0.0.1", 80), ("127.0.0.1", 81), False),
        (("0.0.0.0", 80), ("127.0.0.1", 80), True),
        (("127.0.0.1", 80), ("::", 80), True),
    ],
)
def test_overlap(left: Address, right: Address, *, expected: bool) -> None:
    assert overlap(left, right) is expected
