from typing import Any

import pytest

from control.view.model import Tone
from control.view.summary import load_view, summary_view
from tests.support.cli_documents import LOAD, NOW, at, document, journal, promoted, rolled_back, status


def test_a_promoted_run() -> None:
    summary = summary_view(promoted(), journal(), NOW)
    assert (summary.phase, summary.tone, summary.took) == ("Promoted", Tone.GOOD, "15 s")
    assert len(summary.steps) == 5
    assert summary.canary_total.text == "105 requests, 5 failed, 115 attempts"
    assert summary.stable_total.requests == 10000
    assert summary.since_first_bad == ""


def test_a_rolled_back_run_tells_how_long_the_bad_version_was_let_go_on() -> None:
    summary = summary_view(rolled_back(), [], NOW)
    assert [step.number for step in summary.steps] == [1, 2]
    assert summary.since_first_bad == "3 s"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"firstBadAt": at(-8), "finishedAt": None, "phase": "RolledBack"}, id="not finished"),
        pytest.param({"firstBadAt": None, "finishedAt": at(-1), "phase": "RolledBack"}, id="nothing bad was seen"),
        pytest.param({"firstBadAt": at(-8), "finishedAt": at(-1), "phase": "Promoted"}, id="promoted all the same"),
    ],
)
def test_no_reaction_time_is_told_without_a_reaction(changes: dict[str, Any]) -> None:
    assert summary_view(document(status(**changes)), [], NOW).since_first_bad == ""


def test_what_callers_saw() -> None:
    load = load_view(LOAD)
    assert load.text == "12,000 requests sent, none failed"
    assert load.quantiles == ("3.2 ms", "7.0 ms", "12 ms")
    assert [version.version for version in load.versions] == ["v1", "v2"]
    assert load.versions[1].attempts == "980 at the first try, 20 at try 2"
    assert load.versions[1].quantiles[2] == "1.20 s"
    assert load.ratio == 0


def test_a_tick_of_the_load_generator_has_its_totals() -> None:
    load = load_view({"kind": "tick", "sent": 5, "failed": 0, "total": {"sent": 1000, "failed": 2}})
    assert (load.sent, load.failed, load.ratio) == (1000, 2, 0.002)
    assert load.text == "1,000 requests sent, 2 failed"
    assert set(load.quantiles) == {"unknown"}


def test_no_load_at_all() -> None:
    load = load_view({})
    assert (load.sent, load.ratio, load.versions) == (0, None, ())


def test_tries_that_nobody_could_count_are_left_out() -> None:
    versions = {"unknown": {"n": 3, "failed": 3, "attempts": {"unknown": 3}}}
    assert load_view({"versions": versions}).versions[0].attempts == ""
