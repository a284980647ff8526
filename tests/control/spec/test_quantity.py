"""Shares, durations and names: what is read, what is refused, and that writing reads back."""

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.spec.quantity import (
    duration_text,
    parse_duration,
    parse_host,
    parse_label,
    parse_share,
    share_text,
)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("5%", Fraction(1, 20)),
        ("0.5%", Fraction(1, 200)),
        ("0.5 %", Fraction(1, 200)),
        ("1/200", Fraction(1, 200)),
        (" 1 / 3 ", Fraction(1, 3)),
        ("100%", Fraction(1)),
        ("0.0001%", Fraction(1, 1_000_000)),
    ],
)
def test_a_share_is_read_exactly(text: str, share: Fraction) -> None:
    assert parse_share(text) == share


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (5, "not a share"),
        (0.05, "not a share"),
        ("5", "not a share"),
        ("5%%", "not a share"),
        ("1/0", "not a share"),
        ("-5%", "not a share"),
        ("nan%", "not a share"),
        ("9" * 400 + "%", "not a share"),
        (None, "not a share"),
        (True, "not a share"),
        ("0%", "no step"),
        ("0/7", "no step"),
        ("101%", "more than 100%"),
        ("3/2", "more than 100%"),
        ("0.00001%", "one request in a million"),
    ],
)
def test_an_impossible_share_is_refused(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_share(value)


@given(st.fractions(min_value=Fraction(1, 1_000_000), max_value=1, max_denominator=1_000_000))
def test_a_share_reads_back(share: Fraction) -> None:
    assert parse_share(share_text(share)) == share


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("10s", timedelta(seconds=10)),
        ("1m30s", timedelta(seconds=90)),
        ("500ms", timedelta(milliseconds=500)),
        ("1.5h", timedelta(minutes=90)),
        ("0s", timedelta(0)),
        ("2d", timedelta(days=2)),
    ],
)
def test_a_duration_is_read(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize("value", [10, "10", "", "s", "10 s", "ten s", "-5s", "1s" * 40, None, "1e3s"])
def test_what_has_no_unit_is_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(value)


def test_more_than_a_year_is_refused() -> None:
    with pytest.raises(ValueError, match="more than a year"):
        parse_duration("366d")


@given(st.integers(min_value=0, max_value=365 * 86_400_000))
def test_a_duration_reads_back(milliseconds: int) -> None:
    length = timedelta(milliseconds=milliseconds)
    assert parse_duration(duration_text(length)) == length


@pytest.mark.parametrize("name", ["v1", "a", "0", "translator-v2", "a" * 63])
def test_dns_labels_are_names(name: str) -> None:
    assert parse_label(name) == parse_host(name) == name


@pytest.mark.parametrize("name", ["", "V1", "-a", "a-", "a_b", "a" * 64, "a b", "ü", 7, None, "v1\n"])
def test_anything_else_is_no_name(name: object) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        parse_label(name)
    with pytest.raises(ValueError, match="is not a host"):
        parse_host(name)


def test_a_host_may_have_dots_but_no_empty_part() -> None:
    assert parse_host("translator.shop.svc.cluster.local")
    with pytest.raises(ValueError, match="is not a host"):
        parse_host("translator..shop")
    with pytest.raises(ValueError, match="is not a host"):
        parse_host(".".join(["a" * 60] * 5))
