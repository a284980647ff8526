"""An entry is plain data and back, and what is no entry says where it is none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.ledger import LedgerEntry, Misfit, from_plain, to_plain
from tests.support.ledgers import entry, finding


def test_an_entry_comes_back_from_plain_data() -> None:
    whole = entry(tests=(finding(), finding("latency>250ms", log_ratio=None, variance=None, difference=None)))
    plain = to_plain(whole)
    assert from_plain(json.loads(json.dumps(plain))) == whole
    assert plain["longestS"] == 1.25
    assert plain["tests"][0]["logRatio"] == -0.1
    assert "mode" not in plain


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_numbers_keep_six_digits(ratio: float, variance: float) -> None:
    found = from_plain(to_plain(entry(tests=(finding(log_ratio=ratio, variance=variance),)))).tests[0]
    assert found.log_ratio == pytest.approx(ratio, rel=1e-5)
    assert found.variance == pytest.approx(variance, rel=1e-5)


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    plain = to_plain(entry())
    *above, last = path
    place: Any = plain
    for key in above:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return plain


MISFITS: dict[str, tuple[tuple[Any, ...], Any, tuple[Any, ...], str]] = {
    "a word for a number": (("run",), "three", ("run",), "expected a whole number"),
    "a truth for a number": (("run",), True, ("run",), "expected a whole number"),
    "a number for a word": (("canary",), 2, ("canary",), "expected text"),
    "no time": (("ended",), "yesterday", ("ended",), "expected a time such as 2026-05-01T10:00:00Z"),
    "a time of nowhere": (
        ("ended",),
        "2026-05-01T10:00:00",
        ("ended",),
        "expected a time such as 2026-05-01T10:00:00Z",
    ),
    "no share": (("shares", 1), "much", ("shares", 1), "expected a share such as 1/20"),
    "no list": (("tests",), {"a": 1}, ("tests",), "expected a list"),
    "no mapping": (("tests", 0), "outcomes", ("tests", 0), "expected keys with values"),
    "a misspelt key": (("tests", 0, "ph"), 1.0, ("tests", 0, "ph"), "no such key; known here: test, metric, verdict"),
    "infinite": (("tests", 0, "phi"), float("inf"), ("tests", 0, "phi"), "expected a number"),
    "deep down": (("tests", 0, "canary", "bad"), 1.5, ("tests", 0, "canary", "bad"), "expected a whole number"),
    "something is missing": (("outcome",), None, (), "outcome is missing"),
}


@pytest.mark.parametrize(("path", "value", "where", "said"), MISFITS.values(), ids=MISFITS.keys())
def test_what_does_not_fit_says_where(path: tuple[Any, ...], value: Any, where: tuple[Any, ...], said: str) -> None:
    with pytest.raises(Misfit) as found:
        from_plain(changed(path, value))
    assert found.value.path == where
    assert found.value.message.startswith(said)


@pytest.mark.parametrize("data", [None, 3, "text", [], [1]], ids=str)
def test_what_is_nothing_like_an_entry(data: Any) -> None:
    with pytest.raises(Misfit, match="expected keys with values"):
        from_plain(data)


def test_a_whole_number_will_do_for_a_number_and_a_share() -> None:
    plain = changed(("shares", 2), 1) | {"longestS": 2}
    found = from_plain(plain)
    assert (found.longest_s, found.shares[-1]) == (2.0, 1)
    assert isinstance(found, LedgerEntry)
    assert isinstance(found.longest_s, float)


def test_a_run_that_was_taken_back_after_all_has_two_entries() -> None:
    good, back = entry(), entry(outcome="rolled back", cause="GuardBroken")
    assert good.of_run == back.of_run
    assert good.key != back.key
