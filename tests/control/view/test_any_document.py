"""A screen shows whatever a newer or older controller sends: no view raises, wherever a document is odd."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.cli.report import html
from control.view.explain import explain_view
from control.view.listing import list_row
from control.view.markdown import markdown
from control.view.report import Baseline, report_view
from control.view.shift import shift_view
from control.view.summary import summary_view
from tests.support.cli_documents import NOW, at, by_evidence, journal, promoted

REJECTIONS = [{"proxy": "a", "message": "no"}]
DIFFERENCE = {"estimate": 0.1, "low": 0.0, "high": 0.2}
WHOLE = {
    "document": by_evidence(
        startedAt=at(-600),
        guard={"sentence": "3 failed", "until": at(9)},
        bake={"for": "10m", "at": "1/5", "since": at(-60), "lastedSeconds": 60.0},
        proxies=[
            {"route": "edge", "holders": ["a"], "acknowledged": [], "rejections": [{"proxy": "a", "message": "no"}]}
        ],
    ),
    "journal": journal(),
    "baseline": {
        "from": at(-9000),
        "to": at(-8000),
        "rows": [
            {"test": "outcomes", "requests": 9, "bad": 1, "difference": {"estimate": 0.1, "low": 0.0, "high": 0.2}}
        ],
        "troubles": {"misses": "no such series"},
    },
}
ODD = [
    None,
    True,
    -1,
    0,
    1e308,
    -2.5,
    "",
    "text",
    "1/0",
    "-5%",
    "2026-13-01",
    [],
    [1],
    ["x"],
    {},
    {"a": 1},
    [{"a": [1]}],
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value, itself aside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


PLACES = list(places(WHOLE))


def changed(changes: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = copy.deepcopy(WHOLE)
    for (*above, last), value in changes:
        place: Any = whole
        for key in above:
            inside = (isinstance(place, dict) and key in place) or (isinstance(place, list) and isinstance(key, int))
            place = place[key] if inside and (isinstance(place, dict) or key < len(place)) else None
        if isinstance(place, dict) or (isinstance(place, list) and isinstance(last, int) and last < len(place)):
            place[last] = value
    return whole


def look_at_all(whole: dict[str, Any]) -> None:
    document, entries, baseline = (whole[key] for key in ("document", "journal", "baseline"))
    document = document if isinstance(document, dict) else {}
    entries = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    view = shift_view(document, entries, NOW)
    explain_view(view)
    list_row(document, NOW)
    summary_view(document, entries, NOW)
    report = report_view(document, entries, NOW, Baseline(baseline if isinstance(baseline, dict) else None))
    assert markdown(report)
    assert html(report)


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_no_view_raises(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    look_at_all(changed(changes))


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_no_view_raises_wherever_one_thing_is_odd(path: tuple[Any, ...]) -> None:
    for value in ODD:
        document = changed([(path, value)])["document"]
        view = shift_view(document if isinstance(document, dict) else {}, [], NOW)
        explain_view(view)


def test_what_is_not_odd_is_shown() -> None:
    look_at_all(WHOLE)
    look_at_all({"document": promoted(), "journal": [], "baseline": None})
