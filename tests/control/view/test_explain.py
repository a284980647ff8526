import pytest

from control.engine.phase import TRANSITIONS, Event, Phase
from control.view.explain import MEANING, MOVES_OF_PHASE, explain_view
from control.view.shift import shift_view
from tests.support.cli_documents import NOW, at, by_evidence, document, promoted, status

QUESTIONS = ["Where is it?", "Why?", "What do the numbers say?", "What happens next?", "What can I do?"]
EVENTS = {
    "promote": {Event.ADVANCE},
    "promote --full": {Event.FILL},
    "rollback": {Event.ROLL_BACK},
}
EVENTS |= {"pause": {Event.PAUSE}, "resume": {Event.RESUME}, "retry": {Event.RENEW}}


def answers(changes: dict[str, object]) -> dict[str, tuple[str, ...]]:
    return dict(explain_view(shift_view(document(status(**changes)), [], NOW)).answers)


def test_a_shift_under_way_answers_every_question() -> None:
    found = answers({})
    assert list(found) == QUESTIONS
    assert "acknowledged 5 %, the traffic shows 4.97 %" in found["Where is it?"][0]
    assert found["Why?"] == ("v2 has answered 12 of the 20 requests that are needed.",)
    assert found["What do the numbers say?"][1] == (
        "tried again (attempts): pass: v2 is as good as v1.; difference +2.46 % (-0.42 % to +9.1 %); "
        "proof 3.1 : 1 of being within 1.25 x stable + 0.5 %"
    )
    assert found["What happens next?"] == ("8 more requests of v2 (7 s left)", "The next step gives v2 20 %.")
    assert found["What can I do?"][0] == "tidegate promote translator: go to the next step now"


def test_a_shift_that_evidence_leads_says_what_it_may_cost_and_what_is_not_watched() -> None:
    bake = {"for": "10m", "at": "1/5", "since": at(-60)}
    guard = {"sentence": "3 of 1,204 failed at 100 %, 0.5 % may"}
    found = dict(explain_view(shift_view(by_evidence(bake=bake, guard=guard), [], NOW)).answers)
    numbers = found["What do the numbers say?"]
    assert numbers[2].startswith("over 100 ms (latency): pass: v2 is as good as v1.; proof 3.1 : 1")
    assert numbers[-3:] == (
        "pool: pass: v2 12.5, v1 unknown",
        "At 100 %: 3 of 1,204 failed at 100 %, 0.5 % may.",
        "abandoned: no caller ever left",
    )
    assert found["What may it still cost?"] == (
        "12.3 of 50 failures spent, 37.7 left.",
        "For all that is known, 1.2 % more of v2's requests fail at the most.",
    )
    assert found["What happens next?"][1:] == (
        "It bakes: 1 min 00 s of 10 min 00 s at 20 %.",
        "The next step gives v2 10 % or more, as the evidence allows.",
    )


def test_one_that_observes_says_what_would_be() -> None:
    found = dict(explain_view(shift_view(by_evidence(mode="observe"), [], NOW)).answers)
    assert found["Where is it?"][1] == "Nothing is written; v2 would have 5 %."


def test_late_proxies_refusals_and_conditions_are_reasons() -> None:
    proxies = [{"route": "edge", "holders": ["a"], "acknowledged": [], "rejections": [{"proxy": "a", "message": "no"}]}]
    found = answers({"proxies": proxies, "conditions": [{"type": "Drift", "message": "repaired"}]})
    assert found["Why?"][1:] == (
        "edge: 0 of 1 proxy run the newest weights; late: a.",
        "Refused by a: no",
        "Drift: repaired",
    )


def test_shares_are_named_for_the_version_they_were_measured_for() -> None:
    """The spec was swapped while the run was suspended."""
    measured = status(phase="Suspended", subject={"stable": "v1", "canary": "v2"})
    view = shift_view(document(measured, stable="v2", canary="v1"), [], NOW)
    assert view.headline == "v2 stays at 5 %"
    assert explain_view(view).answers[0][1][0].startswith("The documents say 5 % for v2")
    assert "v2 has 1 ready endpoint" in view.endpoints


def test_a_finished_shift_waits_for_nothing() -> None:
    found = dict(explain_view(shift_view(promoted(), [], NOW)).answers)
    assert found["What happens next?"] == ("Nothing: this run is over.",)
    assert found["What can I do?"] == (
        "tidegate history translator: read what happened",
        "tidegate report translator: read both versions' numbers side by side",
    )


def test_questions_without_an_answer_are_not_asked() -> None:
    found = answers(
        {"reason": "", "evidence": [{"metric": "outcomes"}], "steps": [], "waitingFor": "", "waitingUntil": None}
    )
    assert "Why?" not in found
    assert found["What do the numbers say?"] == ("failed (outcomes): no data: v2 none seen, v1 none seen",)


def test_a_command_that_only_the_controller_knows_comes_first() -> None:
    assert (
        answers({"nextCommand": "tidegate frobnicate translator"})["What can I do?"][0]
        == "tidegate frobnicate translator"
    )
    assert answers({"nextCommand": "", "phase": "Baking"})["What can I do?"] == (
        "tidegate status translator -w: watch it",
    )


def test_weights_that_nobody_could_read() -> None:
    assert answers({"share": {}})["Where is it?"][0].startswith("Nobody could read the weights")


@pytest.mark.parametrize("phase", list(Phase))
def test_only_commands_that_the_phase_takes_are_offered(phase: Phase) -> None:
    for verb in MOVES_OF_PHASE[phase.value]:
        assert verb in MEANING
        events = EVENTS.get(verb)
        assert events is None or any((phase, event) in TRANSITIONS for event in events), f"{verb} in {phase}"
