"""What takes traffic away from a canary, before anything that could wait; and what must not."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from control.engine.decision import Cause, Decision
from control.engine.observation import Observation
from control.engine.phase import Event, Phase
from control.engine.state import Guard, ShiftState, Step, Window
from control.engine.watched import Watched
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence, shift
from tests.support.situations import CLEAR, HARM, LATER, SHIFT, bets, decided, one_test, seen, state, tide

FAILING = {"tide": tide(harm=HARM)}
SPENT = {"tide": tide(excess=50.0)}
HOLD = shift(steps="10%, 50%, 100%", hold="10s", more="onFailure: hold")
ROLLING = Phase.ROLLING_BACK
BACK = Event.ROLL_BACK

HARMED = {
    "harm goes back": (state(**FAILING), seen(), Cause.HARM_FOUND, BACK),
    "though the source is silent now": (state(**FAILING), seen(readable=False), Cause.HARM_FOUND, BACK),
    "before the weight is acknowledged": (state(**FAILING, acknowledged_at=None), seen(), Cause.HARM_FOUND, BACK),
    "from 100 %": (state(Phase.PROMOTING, "1", **FAILING), seen(), Cause.HARM_FOUND, BACK),
    "from a pause": (state(Phase.PAUSED, **FAILING), seen(), Cause.HARM_FOUND, BACK),
    "from a conflict": (state(Phase.CONFLICT, **FAILING), seen(), Cause.HARM_FOUND, BACK),
    "where it was parked": (state(Phase.PARKED, "0", **FAILING), seen(), Cause.HARM_FOUND, BACK),
    "on its way back it goes at once": (state(ROLLING, "1/20", **FAILING), seen(), Cause.HARM_FOUND, BACK),
    "it is not undone twice": (
        state(ROLLING, "0", **FAILING, window=Window(3, 9, 9, 9, 9)), seen(), Cause.AWAITING_DRAIN, None,
    ),
    "a dead stable takes nothing back": (state(**FAILING), seen(stable_endpoints=0), Cause.STABLE_GONE, None),
    "two dead versions go back to the one that was": (
        state(**FAILING), seen(stable_endpoints=0, canary_endpoints=0), Cause.HARM_FOUND, BACK,
    ),
    "what was promoted is another matter": (state(Phase.PROMOTED, "1", **FAILING), seen(), Cause.DONE, None),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), HARMED.values(), ids=HARMED.keys())
def test_harm(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, now, world)
    assert (found.cause, found.event) == (cause, event)


KEPT = {
    "it stays for a person to decide": (state(**FAILING), Cause.FAILED, Event.FREEZE),
    "a parked one, too": (state(Phase.PARKED, "0", **FAILING), Cause.FAILED, Event.FREEZE),
    "nobody fights in a conflict": (state(Phase.CONFLICT, **FAILING), Cause.CONFLICT, None),
    "what goes back goes back": (state(ROLLING, "1/20", **FAILING), Cause.HARM_FOUND, BACK),
    "a spent budget is no failure": (state(**SPENT), Cause.BUDGET_SPENT, BACK),
    "one that failed keeps its weight, whatever it costs": (state(Phase.FAILED, **SPENT), Cause.FAILED, None),
}


@pytest.mark.parametrize(("now", "cause", "event"), KEPT.values(), ids=KEPT.keys())
def test_harm_where_a_failure_holds(now: ShiftState, cause: Cause, event: Event | None) -> None:
    found = decided(HOLD, now, seen())
    assert (found.cause, found.event) == (cause, event)


COSTS = {
    "what is left is left": (state(tide=tide(excess=49.9)), Cause.STEP_ENTERED, Event.ADVANCE),
    "spent is spent": (state(**SPENT), Cause.BUDGET_SPENT, BACK),
    "paused or not": (state(Phase.PAUSED, **SPENT), Cause.BUDGET_SPENT, BACK),
    "where it was parked": (state(Phase.PARKED, "0", **SPENT), Cause.BUDGET_SPENT, BACK),
    "on its way back it goes at once": (state(ROLLING, "1/20", **SPENT), Cause.BUDGET_SPENT, BACK),
    "at 100 % the guard watches": (state(Phase.PAUSED, "1", **SPENT), Cause.PAUSED, None),
    "and the same when parked from there": (
        state(Phase.PARKED, "0", **SPENT, steps=(Step(1, Fraction(1), START, START),)), Cause.UNPARKED, Event.UNPARK,
    ),
    "harm is told as harm": (state(tide=tide(harm=HARM, excess=50.0)), Cause.HARM_FOUND, BACK),
    "what bad luck explains spends nothing by fixed steps": (
        state(tide=tide(excess=50.0, excess_variance=np.array([300.0]))), Cause.STEP_ENTERED, Event.ADVANCE,
    ),
    "what is back costs nothing more": (
        state(ROLLING, "0", **SPENT, window=Window(3, 9, 9, 9, 9)), Cause.AWAITING_DRAIN, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "cause", "event"), COSTS.values(), ids=COSTS.keys())
def test_the_budget(now: ShiftState, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, now, seen())
    assert (found.cause, found.event) == (cause, event)
    if cause is Cause.BUDGET_SPENT:
        assert (found.facts["excess"], found.facts["budget"]) == ("50", "50")


GONE = {
    "no ready canary goes to 0": (state(), seen(canary_endpoints=0), Cause.CANARY_GONE, BACK),
    "though a failure would hold it": (state(Phase.FAILED), seen(canary_endpoints=0), Cause.CANARY_GONE, BACK),
    "on its way back it goes at once": (state(ROLLING, "1/20"), seen(canary_endpoints=0), Cause.CANARY_GONE, BACK),
    "an unknown number of canaries does not": (state(), seen(canary_endpoints=None), Cause.STEP_ENTERED, Event.ADVANCE),
    "no ready canary after the promotion is another matter": (
        state(Phase.PROMOTED, "1"), seen(canary_endpoints=0), Cause.DONE, None,
    ),
    "without a weight nobody needs one": (state(Phase.PARKED, "0"), seen(canary_endpoints=0), Cause.PARKED, None),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), GONE.values(), ids=GONE.keys())
def test_no_ready_canary(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, now, world)
    assert (found.cause, found.event) == (cause, event)


MINUTE = {"blind_since": LATER - timedelta(seconds=60)}
LESS = {"blind_since": LATER - timedelta(seconds=59)}
BY_HAND = (
    Step(1, Fraction(1, 2), START, START, left=Decision(Cause.PROMOTED_BY_HAND, Event.FILL)),
    Step(2, Fraction(1), START, START),
)
DARK = seen(readable=False, metrics_message="no proxy answers")
BLIND = {
    "a while is borne": (state(**LESS), DARK, Cause.METRICS_UNAVAILABLE, None),
    "longer than that it is parked": (state(**MINUTE), DARK, Cause.PARKED, Event.PARK),
    "at 100 %, too": (state(Phase.PROMOTING, "1", **MINUTE), DARK, Cause.PARKED, Event.PARK),
    "and while it is paused": (state(Phase.PAUSED, **MINUTE), DARK, Cause.PARKED, Event.PARK),
    "before it is acknowledged": (state(acknowledged_at=None, **MINUTE), DARK, Cause.PARKED, Event.PARK),
    "not where others write": (state(Phase.CONFLICT, **MINUTE), DARK, Cause.CONFLICT, None),
    "not to a stable that is dead": (
        state(**MINUTE), replace(DARK, stable_endpoints=0), Cause.STABLE_GONE, None,
    ),
    "not what a person gave all traffic by hand": (
        state(Phase.PROMOTING, "1", steps=BY_HAND, **MINUTE), DARK, Cause.METRICS_UNAVAILABLE, None,
    ),
    "harm is found all the same": (state(**FAILING, **MINUTE), DARK, Cause.HARM_FOUND, BACK),
    "parked it waits": (state(Phase.PARKED, "0"), DARK, Cause.PARKED, None),
    "parked it goes on when it sees again": (state(Phase.PARKED, "0"), seen(), Cause.UNPARKED, Event.UNPARK),
    "not without stable's counts": (state(Phase.PARKED, "0"), seen(unseen=("v1",)), Cause.PARKED, None),
    "the canary's are not needed yet": (
        state(Phase.PARKED, "0"), seen(unseen=("v2",)), Cause.UNPARKED, Event.UNPARK,
    ),
    "nor without a ready canary": (state(Phase.PARKED, "0"), seen(canary_endpoints=0), Cause.PARKED, None),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), BLIND.values(), ids=BLIND.keys())
def test_blind(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, replace(now, returns_to=(Phase.PROGRESSING,)), world)
    assert (found.cause, found.event) == (cause, event)


BROKEN = Guard(0.005, bets=bets(np.log(1e6)), polls=9.0, requests=400, bad=30)
KEPT_PROMISE = replace(BROKEN, bets=bets(0.0), bad=1)
PROMOTED = {"share": "1", "generation": SHIFT.generation, "finished_at": START}
GUARDED = {
    "while it is promoted": (state(Phase.PROMOTED, **PROMOTED, guard=BROKEN), seen(), Cause.GUARD_BROKEN, BACK),
    "while it is being promoted": (state(Phase.PROMOTING, "1", guard=BROKEN), seen(), Cause.GUARD_BROKEN, BACK),
    "while it is paused there": (state(Phase.PAUSED, "1", guard=BROKEN), seen(), Cause.GUARD_BROKEN, BACK),
    "a promise that is kept": (state(Phase.PROMOTED, **PROMOTED, guard=KEPT_PROMISE), seen(), Cause.DONE, None),
    "after the window nobody looks": (state(Phase.PROMOTED, **PROMOTED), seen(), Cause.DONE, None),
    "a dead stable takes nothing back": (
        state(Phase.PROMOTED, **PROMOTED, guard=BROKEN), seen(stable_endpoints=0), Cause.STABLE_GONE, None,
    ),
    "suspended means suspended": (state(Phase.SUSPENDED, "1", guard=BROKEN), seen(), Cause.SUSPENDED, None),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), GUARDED.values(), ids=GUARDED.keys())
def test_the_objective_at_100_percent(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, now, world)
    assert (found.cause, found.event) == (cause, event)
    if event is BACK:
        assert (found.facts["bad"], found.facts["limit"]) == ("30", "0.5 %")


METRICS = """metrics:
  - {{name: outcomes}}
  - {{name: queue, prometheus: {{kind: gauge, value: 'max(queue{{version="{{{{ version }}}}"}})', max: 50, for: 1m,
     onBreach: {breach}}}}}
"""


def with_gauge(breach: str) -> Any:
    return shift(steps="10%, 50%, 100%", hold="10s", more=METRICS.format(breach=breach))


OUT = {"gauges": {"queue": {"v1": 3.0, "v2": 99.0}}}
BOTH_OUT = {"gauges": {"queue": {"v1": 80.0, "v2": 99.0}}}
LONG = {"breaches": {"queue": LATER - timedelta(minutes=1)}}
JUST_NOW = {"breaches": {"queue": LATER}}
GAUGES = {
    "within its range": ("rollback", {}, {"gauges": {"queue": {"v1": 3.0, "v2": 50.0}}}, Cause.STEP_ENTERED),
    "just outside it holds": ("rollback", JUST_NOW, OUT, Cause.GAUGE_OUT),
    "long enough it goes back": ("rollback", LONG, OUT, Cause.GAUGE_OUT),
    "or holds, where that is wanted": ("hold", LONG, OUT, Cause.GAUGE_OUT),
    "what both versions share blames neither": ("rollback", LONG, BOTH_OUT, Cause.GAUGE_OUT),
    "unread it is no data": ("rollback", LONG, {}, Cause.NO_DATA),
    "nor is a number that is none": ("rollback", {}, {"gauges": {"queue": {"v2": float("nan")}}}, Cause.NO_DATA),
}


@pytest.mark.parametrize(("breach", "now", "world", "cause"), GAUGES.values(), ids=GAUGES.keys())
def test_a_gauge(breach: str, now: Mapping[str, Any], world: Mapping[str, Any], cause: Cause) -> None:
    found = decided(with_gauge(breach), state(**now), seen(**world))
    goes_back = (breach, now, world) == ("rollback", LONG, OUT)
    assert (found.cause, found.event is BACK) == (cause, goes_back)


def test_several_metrics_are_blamed_by_what_they_say() -> None:
    watched = Watched((one_test("outcomes"), one_test("attempts", tries=2), one_test("latency>250ms")))
    now = state(watched=watched, tide=tide(watched, harm=(CLEAR, CLEAR, HARM), counts=(410, 12, 3702, 13)))
    found = decided(by_evidence(), now, seen())
    assert (found.cause, found.facts["metric"], found.facts["test"]) == (Cause.HARM_FOUND, "latency", "latency>250ms")


@pytest.mark.parametrize(("variance", "cause"), [(270.0, Cause.BUDGET_SPENT), (285.0, Cause.BUDGETED)])
def test_a_budget_is_not_spent_by_what_bad_luck_explains(variance: float, cause: Cause) -> None:
    """Three sd of it: the least budget that is accepted, for the noise that showed since."""
    noisy = state(tide=tide(excess=50.0, excess_variance=np.array([variance])))
    assert decided(by_evidence(), noisy, seen()).cause is cause
