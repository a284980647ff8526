from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.view import read
from control.view.shift import shift_view
from tests.support.cli_documents import NOW, document


@pytest.mark.parametrize(
    ("value", "share"),
    [
        ("1/20", Fraction(1, 20)),
        ("5%", Fraction(1, 20)),
        ("0.5 %", Fraction(1, 200)),
        (0.5, Fraction(1, 2)),
        ("0", Fraction(0)),
        (None, None),
        ("", None),
        ("1/0", None),
        ("much", None),
    ],
)
def test_share(value: Any, share: Fraction | None) -> None:
    assert read.share(value) == share


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-11-30T12:01:00Z", NOW),
        ("2026-11-30T13:01:00+01:00", NOW),
        ("2026-11-30T12:01:00", NOW),
        (None, None),
        ("yesterday", None),
    ],
)
def test_moment(value: Any, moment: datetime | None) -> None:
    found = read.moment(value)
    assert found == moment
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "seconds"), [("10s", 10), ("1m30s", 90), ("500ms", 0.5), ("1h", 3600), (10, 10), ("soon", 0)]
)
def test_span(value: Any, seconds: float) -> None:
    assert read.span(value) == timedelta(seconds=seconds)


@pytest.mark.parametrize("value", [None, 3, "text", [1], {"a": 1}], ids=str)
def test_odd_values_read_as_nothing(value: Any) -> None:
    odd = {"x": value}
    assert read.section(odd, "x") in ({}, {"a": 1})
    assert list(read.rows(odd, "x")) == []
    assert read.whole(odd, "y") == 0
    assert read.ratio({"x": True}, "x") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(0, 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(document()["status"])), JSON))
def test_no_status_of_whatever_controller_breaks_a_screen(status: dict[str, Any]) -> None:
    view = shift_view(document(status), [], NOW)
    assert view.name == "translator"
