from typing import Any

import pytest

from control.view.listing import list_row
from control.view.metrics import TONE_OF_VERDICT
from control.view.model import StepMark, Tone
from control.view.shift import HEADLINE_OF_PHASE, SPARK_CELLS, TONE_OF_PHASE, shift_view
from tests.support.cli_documents import NOW, at, by_evidence, document, journal, promoted, rolled_back, status, step


def test_a_shift_under_way() -> None:
    view = shift_view(document(), journal(), NOW)
    assert (view.phase, view.tone, view.finished) == ("Progressing", Tone.BUSY, False)
    assert view.headline == "v2 takes 5 %, step 2 of 5"
    assert [share.text for share in view.shares] == ["5 %", "5 %", "4.97 %"]
    assert [share.ratio for share in view.shares] == [0.05, 0.05, 0.0497]
    assert (view.started, view.took) == ("20 s ago", "20 s")
    assert view.endpoints == "v1 has 2 ready endpoints, v2 has 1 ready endpoint"
    assert (view.waiting.sentence, view.waiting.left) == ("8 more requests of v2", "7 s left")
    assert view.next_command == "tidegate promote translator"


def test_a_shift_that_no_tick_has_seen() -> None:
    view = shift_view(document({}), [], NOW)
    assert (view.phase, view.verdict, view.step_text) == ("Pending", "no data", "before the first step")
    assert view.headline == "has not begun"
    assert view.total_steps == 5
    assert (view.started, view.took, view.endpoints) == ("not yet", "", "")
    assert {share.text for share in view.shares} == {"unknown"}
    assert [row.mark for row in view.steps] == [StepMark.AHEAD] * 5


@pytest.mark.parametrize("phase", list(TONE_OF_PHASE))
def test_every_phase_has_a_headline(phase: str) -> None:
    view = shift_view(document(status(phase=phase)), [], NOW)
    assert view.headline
    assert "{" not in view.headline
    assert set(HEADLINE_OF_PHASE) == set(TONE_OF_PHASE)


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        pytest.param({}, "v2 goes from 1 % to 5 %, step 2 of 5", id="the step is not configured yet"),
        pytest.param({"phase": "Paused"}, "v2 stays at 1 %, step 2 of 5", id="paused"),
        pytest.param({"stepShare": None}, "v2 takes 1 %, step 2 of 5", id="nobody says where it goes"),
        pytest.param({"share": {}}, "v2 takes unknown, step 2 of 5", id="nobody knows what is configured"),
    ],
)
def test_on_the_way_to_a_share(changes: dict[str, Any], headline: str) -> None:
    share = {"configured": "1/100"}
    assert shift_view(document(status(**{"share": share, **changes})), [], NOW).headline == headline


def test_a_phase_of_a_newer_controller_is_shown_as_it_is() -> None:
    view = shift_view(document(status(phase="Baking", verdict="maybe")), [], NOW)
    assert (view.phase, view.tone, view.verdict_tone) == ("Baking", Tone.IDLE, Tone.IDLE)
    assert view.headline == "v2 is at 5 %, step 2 of 5"


def test_phases_and_verdicts_are_those_of_the_engine() -> None:
    from control.engine.phase import FINISHED, Phase, Verdict
    from control.view.shift import FINISHED as SHOWN_FINISHED

    assert set(TONE_OF_PHASE) == {phase.value for phase in Phase}
    assert set(TONE_OF_VERDICT) == {verdict.value for verdict in Verdict}
    assert {phase.value for phase in FINISHED} == SHOWN_FINISHED


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        pytest.param({"waitingUntil": at(7)}, "7 s left", id="an end is known"),
        pytest.param({"waitingUntil": at(-1)}, "due now", id="the time is up"),
        pytest.param({"waitingUntil": None}, "3 s so far", id="no end is known, and it is not the step's age"),
        pytest.param({"waitingUntil": None, "waitingSince": None}, "", id="nobody knows since when"),
        pytest.param({"waitingUntil": None, "waitingFor": ""}, "", id="it waits for nothing"),
    ],
)
def test_how_long_it_waits(changes: dict[str, Any], left: str) -> None:
    assert shift_view(document(status(**changes)), [], NOW).waiting.left == left


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        pytest.param({}, "v2 takes 5 %, step 3 of at most 8", id="under way"),
        pytest.param({"totalSteps": 3}, "v2 takes 5 %, step 3 of 3", id="nothing is left"),
        pytest.param({"phase": "Parked"}, "v2 is parked at 5 %, step 3 of at most 8", id="parked"),
        pytest.param({"bake": {"for": "10m", "since": at(-60)}}, "v2 bakes at 5 %, step 3 of at most 8", id="baking"),
        pytest.param({"mode": "observe"}, "observes: v2 would be at 5 %, step 3 of at most 8", id="observing"),
        pytest.param({"mode": "observe", "phase": "Pending"}, "has not begun", id="about to observe"),
        pytest.param(
            {"mode": "observe", "phase": "Promoted", "stepShare": "1"},
            "observed to its end: v2 at 100 %",
            id="observed to its end",
        ),
    ],
)
def test_where_a_shift_is_that_evidence_leads(changes: dict[str, Any], headline: str) -> None:
    assert shift_view(by_evidence(**changes), [], NOW).headline == headline


def test_one_that_observes_has_a_fourth_share() -> None:
    assert [share.name for share in shift_view(by_evidence(), [], NOW).shares] == [
        "configured",
        "acknowledged",
        "observed",
    ]
    view = shift_view(by_evidence(mode="observe", share={"configured": "1/2"}), [], NOW)
    assert [(share.name, share.text) for share in view.shares] == [
        ("configured", "50 %"),
        ("acknowledged", "unknown"),
        ("observed", "unknown"),
        ("would be", "5 %"),
    ]


def test_the_rungs_ahead_are_steps_that_may_be_left_out() -> None:
    view = shift_view(by_evidence(), [], NOW)
    assert [row.share.text for row in view.steps] == ["1 %", "2 %", "5 %", "10 %", "20 %", "35 %", "50 %", "100 %"]
    assert view.by_evidence


@pytest.mark.parametrize(
    ("found", "text", "ratio"),
    [
        ({"limit": 50.0, "spent": 12.34, "left": 37.66}, "12.3 of 50 failures spent, 37.7 left", 0.2468),
        ({"limit": 1200.0, "spent": 0.0, "left": 1200.0}, "0 of 1,200 failures spent, 1,200 left", 0.0),
        ({"limit": 50.0, "spent": 61.0, "left": 0.0}, "61 of 50 failures spent, 0 left", 1.0),
    ],
)
def test_what_the_budget_has_left(found: dict[str, float], text: str, ratio: float) -> None:
    meter = shift_view(by_evidence(budget=found), [], NOW).budget
    assert meter is not None
    assert (meter.text, meter.ratio) == (text, pytest.approx(ratio))


@pytest.mark.parametrize("found", [None, {}, {"limit": 0.0, "spent": 0.0, "left": 0.0}], ids=str)
def test_a_shift_without_a_budget(found: Any) -> None:
    assert shift_view(by_evidence(budget=found), [], NOW).budget is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({"since": at(-250), "lastedSeconds": 250.0}, "4 min 10 s of 10 min 00 s at 20 %", id="under way"),
        pytest.param(
            {"since": at(-300), "lastedSeconds": 250.0}, "5 min 00 s of 10 min 00 s at 20 %", id="time goes on"
        ),
        pytest.param({"since": None, "lastedSeconds": 60.0}, "1 min 00 s of 10 min 00 s at 20 %", id="interrupted"),
        pytest.param({"since": at(-900)}, "10 min 00 s of 10 min 00 s at 20 %", id="over"),
        pytest.param({"since": None}, "", id="not there yet"),
        pytest.param({"for": "0s", "since": at(-9)}, "", id="none"),
    ],
)
def test_how_far_the_bake_is(changes: dict[str, Any], text: str) -> None:
    meter = shift_view(by_evidence(bake={"for": "10m", "at": "1/5"} | changes), [], NOW).bake
    assert (meter.text if meter else "") == text


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (None, ""),
        ({"sentence": "3 of 1,204 failed at 100 %, 0.5 % may", "until": None}, "3 of 1,204 failed at 100 %, 0.5 % may"),
        ({"sentence": "3 failed", "until": at(250)}, "3 failed; for another 4 min 10 s"),
        ({"sentence": "3 failed", "until": at(-1)}, "3 failed"),
    ],
    ids=["nothing is watched", "while it is promoting", "for a while", "it is over"],
)
def test_what_is_watched_at_the_end(found: Any, text: str) -> None:
    assert shift_view(by_evidence(guard=found), [], NOW).guard == text


def test_what_is_not_watched_says_why() -> None:
    assert shift_view(by_evidence(), [], NOW).unwatched == ("abandoned: no caller ever left",)


def test_steps_done_current_and_ahead() -> None:
    rows = shift_view(document(), [], NOW).steps
    assert [row.mark for row in rows] == [StepMark.DONE, StepMark.CURRENT] + [StepMark.AHEAD] * 3
    assert [row.share.text for row in rows] == ["1 %", "5 %", "20 %", "50 %", "100 %"]
    assert (rows[0].took, rows[0].acknowledged_after, rows[1].took) == ("10 s", "20 ms", "9 s")
    assert rows[0].canary.text == "21 requests, 1 failed, 23 attempts"
    assert rows[2].canary.text == "no requests"
    assert rows[0].entered == "12:00:40"


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ({"requests": 1204, "failures": 3, "retries": 6}, "1,204 requests, 3 failed, 1,210 attempts"),
        ({"requests": 20, "abandoned": 1204}, "20 requests, 0 failed, 20 attempts, 1,204 abandoned"),
        ({"abandoned": 4}, "no requests, 4 abandoned"),
        ({}, "no requests"),
    ],
    ids=["answered", "some abandoned", "all abandoned", "nothing"],
)
def test_what_a_version_did_in_a_step(seen: dict[str, int], text: str) -> None:
    row = shift_view(document(status(steps=[step(1, "1/100", canary=seen)])), [], NOW).steps[0]
    assert (row.canary.text, row.canary.abandoned) == (text, seen.get("abandoned", 0))


@pytest.mark.parametrize(
    ("whole", "marks"),
    [
        pytest.param(promoted(), "DDDDD", id="promoted"),
        pytest.param(rolled_back(), "DFSSS", id="rolled back at the second step"),
        pytest.param(
            document(status(phase="RolledBack", steps=[step(1, "1/100"), step(2, "1/20", decision="")])),
            "DFSSS",
            id="rolled back by a person: the last step is where it ended",
        ),
        pytest.param(
            document(status(phase="RollingBack", steps=[step(1, "1/100", decision=""), step(2, "1/20", decision="")])),
            "DFSSS",
            id="going back: what went before was good",
        ),
        pytest.param(
            document(status(phase="Promoted", steps=[step(1, "1/100", decision="hold")])),
            "DAAAA",
            id="promoted at once from the first step",
        ),
        pytest.param(
            document(status(step=2, steps=[step(1, "1/100", decision="hold"), step(2, "1/20", decision="hold")])),
            "DCAAA",
            id="a left step without a decision",
        ),
    ],
)
def test_marks_of_steps(whole: dict[str, Any], marks: str) -> None:
    found = [row.mark for row in shift_view(whole, [], NOW).steps]
    signs = {
        "D": StepMark.DONE,
        "F": StepMark.FAILED,
        "S": StepMark.STOPPED,
        "A": StepMark.AHEAD,
        "C": StepMark.CURRENT,
    }
    assert found == [signs[mark] for mark in marks]


EDITS = {
    "steps were inserted below": (["1%", "2%", "3%", "5%", "20%", "100%"], [1, 2, 3, 4], "1 % 5 % 20 % 100 %"),
    "steps were inserted above": (["1%", "5%", "7%", "8%", "100%"], [1, 2, 3, 4, 5], "1 % 5 % 7 % 8 % 100 %"),
    "steps were removed": (["100%"], [1, 2, 3], "1 % 5 % 100 %"),
    "the present one was removed": (["4%", "6%", "100%"], [1, 2, 3, 4], "1 % 5 % 6 % 100 %"),
    "a step that nobody can read": (["1%", "nonsense", "100%"], [1, 2, 3], "1 % 5 % 100 %"),
}


@pytest.mark.parametrize(("plan", "numbers", "shares"), EDITS.values(), ids=EDITS.keys())
def test_after_an_edit_the_steps_that_were_taken_stand_before_those_ahead(
    plan: list[str], numbers: list[int], shares: str
) -> None:
    rows = shift_view(document(strategy={"steps": plan}), [], NOW).steps
    assert [row.number for row in rows] == numbers
    assert " ".join(row.share.text for row in rows) == shares
    assert [row.mark for row in rows] == [StepMark.DONE, StepMark.CURRENT, *[StepMark.AHEAD] * (len(rows) - 2)]


def test_proxies_late_and_refusing() -> None:
    rejections = [{"proxy": "b", "message": "weights sum to 0"}]
    row = {
        "route": "VirtualService default/edge",
        "holders": ["b", "a"],
        "acknowledged": ["a"],
        "rejections": rejections,
    }
    view = shift_view(document(status(proxies=[row, {"route": "other"}])), [], NOW)
    assert view.proxies[0].text == "1 of 2 proxies run the newest weights"
    assert view.proxies[0].late == ("b",)
    assert view.proxies[0].rejections == ("b: weights sum to 0",)
    assert view.proxies[1].text == "0 of 0 proxies run the newest weights"


def test_conditions_in_words() -> None:
    rows = [{"type": "HandsOff", "message": "annotated"}, {"type": "Drift"}, {"sentence": "only words"}]
    assert shift_view(document(status(conditions=rows)), [], NOW).conditions == (
        "HandsOff: annotated",
        "Drift",
        "only words",
    )


def test_history_tells_who_and_when() -> None:
    rows = shift_view(document(), journal(), NOW).history
    assert [(row.clock, row.ago, row.reason, row.actor, row.share) for row in rows] == [
        ("12:00:40", "20 s ago", "StepEntered", "controller", "1 %"),
        ("12:00:50", "10 s ago", "StepEntered", "controller", "50 %"),
        ("12:00:59", "1 s ago", "Paused", "ann", ""),
    ]


def test_share_over_time_follows_the_journal() -> None:
    line = shift_view(document(), journal(), NOW).share_over_time
    assert len(line) == SPARK_CELLS
    assert (line[0], line[-1]) == (0.01, 0.5)
    assert sum(share == 0.01 for share in line) == SPARK_CELLS // 2 - 1


def test_share_over_time_of_another_run_is_not_told() -> None:
    entries = [{"at": at(-100), "share": "1"}, *journal()]
    assert 1.0 not in shift_view(document(), entries, NOW).share_over_time
    assert shift_view(document({}), journal(), NOW).share_over_time == ()
    assert set(shift_view(document(), [], NOW).share_over_time) == {0.0}


def test_a_line_of_the_list() -> None:
    row = list_row(document(), NOW)
    assert (row.name, row.phase, row.step, row.share) == ("translator", "Progressing", "2/5", "5 % / 5 % / 4.97 %")
    assert row.waiting == "8 more requests of v2 (7 s left)"
    assert list_row(promoted(), NOW).waiting == ""
    observing = list_row(by_evidence(mode="observe"), NOW)
    assert (observing.phase, observing.share) == ("Progressing (observes)", "5 % / 5 % / 4.97 %")


def test_a_condition_that_repeats_the_reason_is_told_once() -> None:
    rows = [{"type": "Drift", "message": "weights were changed"}]
    view = shift_view(document(status(reason="weights were changed", conditions=rows)), [], NOW)
    assert view.conditions == ()


def test_a_trouble_that_is_waited_for_is_told_once() -> None:
    rows = [{"type": "Unavailable", "message": "the mesh does not answer"}]
    waits = "the mesh does not answer; looking again (1,200 in vain)"
    assert shift_view(document(status(waitingFor=waits, conditions=rows)), [], NOW).conditions == ()
