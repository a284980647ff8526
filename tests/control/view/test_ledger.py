"""A service's ledger in words: its runs, and what the next shift takes from them."""

from typing import Any

import pytest

from control.engine.compared import Counted
from control.view.ledger import ledger_view
from control.view.model import Tone
from tests.support.ledgers import entry, finding


def test_a_run_is_told_with_what_was_found() -> None:
    view = ledger_view("default", "translator", (entry(1), entry(2, outcome="rolled back", mode="observe")))
    assert (view.service, view.headline) == ("translator", "2 runs, 1 promoted")
    good, back = view.runs
    assert (good.day, good.stable, good.canary, good.took) == ("2026-12-01", "v1", "v2", "14 min 00 s")
    assert (good.shares, good.tone) == ("2 %, 20 %, 100 %", Tone.GOOD)
    assert (back.outcome, back.tone) == ("rolled back (observe)", Tone.BAD)
    row = good.tests[0]
    assert (row.title, row.stable, row.canary) == ("failed", "0.25 % of 36,000", "0.22 % of 4,000")
    assert (row.difference, row.verdict, row.tone) == ("-0.03 % (-0.31 % to +0.21 %)", "pass", Tone.GOOD)


def test_nothing_is_told_of_what_was_not_compared() -> None:
    bare = finding(difference=None, canary=Counted(0, 0))
    row = ledger_view("default", "translator", (entry(1, tests=(bare,)),)).runs[0].tests[0]
    assert (row.canary, row.difference) == ("none seen", "")


def test_a_ledger_without_a_run() -> None:
    assert ledger_view("default", "translator", ()).headline == "no run yet"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"phi": 1.0}, "failed: failures come one by one, processes differ by a factor of 1.22"),
        ({"phi": 3.21, "spread": 0.0}, "failed: failures clump by 3.21"),
        ({"freedom": 0.0, "spread": 0.3}, "failed: processes differ by a factor of 1.35"),
        ({"freedom": 0.0, "trust": 0.0}, ""),
    ],
    ids=["independent", "clumps", "processes only", "nothing"],
)
def test_what_the_next_shift_takes(changes: dict[str, Any], said: str) -> None:
    view = ledger_view("default", "translator", (entry(1, tests=(finding(**changes),)),))
    assert view.next == ((said,) if said else ())


def test_releases_are_told_from_the_third_on() -> None:
    rows = [
        entry(run, tests=(finding(log_ratio=ratio, variance=0.01),)) for run, ratio in enumerate((0.5, -0.4, 0.3), 1)
    ]
    assert (
        ledger_view("default", "translator", rows)
        .next[0]
        .endswith("good releases differ by a factor of 1.49 (3 releases)")
    )
    assert "releases" not in ledger_view("default", "translator", rows[:2]).next[0]
