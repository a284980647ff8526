"""One decision from one situation: each rule, its neighbours, and what it must not do."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.decide import decide
from control.engine.decision import Cause, Decision
from control.engine.judge import judge
from control.engine.move import move
from control.engine.observation import Observation, beside_held
from control.engine.phase import TRANSITIONS, Event, Phase, Verdict
from control.engine.state import ShiftState, Window
from control.engine.status import status
from control.errors import InvariantBroken
from control.spec import TrafficShift
from tests.support.fake_ports import START
from tests.support.shifts import shift
from tests.support.situations import CLEAR, DOUBT, HARM, LATER, SHIFT, evidence, seen, state

NOBODY = Window(5, 0, 900, 0, 180)
DECISIONS = {
    "a good step leads to the next": (state(), seen(), Cause.STEP_ENTERED, Event.ADVANCE),
    "the last one to 100 %": (state(share="1/2"), seen(), Cause.FULL_ENTERED, Event.FILL),
    "at 100 % it is done": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 0, 99, 0)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a request that still ended on stable is no matter": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 199, 1)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a silent poll after it is no matter": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 199, 1, 2)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a silent poll makes no request of stable unseen": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 90, 10, 2)), seen(), Cause.NOT_OBSERVED, None,
    ),
    "at 100 % many that did are": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 90, 10)), seen(), Cause.NOT_OBSERVED, None,
    ),
    "at 100 % nothing seen is nothing done": (
        state(Phase.PROMOTING, "1", window=Window(5)), seen(), Cause.NO_DATA, None,
    ),
    "the hold is not over": (state(acknowledged_at=LATER), seen(), Cause.HOLDING, None),
    "the weight is not acknowledged": (state(acknowledged_at=None), seen(), Cause.AWAITING_PROXIES, None),
    "no request of the canary": (state(window=NOBODY), seen(), Cause.NO_DATA, None),
    "the source does not know the canary": (state(), seen(answered=False), Cause.NO_DATA, None),
    "too few requests": (state(window=Window(5, 19, 900, 1, 1)), seen(), Cause.INSUFFICIENT, None),
    "no stable traffic": (state(window=Window(5, 500, 0, 1, 0)), seen(), Cause.INSUFFICIENT, None),
    "the source can't be read": (state(), seen(readable=False), Cause.METRICS_UNAVAILABLE, None),
    "doubt holds": (state(evidence=evidence(DOUBT)), seen(), Cause.SUSPECTED, None),
    "harm goes back": (state(evidence=evidence(HARM)), seen(), Cause.HARM_FOUND, Event.ROLL_BACK),
    "harm goes back though the source is silent now": (
        state(evidence=evidence(HARM)), seen(readable=False), Cause.HARM_FOUND, Event.ROLL_BACK,
    ),
    "harm goes back before the weight is acknowledged": (
        state(evidence=evidence(HARM), acknowledged_at=None), seen(), Cause.HARM_FOUND, Event.ROLL_BACK,
    ),
    "harm goes back from 100 %": (
        state(Phase.PROMOTING, "1", evidence=evidence(HARM)), seen(), Cause.HARM_FOUND, Event.ROLL_BACK,
    ),
    "harm goes back from a pause": (
        state(Phase.PAUSED, evidence=evidence(HARM)), seen(), Cause.HARM_FOUND, Event.ROLL_BACK,
    ),
    "harm is not undone twice": (
        state(Phase.ROLLING_BACK, "0", evidence=evidence(HARM), window=Window(3, 9, 9, 9, 9)),
        seen(), Cause.AWAITING_DRAIN, None,
    ),
    "a dead stable takes nothing back": (
        state(evidence=evidence(HARM)), seen(stable_endpoints=0), Cause.STABLE_GONE, None,
    ),
    "two dead versions go back to the one that was": (
        state(evidence=evidence(HARM)), seen(stable_endpoints=0, canary_endpoints=0), Cause.HARM_FOUND, Event.ROLL_BACK,
    ),
    "no ready canary goes to 0": (state(), seen(canary_endpoints=0), Cause.CANARY_GONE, Event.ROLL_BACK),
    "an unknown number of canaries does not": (state(), seen(canary_endpoints=None), Cause.STEP_ENTERED, Event.ADVANCE),
    "no ready canary after the promotion is another matter": (
        state(Phase.PROMOTED, "1"), seen(canary_endpoints=0), Cause.DONE, None,
    ),
    "drained is rolled back": (
        state(Phase.ROLLING_BACK, "0", window=Window(2, 3, 99, 0, 50)), seen(), Cause.ROLLED_BACK, Event.DRAINED,
    ),
    "not looked at since is not drained": (
        state(Phase.ROLLING_BACK, "0", window=Window()), seen(), Cause.AWAITING_DRAIN, None,
    ),
    "an unread proxy may hide requests": (
        state(Phase.ROLLING_BACK, "0", window=Window(2, 3, 99, 0, 50)),
        seen(unread=("gw",)), Cause.AWAITING_DRAIN, None,
    ),
    "rest is rest": (state(Phase.ROLLED_BACK, "0", generation=SHIFT.generation), seen(), Cause.DONE, None),
    "a changed spec after a rollback begins again": (
        state(Phase.ROLLED_BACK, "0", generation="other"), seen(), Cause.RENEWED, Event.RENEW,
    ),
    "suspended means suspended": (
        state(Phase.SUSPENDED, evidence=evidence(HARM)), seen(canary_endpoints=0), Cause.SUSPENDED, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), DECISIONS.values(), ids=DECISIONS.keys())
def test_a_decision(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decide(SHIFT, now, world, LATER)
    assert (found.cause, found.event) == (cause, event)


VERDICTS = {
    "enough and clear": (state(), seen(), Verdict.PASS),
    "harm": (state(evidence=evidence(HARM)), seen(), Verdict.FAIL),
    "doubt is not enough": (state(evidence=evidence(DOUBT)), seen(), Verdict.INSUFFICIENT),
    "too few": (state(window=Window(5, 19, 900)), seen(), Verdict.INSUFFICIENT),
    "no stable": (state(window=Window(5, 500, 0)), seen(), Verdict.INSUFFICIENT),
    "no stable is normal at 100 %": (state(share="1", window=Window(5, 500, 0)), seen(), Verdict.PASS),
    "nothing moved": (state(window=NOBODY), seen(), Verdict.NO_DATA),
    "no answer about the canary": (state(), seen(answered=False), Verdict.NO_DATA),
    "unreadable": (state(window=NOBODY), seen(readable=False), Verdict.UNAVAILABLE),
    "before the first comparison": (state(evidence=None, window=NOBODY), seen(), Verdict.NO_DATA),
}


@pytest.mark.parametrize(("now", "world", "verdict"), VERDICTS.values(), ids=VERDICTS.keys())
def test_a_verdict(now: ShiftState, world: Observation, verdict: Verdict) -> None:
    assert judge(now, world, 20) is verdict


def test_a_route_that_no_proxy_holds_is_spare_beside_one_that_is_held() -> None:
    held, unheld = seen().routes[0], replace(seen().routes[0], key="other", holders=(), acknowledged=())
    assert [each.in_force for each in beside_held([held, unheld])] == [True, True]
    assert [each.in_force for each in beside_held([unheld, unheld])] == [False, False]
    assert beside_held([unheld])[0].unheld


windows = st.builds(Window, *[st.integers(0, 300)] * 5, quiet=st.integers(0, 2))
states = st.builds(
    state,
    st.sampled_from(Phase),
    st.sampled_from(["0", "1/10", "1/2", "1"]),
    evidence=st.none() | st.sampled_from([CLEAR, DOUBT, HARM]).map(evidence),
    window=windows,
    acknowledged_at=st.none() | st.just(START),
    deleting=st.booleans(),
    generation=st.sampled_from([SHIFT.generation, "other"]),
    returns_to=st.just((Phase.PROGRESSING,)),
)
worlds = st.builds(
    seen,
    canary_endpoints=st.sampled_from([None, 0, 1]),
    stable_endpoints=st.sampled_from([None, 0, 1]),
    readable=st.booleans(),
    answered=st.booleans(),
    routes=st.builds(
        lambda **changes: (replace(seen().routes[0], **changes),),
        configured=st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1)]),
        in_place=st.booleans(),
        hands_off=st.booleans(),
        problem=st.sampled_from([None, Cause.ROUTE_MISSING, Cause.ROUTE_UNREADABLE]),
        rejections=st.sampled_from([(), (("gw", "no"),)]),
    ),
)
UP = {Event.BEGIN, Event.ADVANCE, Event.FILL, Event.FINISH}


@settings(deadline=None, max_examples=150)
@given(states, worlds)
def test_in_every_situation_the_table_knows_the_way(now: ShiftState, world: Observation) -> None:
    """Decide always decides, and never asks for a move that the table does not have."""
    found = decide(SHIFT, now, world, LATER)
    assert found.event is None or (now.phase, found.event) in TRANSITIONS
    moved = move(SHIFT, now, found, LATER, seen=world)
    assert moved.decision.cause is found.cause or found.cause is Cause.DRIFT_REPAIRED


@settings(deadline=None, max_examples=150)
@given(states, worlds)
def test_a_verdict_that_is_no_pass_never_advances(now: ShiftState, world: Observation) -> None:
    if now.phase is not Phase.PENDING and judge(now, world, SHIFT.strategy.min_requests) is not Verdict.PASS:
        assert decide(SHIFT, now, world, LATER).event not in UP


@settings(deadline=None, max_examples=150)
@given(states, worlds, st.sampled_from(["rollback", "hold"]))
def test_only_a_fail_a_dead_canary_or_a_person_goes_back(now: ShiftState, world: Observation, policy: str) -> None:
    wanted: TrafficShift = shift(steps="10%, 50%, 100%", hold="10s", more=f"onFailure: {policy}")
    if decide(wanted, now, world, LATER).event is Event.ROLL_BACK:
        failed = judge(now, world, 20) is Verdict.FAIL and policy == "rollback"
        assert failed or world.canary_endpoints == 0 or now.deleting


@settings(deadline=None, max_examples=150)
@given(windows)
def test_promoted_is_only_what_was_observed(window: Window) -> None:
    """Whatever was counted: a promotion has at least 99 of 100 of its last requests on the canary, and says so."""
    now = state(Phase.PROMOTING, "1", window=window)
    found = decide(SHIFT, now, seen(), LATER)
    if found.event is Event.FINISH:
        told = status(SHIFT, move(SHIFT, now, found, LATER, seen=seen()), LATER)
        assert told["phase"] == "Promoted"
        assert told["share"]["observedRatio"] >= 0.99
        assert told["steps"][-1]["sentence"] == told["reason"]
    else:
        assert found.cause in (Cause.NO_DATA, Cause.INSUFFICIENT, Cause.NOT_OBSERVED)


polls = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=12)


@settings(deadline=None, max_examples=100)
@given(polls)
def test_a_window_is_the_sum_of_its_polls_and_the_last_that_had_any(counted: list[tuple[int, int]]) -> None:
    window = Window()
    for canary, stable in counted:
        window = window.grown(canary, stable)
    with_any = [poll for poll in counted if sum(poll)]
    assert (window.polls, window.canary) == (len(counted), sum(canary for canary, _ in counted))
    assert (window.last_canary, window.last_stable) == (with_any[-1] if with_any else (0, 0))
    assert window.reaches_canary == bool(counted and counted[-1][0])


def test_a_move_that_the_table_does_not_have_is_our_bug() -> None:
    with pytest.raises(InvariantBroken, match="finish can't happen to a shift that is Pending"):
        move(SHIFT, state(Phase.PENDING), Decision(Cause.PROMOTED, Event.FINISH), LATER)
