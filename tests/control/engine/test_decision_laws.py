"""Laws of every decision, whatever the situation: hypothesis looks for one that breaks them."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.codec import Numbers
from control.engine.decision import Cause
from control.engine.judge import IN_DOUBT, judge
from control.engine.move import move
from control.engine.observation import Observation
from control.engine.phase import TRANSITIONS, Event, Phase, Verdict
from control.engine.state import Bake, Flow, Guard, Return, ShiftState, Step, Window
from control.engine.status import status
from control.spec import StepStrategy, TrafficShift
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence, shift
from tests.support.situations import (
    CLEAR,
    DOUBT,
    HARM,
    LATER,
    LEANING,
    PROVEN,
    SHIFT,
    UNPROVEN,
    WATCHED,
    bets,
    decided,
    seen,
    state,
    tide,
)

lawful = settings(deadline=None, max_examples=150)
windows = st.builds(Window, *[st.integers(0, 300)] * 5, quiet=st.integers(0, 2), compared=st.integers(0, 3))
tides = st.just(Numbers()) | st.builds(
    tide,
    harm=st.sampled_from([CLEAR, DOUBT, HARM]),
    proof=st.sampled_from([UNPROVEN, LEANING, PROVEN]),
    excess=st.sampled_from([0.0, 49.0, 51.0]),
    counts=st.sampled_from([(500, 9, 900, 3), (0, 0, 900, 3)]),
)
states = st.builds(
    state,
    st.sampled_from(Phase),
    st.sampled_from(["0", "1/50", "1/10", "1/5", "1/2", "1"]),
    watched=st.sampled_from([None, WATCHED]),
    tide=tides,
    window=windows,
    acknowledged_at=st.none() | st.just(START),
    finished_at=st.none() | st.just(START),
    deleting=st.booleans(),
    builds=st.sampled_from([(), ("cart@1",), ("cart@2",)]),
    generation=st.sampled_from([SHIFT.generation, "other", ""]),
    returns_to=st.just((Phase.PROGRESSING,)),
    flow=st.sampled_from([Flow(), Flow(50.0, LATER, 900, 3), Flow(5000.0, LATER, 90_000, 900)]),
    bake=st.none() | st.builds(Bake, st.none() | st.just(START), st.sampled_from([0.0, 500.0])),
    guard=st.none() | st.builds(Guard, st.just(0.005), bets=st.just(bets(20.0)), polls=st.just(3.0)),
    blind_since=st.none() | st.sampled_from([START, LATER]),
    warm_until=st.none() | st.just(LATER + timedelta(seconds=5)),
    giving_back=st.none() | st.just(Return(Fraction(1, 2), START, LATER + timedelta(minutes=5))),
)
worlds = st.builds(
    seen,
    canary_builds=st.sampled_from([(), ("cart@1",), ("cart@1", "cart@2")]),
    canary_endpoints=st.sampled_from([None, 0, 1]),
    stable_endpoints=st.sampled_from([None, 0, 1, 9]),
    readable=st.booleans(),
    unseen=st.sampled_from([(), ("v1",), ("v2",), ("v1", "v2")]),
    troubles=st.sampled_from([{}, {}, {"outcomes": "a timeout"}]),
    routes=st.builds(
        lambda **changes: (replace(seen().routes[0], **changes),),
        configured=st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1)]),
        in_place=st.booleans(),
        hands_off=st.booleans(),
        problem=st.sampled_from([None, Cause.ROUTE_MISSING, Cause.ROUTE_UNREADABLE, Cause.WEIGHT_REFUSED]),
        rejections=st.sampled_from([(), (("gw", "no"),)]),
    ),
)
STEPS = {"steps": "10%, 50%, 100%", "hold": "10s"}
shifts = st.sampled_from([
    SHIFT,
    shift(**STEPS, more="onFailure: hold"),
    shift(**STEPS, more="deadline: 1m\n  onDeadline: rollback\n  return: {over: 2m}"),
    shift(**STEPS, more="mode: observe"),
    by_evidence(),
    by_evidence(bake="10m", more="return: {over: 2m}"),
    by_evidence(more="mode: observe"),
])  # fmt: skip
UP = {Event.BEGIN, Event.ADVANCE, Event.FILL, Event.FINISH}


def of_run(wanted: TrafficShift, now: ShiftState) -> ShiftState:
    """The state as a run of this shift has it."""
    return replace(now, subject=replace(now.subject, mode=wanted.mode))


@lawful
@given(shifts, states, worlds)
def test_in_every_situation_the_table_knows_the_way(wanted: TrafficShift, now: ShiftState, world: Observation) -> None:
    """Decide always decides, and never asks for a move that the table does not have."""
    now = of_run(wanted, now)
    found = decided(wanted, now, world)
    assert found.event is None or (now.phase, found.event) in TRANSITIONS
    moved = move(wanted, now, found, LATER, seen=world)
    assert moved.decision.cause is found.cause or found.cause is Cause.DRIFT_REPAIRED


@lawful
@given(shifts, states, worlds)
def test_a_failed_metric_never_advances_and_no_data_promotes_nothing(
    wanted: TrafficShift, now: ShiftState, world: Observation
) -> None:
    now = of_run(wanted, now)
    judged = judge(wanted, now, world, LATER)
    if now.phase is Phase.PENDING or decided(wanted, now, world).event not in UP:
        return
    assert judged.verdict not in (Verdict.FAIL, Verdict.NO_DATA, Verdict.UNAVAILABLE)
    assert Verdict.FAIL not in judged.verdicts.values()
    assert now.share == 1 or judged.action not in IN_DOUBT
    if isinstance(wanted.strategy, StepStrategy):
        assert judged.verdict is Verdict.PASS


@lawful
@given(shifts, states, worlds)
def test_by_evidence_all_traffic_needs_proof(wanted: TrafficShift, now: ShiftState, world: Observation) -> None:
    now = of_run(wanted, now)
    filled = decided(wanted, now, world).event is Event.FILL
    if filled and not isinstance(wanted.strategy, StepStrategy) and now.phase is not Phase.PENDING:
        assert judge(wanted, now, world, LATER).verdict is Verdict.PASS


MAY_GO_BACK = {
    Cause.SUPERSEDED,
    Cause.REVISED,
    Cause.DELETED,
    Cause.DEADLINE_PASSED,
    Cause.CANARY_GONE,
    Cause.GUARD_BROKEN,
}


@lawful
@given(shifts, states, worlds)
def test_nothing_goes_back_without_a_reason(wanted: TrafficShift, now: ShiftState, world: Observation) -> None:
    """No data, no answer and no sight are none of them."""
    now = of_run(wanted, now)
    found = decided(wanted, now, world)
    if found.event is not Event.ROLL_BACK or found.cause in MAY_GO_BACK:
        return
    judged = judge(wanted, now, world, LATER)
    assert (judged.verdict is Verdict.FAIL) if found.cause is Cause.HARM_FOUND else judged.spent


@lawful
@given(shifts, states, worlds)
def test_held_it_gets_no_more(wanted: TrafficShift, now: ShiftState, world: Observation) -> None:
    """A decision without an event, and every one that takes away, leaves the canary what it has or less."""
    now = of_run(wanted, now)
    found = decided(wanted, now, world)
    moved = move(wanted, now, found, LATER, seen=world)
    more = moved.share > now.share
    assert not more or found.event in UP | {Event.UNPARK}
    if found.event is Event.UNPARK:
        assert moved.share == now.steps[-1].share


@lawful
@given(shifts, states, worlds)
def test_what_goes_back_by_its_own_doing_goes_at_once(
    wanted: TrafficShift, now: ShiftState, world: Observation
) -> None:
    """Only a person's wish, a deadline and a deletion may take their time."""
    now = of_run(wanted, now)
    found = decided(wanted, now, world)
    moved = move(wanted, now, found, LATER, seen=world)
    if found.event is Event.ROLL_BACK and moved.share:
        assert found.cause in (Cause.DEADLINE_PASSED, Cause.DELETED)
        assert wanted.return_over
        assert moved.share < now.share


@lawful
@given(shifts, states, worlds)
def test_parking_spends_nothing_and_forgets_nothing(wanted: TrafficShift, now: ShiftState, world: Observation) -> None:
    now = of_run(wanted, now)
    found = decided(wanted, now, world)
    if found.event is not Event.PARK:
        return
    parked = move(wanted, now, found, LATER, seen=world)
    assert (parked.share, parked.tide, parked.sums, parked.steps) == (0, now.tide, now.sums, now.steps)
    back = move(wanted, parked, decided(wanted, replace(parked, acknowledged_at=LATER), seen()), LATER, seen=seen())
    if back.phase is now.phase and back.phase is not Phase.PARKED:
        assert (back.share, back.tide) == (now.steps[-1].share, now.tide)


@lawful
@given(windows)
def test_promoted_is_only_what_was_observed(window: Window) -> None:
    """Whatever was counted: a promotion has at least 99 of 100 of its last requests on the canary, and says so."""
    now = state(Phase.PROMOTING, "1", window=window, steps=(Step(1, Fraction(1), START, START),))
    found = decided(SHIFT, now, seen())
    if found.event is Event.FINISH:
        told = status(SHIFT, move(SHIFT, now, found, LATER, seen=seen()), LATER)
        assert told["phase"] == "Promoted"
        assert told["share"]["observedRatio"] >= 0.99
        assert told["steps"][-1]["sentence"] == told["reason"]
    else:
        assert found.cause in (Cause.NO_DATA, Cause.INSUFFICIENT, Cause.NOT_OBSERVED, Cause.DWELLING)


polls = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=12)


@settings(deadline=None, max_examples=100)
@given(polls)
def test_a_window_is_the_sum_of_its_polls_and_the_last_that_had_any(counted: list[tuple[int, int]]) -> None:
    window = Window()
    for canary, stable in counted:
        window = window.grown(canary, stable, LATER)
    with_any = [poll for poll in counted if sum(poll)]
    assert (window.polls, window.canary) == (len(counted), sum(canary for canary, _ in counted))
    assert (window.last_canary, window.last_stable) == (with_any[-1] if with_any else (0, 0))
    assert window.reaches_canary == bool(counted and counted[-1][0])
