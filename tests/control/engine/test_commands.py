"""Every verb in every phase, once per id, and only at the step that its giver means."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.command import Command
from control.engine.commands import ALREADY, MOST_ID, MOST_REASON, accept, accept_deletion
from control.engine.decision import Cause, Decision
from control.engine.explain import sentence
from control.engine.phase import REFUSALS, TRANSITIONS, Event, Phase, Verb, next_phase
from control.engine.state import KEPT_COMMANDS, Guard, Return, ShiftState
from control.errors import Refused
from control.spec import Mode
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence, shift
from tests.support.situations import SHIFT, state


def command(verb: Verb, *, id: str = "1", expect_step: int | None = None, reason: str = "") -> Command:
    return Command(id, verb, "ada", START, expect_step, reason)


ALLOWED: dict[Phase, dict[Verb, Phase]] = {
    Phase.PENDING: {Verb.ROLLBACK: Phase.ROLLING_BACK, Verb.PAUSE: Phase.PAUSED, Verb.SUSPEND: Phase.SUSPENDED},
    Phase.PROGRESSING: {
        Verb.PROMOTE: Phase.PROGRESSING,
        Verb.PROMOTE_FULL: Phase.PROMOTING,
        Verb.ROLLBACK: Phase.ROLLING_BACK,
        Verb.PAUSE: Phase.PAUSED,
        Verb.SUSPEND: Phase.SUSPENDED,
    },
    Phase.PROMOTING: {
        Verb.ROLLBACK: Phase.ROLLING_BACK,
        Verb.PAUSE: Phase.PAUSED,
        Verb.SUSPEND: Phase.SUSPENDED,
    },
    Phase.PAUSED: {
        Verb.PROMOTE: Phase.PROGRESSING,
        Verb.PROMOTE_FULL: Phase.PROMOTING,
        Verb.ROLLBACK: Phase.ROLLING_BACK,
        Verb.RESUME: Phase.PROMOTING,
        Verb.SUSPEND: Phase.SUSPENDED,
    },
    Phase.PARKED: {
        Verb.PROMOTE: Phase.PROGRESSING,
        Verb.PROMOTE_FULL: Phase.PROMOTING,
        Verb.ROLLBACK: Phase.ROLLING_BACK,
        Verb.PAUSE: Phase.PAUSED,
        Verb.SUSPEND: Phase.SUSPENDED,
    },
    Phase.PROMOTED: {Verb.ROLLBACK: Phase.ROLLING_BACK, Verb.SUSPEND: Phase.SUSPENDED},
    Phase.ROLLING_BACK: {Verb.SUSPEND: Phase.SUSPENDED},
    Phase.ROLLED_BACK: {Verb.RETRY: Phase.PENDING},
    Phase.SUSPENDED: {Verb.ROLLBACK: Phase.ROLLING_BACK, Verb.RESUME: Phase.PROMOTING},
    Phase.CONFLICT: {
        Verb.ROLLBACK: Phase.ROLLING_BACK,
        Verb.RESUME: Phase.PROMOTING,
        Verb.SUSPEND: Phase.SUSPENDED,
    },
    Phase.FAILED: {Verb.ROLLBACK: Phase.ROLLING_BACK, Verb.SUSPEND: Phase.SUSPENDED},
}


SO_ALREADY: dict[tuple[Phase, Verb], str] = {
    (Phase.PENDING, Verb.RESUME): "already running: nobody has paused or suspended it",
    (Phase.PROGRESSING, Verb.RESUME): "already running: nobody has paused or suspended it",
    (Phase.PROMOTING, Verb.RESUME): "already running: nobody has paused or suspended it",
    (Phase.PROMOTING, Verb.PROMOTE_FULL): "already on its way: v2 is being given all traffic",
    (Phase.PROMOTED, Verb.PROMOTE): "already promoted: v2 has all traffic",
    (Phase.PROMOTED, Verb.PROMOTE_FULL): "already promoted: v2 has all traffic",
    (Phase.PAUSED, Verb.PAUSE): "already paused",
    (Phase.PARKED, Verb.RESUME): "already waiting to go on: it does by itself once the metrics can be read again",
    (Phase.SUSPENDED, Verb.SUSPEND): "already suspended",
    (Phase.ROLLING_BACK, Verb.ROLLBACK): "already going back: v1 is being given all traffic",
    (Phase.ROLLED_BACK, Verb.ROLLBACK): "already rolled back: v1 has all traffic",
}


def at(phase: Phase) -> ShiftState:
    begun = {} if phase is not Phase.PENDING else {"step": 0, "steps": (), "intent": None}
    return state(phase, **begun, returns_to=(Phase.PROMOTING,), guard=Guard(0.01))


@pytest.mark.parametrize("verb", Verb)
@pytest.mark.parametrize("phase", Phase)
def test_what_each_verb_does_in_each_phase(phase: Phase, verb: Verb) -> None:
    leads_to = ALLOWED[phase].get(verb)
    if already := SO_ALREADY.get((phase, verb)):
        taken = accept(SHIFT, at(phase), command(verb))
        assert (taken.state, taken.sentence) == (at(phase), already)
    elif leads_to is None:
        with pytest.raises(Refused) as caught:
            accept(SHIFT, at(phase), command(verb))
        assert "NAME" not in caught.value.hint
        if (phase, verb) == (Phase.ROLLED_BACK, Verb.SUSPEND):
            assert "no step is left to hold back" in caught.value.hint
        else:
            assert caught.value.hint == REFUSALS[phase].replace("NAME", "translator")
    else:
        assert accept(SHIFT, at(phase), command(verb)).state.phase is leads_to


def test_nothing_is_left_to_suspend_once_the_window_after_full_is_over() -> None:
    with pytest.raises(Refused) as caught:
        accept(SHIFT, state(Phase.PROMOTED, "1"), command(Verb.SUSPEND))
    assert "no step is left to hold back" in caught.value.hint


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("phase", Phase)
def test_the_table_has_every_pair_or_refuses_it(phase: Phase, event: Event) -> None:
    assert next_phase(phase, event) == TRANSITIONS.get((phase, event))


def test_promote_goes_one_step_up_and_says_so() -> None:
    taken = accept(SHIFT, state(), command(Verb.PROMOTE, reason="looks good"))
    assert (taken.state.step, taken.state.share) == (2, Fraction(1, 2))
    assert taken.sentence == "v2 goes on to 50 % (asked for by ada: looks good)"
    assert taken.state.outbox[-1].actor == "ada"


SAID = {
    Verb.PROMOTE: ("v2 goes on to 50 % (asked for by ada: looks odd)", Phase.PROGRESSING),
    Verb.PROMOTE_FULL: ("v2 goes on to 100 % (asked for by ada: looks odd)", Phase.PROGRESSING),
    Verb.ROLLBACK: ("all traffic goes back to v1 (asked for by ada: looks odd)", Phase.PROGRESSING),
    Verb.PAUSE: ("paused (asked for by ada: looks odd): only harm moves it, back to v1", Phase.PENDING),
    Verb.RESUME: ("resumed (asked for by ada: looks odd)", Phase.PAUSED),
    Verb.SUSPEND: ("suspended (asked for by ada: looks odd): no weight is written", Phase.PROGRESSING),
    Verb.RETRY: ("a new run, from v1 to v2 (asked for by ada: looks odd)", Phase.ROLLED_BACK),
}


@pytest.mark.parametrize("verb", Verb)
def test_who_asked_and_why_stands_in_the_journal_and_the_answer(verb: Verb) -> None:
    text, phase = SAID[verb]
    taken = accept(SHIFT, state(phase, returns_to=(Phase.PROMOTING,)), command(verb, reason="looks odd"))
    entry = taken.state.outbox[-1]
    assert (entry.actor, entry.sentence, taken.sentence) == ("ada", text, text)
    without = accept(SHIFT, state(phase, returns_to=(Phase.PROMOTING,)), command(verb))
    assert without.sentence == text.replace(": looks odd", "", 1)


def test_a_promotion_by_hand_keeps_its_share_when_the_shift_has_gone_on() -> None:
    once = accept(SHIFT, state(), command(Verb.PROMOTE, id="1")).state
    left = accept(SHIFT, once, command(Verb.PROMOTE, id="2")).state.steps[0].left
    assert left is not None
    assert sentence(left, once, "translator") == "v2 goes on to 50 % (asked for by ada)"


@pytest.mark.parametrize(
    "changes",
    [{"reason": "x" * (MOST_REASON + 1)}, {"actor": "x" * (MOST_REASON + 1)}, {"id": "x" * (MOST_ID + 1)}],
    ids=lambda changes: next(iter(changes)),
)
def test_words_that_would_crowd_out_the_state_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(Refused, match="is the most"):
        accept(SHIFT, state(), replace(command(Verb.PAUSE), **changes))  # type: ignore[arg-type]


def test_what_a_person_writes_is_one_line_without_control_signs() -> None:
    odd = replace(command(Verb.PAUSE, reason="two\nlines\x1b[31m {share}"), actor="ada\x07")
    entry = accept(SHIFT, state(), odd).state.outbox[-1]
    assert (entry.actor, "(asked for by ada: two lines [31m {share})" in entry.sentence) == ("ada", True)


def test_promote_at_the_last_step_but_one_goes_to_the_end() -> None:
    assert accept(SHIFT, state(share="1/2"), command(Verb.PROMOTE)).state.phase is Phase.PROMOTING


def test_a_command_acts_once_per_id() -> None:
    once = accept(SHIFT, state(), command(Verb.PROMOTE)).state
    again = accept(SHIFT, once, command(Verb.PROMOTE))
    assert (again.state, again.sentence) == (once, ALREADY)
    assert accept(SHIFT, once, command(Verb.PROMOTE, id="2")).state.share == 1


def test_two_who_expect_the_same_step_move_it_once() -> None:
    once = accept(SHIFT, state(), command(Verb.PROMOTE, id="ada", expect_step=1)).state
    with pytest.raises(Refused, match="is at step 2, not 1"):
        accept(SHIFT, once, command(Verb.PROMOTE, id="bob", expect_step=1))


@pytest.mark.parametrize(("phase", "verb"), SO_ALREADY)
def test_what_is_so_already_still_minds_the_expected_step(phase: Phase, verb: Verb) -> None:
    with pytest.raises(Refused, match="not 7"):
        accept(SHIFT, at(phase), command(verb, expect_step=7))


def test_resume_says_that_only_the_annotation_holds_it() -> None:
    held = accept(SHIFT, state(decision=Decision(Cause.HANDS_OFF)), command(Verb.RESUME))
    assert held.sentence == "already resumed: what holds it is the annotation tidegate.dev/hands-off"
    paused = state(Phase.PAUSED, returns_to=(Phase.PROGRESSING,), decision=Decision(Cause.HANDS_OFF))
    assert accept(SHIFT, paused, command(Verb.RESUME)).state.phase is Phase.PROGRESSING


def test_promote_after_rollback_is_refused_with_the_way_out() -> None:
    with pytest.raises(Refused, match="it can't promote") as caught:
        accept(SHIFT, state(Phase.ROLLED_BACK, "0"), command(Verb.PROMOTE))
    assert "tidegate retry translator begins again" in caught.value.hint


def test_nothing_is_promoted_before_it_has_begun() -> None:
    paused_early = replace(at(Phase.PENDING), phase=Phase.PAUSED, returns_to=(Phase.PENDING,))
    for verb in (Verb.PROMOTE, Verb.PROMOTE_FULL):
        with pytest.raises(Refused):
            accept(SHIFT, paused_early, command(verb))


def test_resume_goes_back_through_what_was_set_aside() -> None:
    paused = accept(SHIFT, state(), command(Verb.PAUSE, id="1")).state
    suspended = accept(SHIFT, paused, command(Verb.SUSPEND, id="2")).state
    resumed = accept(SHIFT, suspended, command(Verb.RESUME, id="3")).state
    assert resumed.phase is Phase.PAUSED
    assert accept(SHIFT, resumed, command(Verb.RESUME, id="4")).state.phase is Phase.PROGRESSING


def test_a_shift_that_is_being_deleted_takes_only_a_rollback() -> None:
    going = accept_deletion(state())
    with pytest.raises(Refused, match="is being deleted"):
        accept(SHIFT, going, command(Verb.PROMOTE))
    assert accept(SHIFT, going, command(Verb.ROLLBACK)).state.phase is Phase.ROLLING_BACK


def test_only_the_last_ids_are_kept() -> None:
    found = state()
    for number in range(KEPT_COMMANDS + 5):
        verb = Verb.PAUSE if number % 2 == 0 else Verb.RESUME
        found = accept(SHIFT, found, command(verb, id=str(number))).state
    assert len(found.commands) == KEPT_COMMANDS
    assert found.commands[-1] == str(KEPT_COMMANDS + 4)


def test_a_conflict_after_a_rollback_resumes_at_nothing() -> None:
    found = state(Phase.CONFLICT, "1/10", returns_to=(Phase.ROLLED_BACK,))
    resumed = accept(SHIFT, found, command(Verb.RESUME)).state
    assert (resumed.phase, resumed.share) == (Phase.ROLLED_BACK, 0)


CALM = shift(steps="10%, 50%, 100%", hold="10s", more="return: {over: 2m}")


def test_a_return_that_takes_its_time_begins_with_half_and_a_second_rollback_ends_it() -> None:
    calm = accept(CALM, state(share="1/2"), command(Verb.ROLLBACK, id="1", reason="too loud")).state
    assert (calm.phase, calm.share, calm.giving_back) == (
        Phase.ROLLING_BACK, Fraction(1, 4), Return(Fraction(1, 2), START, START + timedelta(minutes=2)),
    )  # fmt: skip
    at_once = accept(CALM, calm, command(Verb.ROLLBACK, id="2", reason="now")).state
    assert (at_once.phase, at_once.share, at_once.giving_back) == (Phase.ROLLING_BACK, 0, None)
    assert at_once.outcome == calm.outcome
    third = accept(CALM, at_once, command(Verb.ROLLBACK, id="3"))
    assert (third.state, third.sentence) == (at_once, "already going back: v1 is being given all traffic")


def test_a_version_that_failed_goes_back_at_once() -> None:
    assert accept(CALM, state(Phase.FAILED), command(Verb.ROLLBACK)).state.share == 0


def test_a_parked_shift_is_promoted_from_where_it_was() -> None:
    parked = state(Phase.PARKED, "0", steps=state(share="1/10").steps, returns_to=(Phase.PROGRESSING,))
    promoted = accept(SHIFT, parked, command(Verb.PROMOTE)).state
    assert (promoted.phase, promoted.share, promoted.returns_to) == (Phase.PROGRESSING, Fraction(1, 2), ())


def test_a_parked_shift_that_is_paused_is_parked_again_when_resumed() -> None:
    parked = state(Phase.PARKED, "0", returns_to=(Phase.PROGRESSING,), set_aside=(Decision(Cause.PARKED),))
    paused = accept(SHIFT, parked, command(Verb.PAUSE, id="1")).state
    resumed = accept(SHIFT, paused, command(Verb.RESUME, id="2")).state
    assert (paused.phase, paused.share, resumed.phase, resumed.share) == (Phase.PAUSED, 0, Phase.PARKED, 0)


def test_promote_by_evidence_goes_to_the_next_rung() -> None:
    taken = accept(by_evidence(), state(share="1/5"), command(Verb.PROMOTE))
    assert (taken.state.share, taken.sentence) == (Fraction(7, 20), "v2 goes on to 35 % (asked for by ada)")
    assert accept(by_evidence(), state(share="1/2"), command(Verb.PROMOTE)).state.phase is Phase.PROMOTING


def test_who_only_observes_says_what_a_command_would_do() -> None:
    watching = replace(state(), subject=replace(state().subject, mode=Mode.OBSERVE))
    assert accept(SHIFT, watching, command(Verb.PROMOTE)).sentence == "v2 would go on to 50 % (asked for by ada)"
    rolled = accept(SHIFT, watching, command(Verb.ROLLBACK))
    assert rolled.sentence == "all traffic would go back to v1 (asked for by ada)"


def test_a_rollback_of_a_rollback_changes_and_tells_nothing() -> None:
    rolling = accept(SHIFT, state(), command(Verb.ROLLBACK, id="1", reason="first")).state
    assert accept(SHIFT, rolling, command(Verb.ROLLBACK, id="2", reason="second")).state == rolling
