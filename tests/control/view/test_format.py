from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.view import format as words
from tests.support.cli_documents import NOW


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        pytest.param(None, "unknown", id="nobody knows"),
        pytest.param(0, "0 %", id="nothing"),
        pytest.param(1, "100 %", id="all"),
        pytest.param(Fraction(1, 20), "5 %", id="exact share"),
        pytest.param(0.0497, "4.97 %", id="two digits below ten"),
        pytest.param(0.333333, "33.3 %", id="one digit from ten"),
        pytest.param(Fraction(1, 10**6), "0.0001 %", id="the smallest weight is not nothing"),
        pytest.param(0.0000123, "0.0012 %", id="a tiny ratio"),
        pytest.param(0.99999, ">99.9 %", id="nearly all is not all"),
        pytest.param(0.999, "99.9 %", id="just what it is"),
    ],
)
def test_percent(ratio: Fraction | float | None, text: str) -> None:
    assert words.percent(ratio) == text


@given(st.floats(min_value=1e-9, max_value=1 - 1e-9))
def test_percent_never_hides_something_or_nearly_all(ratio: float) -> None:
    assert words.percent(ratio) not in ("0 %", "100 %")


@pytest.mark.parametrize(
    ("number", "noun", "many", "text"),
    [
        (0, "request", "", "0 requests"),
        (1, "step", "", "1 step"),
        (12345, "request", "", "12,345 requests"),
        (2, "proxy", "proxies", "2 proxies"),
        (1, "proxy", "proxies", "1 proxy"),
    ],
)
def test_plural(number: int, noun: str, many: str, text: str) -> None:
    assert words.plural(number, noun, many) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (0.04, "0.0 ms"),
        (3.21, "3.2 ms"),
        (9.97, "10 ms"),
        (48.3, "48 ms"),
        (999.6, "1.00 s"),
        (1234.0, "1.23 s"),
    ],
)
def test_milliseconds(value: float | None, text: str) -> None:
    assert words.milliseconds(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0 s"),
        (0.84, "0.8 s"),
        (4, "4 s"),
        (12.4, "12 s"),
        (59.6, "1 min 00 s"),
        (65, "1 min 05 s"),
        (7380, "2 h 03 min"),
        (86400 * 3 + 3600 * 4, "3 d 4 h"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert words.duration(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-12, "12 s ago"), (-0.4, "just now"), (0.4, "just now"), (5, "in 5 s")],
)
def test_relative(seconds: float, text: str) -> None:
    assert words.relative(NOW + timedelta(seconds=seconds), NOW) == text


def test_unknown_times_say_so() -> None:
    assert words.relative(None, NOW) == words.clock(None) == "unknown"
    assert words.clock(NOW) == "12:01:00"


@pytest.mark.parametrize(
    ("bad", "total", "text"),
    [(0, 0, "none seen"), (3, 1204, "3 of 1,204 (0.25 %)"), (0, 12, "0 of 12 (0 %)")],
)
def test_part_of(bad: int, total: int, text: str) -> None:
    assert words.part_of(bad, total) == text


@given(st.lists(st.floats(0, 1), min_size=1), st.integers(1, 50))
def test_resample_keeps_the_last_value_and_fits(values: list[float], width: int) -> None:
    kept = words.resample(values, width)
    assert len(kept) == min(len(values), width)
    assert kept[-1] == values[-1]


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.0021, "+0.21 %"), (-0.03, "-3 %"), (0.0, "0 %"), (-1e-9, "0 %"), (0.00004, "+0.004 %"), (1.0, "+100 %")],
)
def test_signed(ratio: float, text: str) -> None:
    assert words.signed(ratio) == text


@pytest.mark.parametrize(
    ("estimate", "text"), [(0.0003, "+0.03 % (-0.31 % to +0.21 %)"), (None, "")], ids=["compared", "nothing compared"]
)
def test_difference(estimate: float | None, text: str) -> None:
    assert words.difference(estimate, -0.0031, 0.00214) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (None, "unknown"),
        (0.0, "none"),
        (212.4, "212 : 1"),
        (20000.0, "20,000 : 1"),
        (1e9, "over 1,000,000 : 1"),
        (7.83, "7.8 : 1"),
        (1.0, "1 : 1"),
        (0.25, "1 : 4"),
        (1e-9, "1 : over 1,000,000"),
    ],
)
def test_odds(ratio: float | None, text: str) -> None:
    assert words.odds(ratio) == text


@pytest.mark.parametrize(
    ("ratio", "extra", "text"),
    [(1.1, 0.0005, "1.1 x stable + 0.05 %"), (1.0, 0.005, "stable + 0.5 %"), (1.58111, 0.0, "1.58 x stable")],
)
def test_margin(ratio: float, extra: float, text: str) -> None:
    assert words.margin(ratio, extra) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(12.34, "12.3"), (50.0, "50"), (1234.5, "1,234"), (0.02, "0"), (99.96, "100"), (-0.02, "0"), (-0.0, "0")],
)
def test_amount(number: float, text: str) -> None:
    assert words.amount(number) == text
