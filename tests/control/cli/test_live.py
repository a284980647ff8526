"""What does a person see of a run, line by line and at its end?"""

import io
from datetime import timedelta
from typing import Any

import pytest
from rich.console import Console

from control.cli.live import LiveProgress, render_summary
from control.cli.look import Look, look_at
from control.cli.screens import shift_screen
from control.engine.state import new_state
from control.engine.status import status as engine_status
from control.spec import to_document
from control.view.shift import shift_view
from control.view.summary import load_view, summary_view
from tests.support.cli_documents import (
    LOAD,
    NOW,
    by_evidence,
    document,
    evidence,
    journal,
    promoted,
    rolled_back,
    status,
    step,
)
from tests.support.shifts import shift


class Paper:
    """A stream that is no terminal, and what was printed on it."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self._raw = io.BytesIO()
        self.look: Look = look_at(io.TextIOWrapper(self._raw, encoding="utf-8"), ascii_only=ascii_only)

    @property
    def text(self) -> str:
        self.look.console.file.flush()
        return self._raw.getvalue().decode()


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
@pytest.mark.parametrize(("name", "whole"), [("promoted", promoted()), ("rolled-back", rolled_back())])
def test_the_summary_of_a_run(name: str, whole: dict[str, Any], ascii_only: bool, file_regression: Any) -> None:
    paper = Paper(ascii_only=ascii_only)
    paper.look.print(render_summary(summary_view(whole, journal(), NOW), LOAD, paper.look))
    assert max(map(len, paper.text.splitlines())) <= 100
    assert paper.text.isascii() or not ascii_only
    file_regression.check(paper.text, basename=f"summary-{name}-{'ascii' if ascii_only else 'unicode'}")


def test_the_summary_without_load() -> None:
    paper = Paper()
    paper.look.print(render_summary(summary_view(promoted(), [], NOW), None, paper.look))
    assert "callers" not in paper.text


@pytest.mark.parametrize("ascii_only", [False, True], ids=["unicode", "ascii"])
def test_a_shift_under_way(ascii_only: bool, file_regression: Any) -> None:
    proxies = [{"route": "edge", "holders": ["a", "b"], "acknowledged": ["a"], "rejections": [{"proxy": "b"}]}]
    conditions = [{"type": "HandsOff", "message": "annotated"}]
    whole = document(
        status(proxies=proxies, conditions=conditions, evidence=[evidence(), evidence("attempts", "fail")])
    )
    paper = Paper(ascii_only=ascii_only)
    paper.look.print(shift_screen(shift_view(whole, journal(), NOW), paper.look, load_view(LOAD)))
    file_regression.check(paper.text, basename=f"shift-{'ascii' if ascii_only else 'unicode'}")


@pytest.mark.parametrize("changes", [{}, {"mode": "observe", "phase": "Parked"}], ids=["leads", "observes"])
def test_a_narrow_terminal_loses_nothing(changes: dict[str, Any], file_regression: Any) -> None:
    """At 80 columns lines are folded, never cut."""
    paper = Paper()
    view = shift_view(by_evidence(**changes), journal(), NOW)
    narrow = Console(file=paper.look.console.file, width=80, highlight=False, emoji=False, markup=False)
    narrow.print(shift_screen(view, paper.look))
    lines = [line.rstrip() for line in paper.text.splitlines()]
    assert max(map(len, lines)) <= 80
    assert "…" not in paper.text
    said = "".join("".join(lines).split())
    for row in view.metrics:
        for text in (row.title, row.stable.short, row.canary.short, row.evidence, row.verdict):
            assert "".join(text.split()) in said
    file_regression.check("\n".join(lines), basename=f"narrow-{changes.get('mode', 'control')}")


def told(*documents: dict[str, Any], load: dict[str, Any] | None = None, heartbeat: timedelta) -> list[str]:
    paper = Paper()
    with LiveProgress(paper.look, heartbeat=heartbeat) as progress:
        progress.stage("Redis is ready")
        for whole in documents:
            progress.update(shift_view(whole, [], NOW), load)
    return paper.text.splitlines()


def test_each_news_is_told_once() -> None:
    lines = told(document(), document(), promoted(), promoted(), heartbeat=timedelta(hours=1))
    assert lines[0] == "Redis is ready"
    assert len(lines) == len(set(lines))
    assert [line for line in lines if "advance" in line] == [
        f"translator: step {number}: advance: No harm seen in 21 requests." for number in range(1, 6)
    ]
    assert lines[-1] == "translator: v2 has all traffic: v2 passed all steps."


def test_the_first_line_says_once_that_nothing_has_begun() -> None:
    applied = {"status": engine_status(shift(), new_state(shift()), NOW)}
    lines = told(to_document(shift()) | applied, heartbeat=timedelta(hours=1))
    assert lines[1:] == ["translator: has not begun: it was just applied"]


def test_a_step_of_a_second_run_is_told_again() -> None:
    again = document(status(run=2, steps=[step(1, "1/100")]))
    lines = told(document(status(run=1, steps=[step(1, "1/100")])), again, heartbeat=timedelta(hours=1))
    assert len([line for line in lines if "step 1: advance" in line]) == 2


def test_without_news_it_says_that_it_lives() -> None:
    lines = told(document(), document(), load={"total": {"sent": 100}}, heartbeat=timedelta(0))
    assert lines[-1].split("; ") == [
        "translator: step 2 of 5, observed 4.97 %",
        "waits: 8 more requests of v2, 7 s left",
        "100 requests sent, none failed",
    ]
    assert told(promoted(), promoted(), heartbeat=timedelta(0))[-1] == "translator: step 5 of 5, observed 100 %"
