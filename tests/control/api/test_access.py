"""Who may speak to the controller, and where it may listen."""

import stat
from pathlib import Path

import pytest

from control.api.access import loopback, read_or_make_token, read_token
from control.errors import Refused


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.64.3.1:15030", "[::1]:80"])
def test_loopback_addresses_are_accepted(address: str) -> None:
    assert loopback(address) == address


@pytest.mark.parametrize(
    ("address", "message"),
    [
        pytest.param("0.0.0.0:80", "not a loopback address", id="all addresses"),
        pytest.param("10.0.0.1:80", "not a loopback address", id="a network's address"),
        pytest.param("[::]:80", "not a loopback address", id="all addresses, IPv6"),
        pytest.param("localhost:80", "not an address", id="a name, which may resolve to anything"),
        pytest.param("127.0.0.1", "not an address", id="no port"),
        pytest.param("127.0.0.1:http", "not an address", id="a port that is no number"),
        pytest.param("127.0.0.1:70000", "not a loopback", id="a port that does not exist"),
        pytest.param("", "not an address", id="nothing"),
    ],
)
def test_other_addresses_are_refused(address: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        loopback(address)


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "token"
    token = read_or_make_token(path)
    assert len(token) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_or_make_token(path) == token
    assert read_token(path) == token


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        pytest.param("secret", 0o644, "read by others", id="readable by all"),
        pytest.param("secret", 0o640, "read by others", id="readable by the group"),
        pytest.param(" \n", 0o600, "is empty", id="empty"),
        pytest.param(None, 0o600, "no token file", id="absent"),
    ],
)
def test_tokens_that_are_refused(tmp_path: Path, text: str | None, mode: int, message: str) -> None:
    path = tmp_path / "token"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    with pytest.raises(Refused, match=message) as caught:
        read_token(path)
    assert caught.value.hint


def test_a_folder_is_no_token(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="can't be read"):
        read_token(tmp_path)
