"""What settings make of an address and credentials, and which of them don't fit."""

from pathlib import Path
from typing import Any

import pytest

from control.adapters.prometheus.access import Access, access
from control.errors import SpecError, Unavailable

TEXTS = ("headers", "user", "password_file", "bearer_file", "ca", "cert", "key")
NOTHING: dict[str, Any] = dict.fromkeys(TEXTS, "") | {"timeout_s": 5.0, "scrape_s": 15.0}
URL = "https://prometheus.example.com:9090/team/"


def test_the_api_is_below_the_address() -> None:
    assert access(URL, **NOTHING).endpoint("query") == "https://prometheus.example.com:9090/team/api/v1/query"


@pytest.mark.parametrize(
    ("url", "given", "said"),
    [
        ("prometheus:9090", {}, "'prometheus:9090', expected http://host:port"),
        ("ftp://prometheus", {}, "expected http://host:port"),
        ("http://", {}, "expected http://host:port"),
        ("http://prometheus/?a=b", {}, "expected http://host:port"),
        ("http://me:secret@prometheus", {}, "holds a user or a password"),
        (URL, {"bearer_file": "t", "user": "me"}, "takes one of them"),
        (URL, {"password_file": "p"}, "a password is set, and no user"),
        (URL, {"key": "k"}, "and no certificate"),
        (URL, {"headers": "X-A: 1; X-B"}, "a header is 'X-B', expected `Name: value`"),
        (URL, {"headers": "X-A: 1\r\nX-B: 2"}, "a header is 'X-A'"),
        (URL, {"timeout_s": 0.0}, "the time-out is 0.0 s, expected more than 0"),
        (URL, {"scrape_s": float("nan")}, "the scrape interval is nan s, expected more than 0"),
        (URL, {"scrape_s": float("inf")}, "the scrape interval is inf s"),
    ],
    ids=[
        "no scheme", "another scheme", "no host", "a query", "a password in it", "two credentials", "no user",
        "no certificate", "no value", "two lines", "no time", "no interval",
        "an endless one",
    ],
)  # fmt: skip
def test_what_does_not_fit(url: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        access(url, **NOTHING | given)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_all_mistakes_come_together() -> None:
    with pytest.raises(SpecError) as caught:
        access("prometheus", **NOTHING | {"key": "k", "password_file": "p", "headers": "X"})
    assert len(caught.value.problems) == 4


def test_headers_of_ones_own() -> None:
    found = access(URL, **NOTHING | {"headers": "X-Scope-OrgID: team-a; X-Via: b:c ;"})
    assert found.shown() == {"X-Scope-OrgID": "team-a", "X-Via": "b:c"}
    assert "team-a" not in repr(found), "a header may be a secret"


def test_a_user_with_and_without_a_password(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cret\n")
    assert Access(URL, user="me", password_file=tmp_path / "password").shown() == {
        "Authorization": "Basic bWU6czNjcmV0"
    }
    assert Access(URL, user="me").shown() == {"Authorization": "Basic bWU6"}


def test_a_token_is_read_anew(tmp_path: Path) -> None:
    found = Access(URL, bearer_file=tmp_path / "token")
    for token in ("first", "second"):
        (tmp_path / "token").write_text(f"{token}\n")
        assert found.shown() == {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("content", [None, b"", b"two\nlines", b"\xff"], ids=["no file", "empty", "lines", "no text"])
def test_a_secret_that_is_none(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    with pytest.raises(Unavailable, match=str(tmp_path / "token")) as caught:
        Access(URL, bearer_file=tmp_path / "token").shown()
    assert "two" not in caught.value.message


def test_certificates_that_cannot_be_used(tmp_path: Path) -> None:
    assert Access("http://prometheus").tls() is None
    with pytest.raises(Unavailable, match="certificates") as caught:
        Access(URL, ca=tmp_path / "none").tls()
    assert str(tmp_path / "none") in caught.value.hint
