"""Shares, durations and names: what is read, what is refused, and that writing reads back."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.spec.quantity import (
    SHORTEST_EDGE_MS,
    duration_text,
    edge_text,
    parse_duration,
    parse_edge,
    parse_host,
    parse_label,
    parse_moment,
    parse_number,
    parse_rate,
    parse_share,
    rate_text,
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


@pytest.mark.parametrize(
    ("text", "rate"),
    [("0.05%", 0.0005), ("1%", 0.01), ("100%", 1.0), ("0%", 0.0), ("1/200", 0.005), (" 2 % ", 0.02), ("99.5%", 0.995)],
)
def test_a_rate_is_read(text: str, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("value", [0.05, 5, "5", "0.05", "", "%", "1/0", "-1%", ".5%", None, float("nan"), ["1%"]])
def test_a_bare_number_is_no_rate(value: object) -> None:
    with pytest.raises(ValueError, match="not a part of requests"):
        parse_rate(value)


def test_a_rate_is_no_more_than_all() -> None:
    with pytest.raises(ValueError, match=r"100\.1% is more than 100%"):
        parse_rate("100.1%")


@given(st.floats(min_value=1e-12, max_value=1) | st.just(0.0))
def test_a_rate_reads_back_to_the_very_same_number(rate: float) -> None:
    assert parse_rate(rate_text(rate)) == rate


@pytest.mark.parametrize(
    ("rate", "text"), [(0.0005, "0.05%"), (0.1, "10%"), (1.0, "100%"), (0.0, "0%"), (1e-7, "0.00001%")]
)
def test_a_rate_is_written_as_people_do(rate: float, text: str) -> None:
    assert rate_text(rate) == text


@pytest.mark.parametrize(
    ("text", "ms"),
    [("0.5ms", 0.5), ("100ms", 100.0), ("2s", 2000.0), ("1m30s", 90_000.0), ("0.29s", 290.0), ("1d", 86_400_000.0)],
)
def test_an_edge_is_read_in_milliseconds(text: str, ms: float) -> None:
    assert parse_edge(text) == ms


@pytest.mark.parametrize(
    ("value", "complaint"),
    [(100, "not an edge"), ("100", "not an edge"), (None, "not an edge"), ("0s", "not between"), ("2d", "not between")],
)
def test_what_is_no_edge(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_edge(value)


@given(st.floats(min_value=SHORTEST_EDGE_MS, max_value=86_400_000))
def test_an_edge_reads_back(ms: float) -> None:
    assert parse_edge(edge_text(ms)) == ms


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        pytest.param("5", "not a number", id="text"),
        pytest.param(True, "not a number", id="true is no 1"),
        pytest.param(None, "not a number", id="nothing"),
        pytest.param(float("nan"), "not a finite number", id="not a number"),
        pytest.param(float("-inf"), "not a finite number", id="without end"),
        pytest.param(1e300, "is beyond 1e\\+15", id="more than anything"),
        pytest.param(10**400, "is beyond 1e\\+15", id="more than a float holds"),
    ],
)
def test_what_is_no_number(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_number(value)


@pytest.mark.parametrize(
    "text", ["2026-05-01T10:00:00Z", "2026-05-01T12:00:00+02:00", "2026-05-01 10:00:00+00:00", " 2026-05-01T10:00Z "]
)
def test_a_moment_is_read_as_utc(text: str) -> None:
    found = parse_moment(text)
    assert found == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert found.utcoffset() == timedelta(0)


@pytest.mark.parametrize("value", ["2026-05-01T10:00:00", "2026-05-01", "yesterday", "", 1714557600, None])
def test_what_has_no_offset_is_no_moment(value: object) -> None:
    with pytest.raises(ValueError, match="not a moment"):
        parse_moment(value)
