"""What entering a phase brings with it: weights, what is remembered, what begins anew."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from control.engine.decide import left_of
from control.engine.decision import Cause, Decision
from control.engine.guarding import guarded, log_guard, new_guard, relieved
from control.engine.move import adopt, move
from control.engine.notice import notice
from control.engine.phase import Event, Phase
from control.engine.readings import Tally
from control.engine.state import Bake, Flow, Guard, Return, ShiftState, Window
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence, shift
from tests.support.situations import LATER, SHIFT, decided, seen, state, tide, tide_of

CALM = shift(steps="10%, 50%, 100%", hold="10s", more="return: {over: 100s}")
DARK = seen(readable=False)
MINUTE = timedelta(minutes=1)


def moved(now: ShiftState, cause: Cause, event: Event, **facts: str) -> ShiftState:
    return move(CALM, now, Decision(cause, event, facts), LATER, seen=seen())


@pytest.mark.parametrize(
    ("cause", "left"),
    [
        (Cause.DEADLINE_PASSED, "1/4"),
        (Cause.DELETED, "1/4"),
        (Cause.COMMANDED, "1/4"),
        (Cause.HARM_FOUND, "0"),
        (Cause.BUDGET_SPENT, "0"),
        (Cause.GUARD_BROKEN, "0"),
        (Cause.GAUGE_OUT, "0"),
        (Cause.CANARY_GONE, "0"),
        (Cause.SUPERSEDED, "0"),
        (Cause.REVISED, "0"),
    ],
)
def test_who_may_go_back_little_by_little(cause: Cause, left: str) -> None:
    found = moved(state(share="1/2"), cause, Event.ROLL_BACK)
    assert (found.share, found.giving_back is not None) == (Fraction(left), left != "0")


def test_a_little_share_goes_back_at_once() -> None:
    assert moved(state(share="1/100"), Cause.COMMANDED, Event.ROLL_BACK).giving_back is None


GIVING = Return(Fraction(1, 2), START, START + timedelta(seconds=100))


@pytest.mark.parametrize(
    ("after_s", "left"),
    [(0, "1/4"), (19, "1/4"), (20, "3/25"), (40, "3/50"), (60, "3/100"), (80, "1/100"), (100, "0"), (999, "0"),
     (-9, "1/4")],
)  # fmt: skip
def test_by_when_how_much_is_back(after_s: int, left: str) -> None:
    assert left_of(GIVING, START + timedelta(seconds=after_s)) == Fraction(left)


def test_a_return_goes_on_while_proxies_are_late_and_past_what_cant_be_written() -> None:
    going = state(Phase.ROLLING_BACK, "1/4", giving_back=GIVING, acknowledged_at=None)
    assert decided(CALM, going, seen(), START + timedelta(seconds=5)).cause is Cause.AWAITING_PROXIES
    late = decided(CALM, going, seen(), START + timedelta(seconds=50))
    assert (late.event, late.facts["to"]) == (Event.LOWER, "3/50")
    refusing = seen(routes=(replace(seen().routes[0], problem=Cause.WEIGHT_REFUSED),))
    at_once = decided(CALM, going, refusing, START + timedelta(seconds=5))
    assert (at_once.event, at_once.facts["to"]) == (Event.LOWER, "0")
    down = move(CALM, going, at_once, LATER, seen=seen())
    assert (down.share, down.giving_back) == (0, None)


def test_between_two_parts_it_says_when_the_next_one_goes() -> None:
    going = state(Phase.ROLLING_BACK, "1/4", giving_back=GIVING)
    held = decided(CALM, going, seen(), START + timedelta(seconds=5))
    assert (held.cause, held.event, held.until) == (Cause.RETURNING, None, START + timedelta(seconds=20))


def test_parked_and_back() -> None:
    now = state(share="1/2", blind_since=LATER - MINUTE, bake=Bake(LATER - timedelta(seconds=90), 30.0))
    parked = move(SHIFT, now, decided(SHIFT, now, DARK), LATER, seen=DARK)
    assert (parked.phase, parked.share, parked.returns_to) == (Phase.PARKED, 0, (Phase.PROGRESSING,))
    assert (parked.steps, parked.tide, parked.bake) == (now.steps, now.tide, Bake(None, 120.0))
    again = notice(replace(parked, acknowledged_at=LATER), seen(), SHIFT, LATER)
    back = move(SHIFT, again, decided(SHIFT, again, seen()), LATER, seen=seen())
    assert (back.phase, back.share, back.window, back.acknowledged_at) == (
        Phase.PROGRESSING, Fraction(1, 2), Window(), None,
    )  # fmt: skip


def test_a_paused_shift_that_was_parked_is_paused_again() -> None:
    now = state(Phase.PAUSED, returns_to=(Phase.PROGRESSING,), set_aside=(Decision(Cause.PAUSED),))
    parked = move(SHIFT, now, Decision(Cause.PARKED, Event.PARK, {}), LATER, seen=DARK)
    back = move(SHIFT, parked, Decision(Cause.UNPARKED, Event.UNPARK), LATER, seen=seen())
    assert (back.phase, back.share, back.returns_to) == (Phase.PAUSED, Fraction(1, 10), (Phase.PROGRESSING,))


@pytest.mark.parametrize(
    ("before", "world", "now", "since"),
    [
        (None, seen(), LATER, None),
        (None, DARK, LATER, LATER),
        (START, DARK, LATER, START),
        (START, seen(), LATER, None),
        (LATER + MINUTE, DARK, LATER, LATER),
    ],
    ids=["it sees", "it no longer sees", "it still does not", "it sees again", "the clock was set back"],
)
def test_since_when_it_is_blind(before: Any, world: Any, now: Any, since: Any) -> None:
    assert notice(state(blind_since=before), world, SHIFT, now).blind_since == since


def test_without_a_weight_nobody_is_blind() -> None:
    assert notice(state(Phase.PARKED, "0"), DARK, SHIFT, LATER).blind_since is None


def test_a_bake_lasts_while_its_weight_is_in_force() -> None:
    entered = state(share="1/5", bake=Bake(None, 60.0), acknowledged_at=None)
    held = notice(entered, seen(), SHIFT, LATER)
    assert held.bake == Bake(LATER, 60.0)
    assert Bake(LATER, 60.0).lasted_s(LATER + MINUTE) == 120.0
    assert Bake(LATER, 60.0).lasted_s(START) == 60.0
    assert Bake(None, 60.0).lasted_s(LATER) == 60.0


def test_where_requests_should_go_is_bet_on_anew_at_each_weight() -> None:
    now = state(acknowledged_at=None, tide=tide(routing=np.full((1, 1, 3), 12.0), routing_polls=np.array([5.0])))
    assert not np.isfinite(tide_of(SHIFT, notice(now, seen(), SHIFT, LATER)).routing).any()


GUARDS = {
    "the objective": (SHIFT, state(), 0.005),
    "a stricter one": (shift(more="objective: 99.99%"), state(flow=Flow()), 0.0005),
    "three times what stable did, where it missed its objective": (
        SHIFT,
        state(flow=Flow(50.0, LATER, 1000, 20)),
        0.06,
    ),
    "no more than all": (SHIFT, state(flow=Flow(50.0, LATER, 1000, 400)), 1.0),
    "what it did is the measure only then": (SHIFT, state(flow=Flow(50.0, LATER, 1000, 4)), 0.005),
    "nothing compared": (SHIFT, state(watched=None), 0.005),
}


@pytest.mark.parametrize(("wanted", "now", "limit"), GUARDS.values(), ids=GUARDS.keys())
def test_what_is_let_pass_at_100_percent(wanted: Any, now: ShiftState, limit: float) -> None:
    found = new_guard(wanted, now)
    assert found is not None
    assert found.limit == pytest.approx(limit)


def test_no_window_no_guard() -> None:
    assert new_guard(shift(more="rollbackWindow: 0s"), state()) is None


def test_the_guard_counts_what_comes_at_100_percent() -> None:
    full = state(Phase.PROMOTING, "1", guard=Guard(0.005))
    assert guarded(replace(full, acknowledged_at=None), Tally(100, 50)) is not full
    assert guarded(replace(full, acknowledged_at=None), Tally(100, 50)).guard == full.guard
    assert guarded(state(guard=Guard(0.005)), Tally(100, 50)).guard == Guard(0.005)
    good = bad = full
    for _ in range(9):
        good, bad = guarded(good, Tally(100, 0)), guarded(bad, Tally(100, 5))
    assert (good.guard.requests, bad.guard.bad) == (900, 45)  # type: ignore[union-attr]
    assert log_guard(good.guard) < 0.5
    assert log_guard(bad.guard) > np.log(100)
    assert log_guard(None) == 0.0


def test_after_its_window_the_guard_is_relieved() -> None:
    promoted = state(Phase.PROMOTED, "1", finished_at=START, guard=Guard(0.005))
    assert relieved(SHIFT, promoted, START + timedelta(minutes=9)).guard is not None
    assert relieved(SHIFT, promoted, START + timedelta(minutes=10)).guard is None
    assert relieved(SHIFT, replace(promoted, phase=Phase.PROMOTING), LATER).guard is not None


def test_a_spec_that_an_older_version_knew_otherwise_is_adopted_in_silence() -> None:
    found = adopt(SHIFT, state(generation=""), LATER)
    assert (found.generation, found.outbox) == (SHIFT.generation, ())
    assert adopt(SHIFT, state(Phase.ROLLED_BACK, "0", generation=""), LATER).generation == SHIFT.generation
    assert adopt(SHIFT, state(generation="other"), LATER).outbox[0].reason is Cause.SPEC_CHANGED


def test_a_new_run_compares_anew() -> None:
    over = state(Phase.ROLLED_BACK, "0", outcome=Decision(Cause.HARM_FOUND, Event.ROLL_BACK))
    again = move(SHIFT, over, Decision(Cause.RENEWED, Event.RENEW), LATER, seen=seen())
    assert (again.phase, again.run, again.watched, again.tide.values, again.steps) == (Phase.PENDING, 2, None, (), ())
    assert (again.flow, again.cursor) == (over.flow, over.cursor)
    other = move(by_evidence(), replace(over, subject=replace(over.subject, canary="v9")),
                 Decision(Cause.RENEWED, Event.RENEW), LATER, seen=seen())  # fmt: skip
    assert (other.flow, other.cursor.at) == (Flow(), None)


def test_how_long_one_cause_has_held_it() -> None:
    waits = Decision(Cause.INSUFFICIENT)
    begun = move(CALM, state(), waits, LATER, seen=seen())
    later = move(CALM, begun, replace(waits, facts={"more": "1"}), LATER + MINUTE, seen=seen())
    other = move(CALM, later, Decision(Cause.SUSPECTED), LATER + 2 * MINUTE, seen=seen())
    assert (begun.caused_at, later.caused_at, other.caused_at) == (LATER, LATER, LATER + 2 * MINUTE)
