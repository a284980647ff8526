"""What must stand before any weight is written, and which weight is the first."""

from dataclasses import replace
from fractions import Fraction

import pytest

from control.engine.begin import first_of
from control.engine.budget import needed_budget, raised
from control.engine.decision import Cause
from control.engine.evidence import first_share
from control.engine.observation import Observation
from control.engine.phase import Event, Phase
from control.engine.state import Flow, ShiftState
from control.engine.terms import terms_of
from control.engine.watched import Watched
from control.spec import TrafficShift
from tests.support.shifts import by_evidence, shift
from tests.support.situations import LATER, WATCHED, decided, one_test, seen, state

FREE = seen(routes=(replace(seen().routes[0], configured=Fraction(0)),))


def pending(**changes: object) -> ShiftState:
    return state(Phase.PENDING, "0", **({"step": 0, "steps": (), "intent": None} | changes))


def cheap(budget: float) -> dict[str, object]:
    return {"watched": replace(WATCHED, budget=budget)}


FAILS_OFTEN = {"flow": Flow(50.0, LATER, 10_000, 210)}
UNMEASURED = replace(WATCHED, unwatched={"latency": "too few requests"})
STEPS, EVIDENCE = shift(steps="10%, 50%, 100%", hold="10s"), by_evidence()
BAKED = by_evidence(bake="10m")
BEGINS = {
    "everything stands": (STEPS, pending(), FREE, Cause.STEP_ENTERED),
    "by evidence": (EVIDENCE, pending(), FREE, Cause.STEP_ENTERED),
    "the only step is all traffic": (shift(steps="100%"), pending(), FREE, Cause.FULL_ENTERED),
    "no ready canary": (STEPS, pending(), replace(FREE, canary_endpoints=0), Cause.NO_CANARY_ENDPOINT),
    "a rollout is under way": (
        STEPS, pending(), replace(FREE, canary_builds=("cart@1", "cart@2")), Cause.ROLLING_OUT,
    ),
    "nobody knows": (STEPS, pending(), replace(FREE, canary_endpoints=None), Cause.ENDPOINTS_UNKNOWN),
    "the metrics can't be read": (STEPS, pending(), replace(FREE, readable=False), Cause.METRICS_UNAVAILABLE),
    "a person's metric can't be": (
        STEPS, pending(), replace(FREE, troubles={"misses": "two series"}), Cause.METRICS_UNAVAILABLE,
    ),
    "what would be compared is not settled": (STEPS, pending(watched=None), FREE, Cause.METRICS_UNAVAILABLE),
    "hands off": (STEPS, pending(), replace(FREE, routes=(replace(FREE.routes[0], hands_off=True),)), Cause.HANDS_OFF),
    "the canary has more already": (
        STEPS, pending(), seen(routes=(replace(FREE.routes[0], configured=Fraction(1, 2)),)), Cause.ALREADY_CARRYING,
    ),
    "by evidence, too": (
        EVIDENCE, pending(), seen(routes=(replace(FREE.routes[0], configured=Fraction(1, 2)),)),
        Cause.ALREADY_CARRYING,
    ),
    "the first weight depends on a rate that nobody knows": (
        EVIDENCE, pending(flow=Flow()), FREE, Cause.RATE_UNKNOWN,
    ),
    "one that the spec names does not": (by_evidence(first="1%"), pending(flow=Flow()), FREE, Cause.STEP_ENTERED),
    "nor do fixed steps": (STEPS, pending(flow=Flow()), FREE, Cause.STEP_ENTERED),
    "what slow means is not known yet": (
        EVIDENCE, pending(flow=Flow(50.0, LATER, 199, 0), watched=UNMEASURED), FREE, Cause.EDGES_UNKNOWN,
    ),
    "and may never be": (
        EVIDENCE, pending(flow=Flow(50.0, LATER, 200, 0), watched=UNMEASURED), FREE, Cause.STEP_ENTERED,
    ),
    "fixed steps do not wait for that": (
        STEPS, pending(flow=Flow(50.0, LATER, 9, 0), watched=UNMEASURED), FREE, Cause.STEP_ENTERED,
    ),
    "a budget that bad luck could use up": (BAKED, pending(**FAILS_OFTEN, **cheap(20)), FREE, Cause.BUDGET_TOO_SMALL),
    "one that it could not": (BAKED, pending(**FAILS_OFTEN, **cheap(50)), FREE, Cause.STEP_ENTERED),
    "a short way needs less": (EVIDENCE, pending(**FAILS_OFTEN, **cheap(30)), FREE, Cause.STEP_ENTERED),
    "steps are planned, too": (
        shift(steps="10%, 50%, 100%", hold="10m"), pending(**FAILS_OFTEN, **cheap(50)), FREE, Cause.BUDGET_TOO_SMALL,
    ),
    "nothing is too small for a rate that nobody knows": (
        STEPS, pending(flow=Flow(), **cheap(1)), FREE, Cause.STEP_ENTERED,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "now", "world", "cause"), BEGINS.values(), ids=BEGINS.keys())
def test_a_beginning(wanted: TrafficShift, now: ShiftState, world: Observation, cause: Cause) -> None:
    found = decided(wanted, now, world)
    assert found.cause is cause
    assert (found.event in (Event.BEGIN, Event.FILL)) is (cause in (Cause.STEP_ENTERED, Cause.FULL_ENTERED))


def test_a_budget_that_is_too_small_says_what_would_do() -> None:
    """3 sd of the failures of 6,000 canary requests at 20 %, of which 2.1 % fail: 3 sqrt(126 / 0.8) = 37.6."""
    found = decided(BAKED, pending(**FAILS_OFTEN, **cheap(20)), FREE)
    assert (found.facts["budget"], found.facts["needed"], found.facts["failing"]) == ("20", "38", "2.1 %")
    assert needed_budget(BAKED, WATCHED, 0.021, 50.0) == pytest.approx(37.6, abs=0.1)


OWN = {
    "suffices": (BAKED, 0.003, 50.0, 50.0),
    "much traffic": (BAKED, 0.003, 3000.0, 110.0),
    "many failures": (BAKED, 0.021, 500.0, 119.0),
    "nobody knows how many fail": (BAKED, None, 3000.0, 50.0),
    "nobody knows the traffic": (BAKED, 0.003, None, 50.0),
    "somebody's own": (replace(BAKED, budget=50.0), 0.003, 3000.0, 50.0),
    "1 % of what a month may fail": (replace(BAKED, objective=0.9999), 0.3, 50.0, 129.6),
}


@pytest.mark.parametrize(("wanted", "failing", "per_s", "budget"), OWN.values(), ids=OWN.keys())
def test_a_budget_that_nobody_named_follows_what_is_needed(
    wanted: TrafficShift, failing: float | None, per_s: float | None, budget: float
) -> None:
    found = raised(wanted, replace(WATCHED, budget=50.0), failing, per_s)
    assert found.budget == pytest.approx(budget, rel=0.01)


@pytest.mark.parametrize(("failing", "needed"), [(0.0, 0.0), (0.003, 8.8), (0.021, 23.2)], ids=["none", "few", "many"])
def test_the_budget_of_fixed_steps(failing: float, needed: float) -> None:
    """10 % and 50 % of 100 a second, a minute each: 600 and 3,000 canary requests."""
    wanted = shift(steps="10%, 50%, 100%", hold="1m")
    expected = 3 * (failing * (600 / 0.9 + 3000 / 0.5)) ** 0.5
    assert needed_budget(wanted, WATCHED, failing, 100.0) == pytest.approx(expected)
    assert expected == pytest.approx(needed, rel=0.6)


def test_the_first_weight_follows_the_rate() -> None:
    """Sub-percent where many requests come: every one of them might fail. It is the core's, as an exact share."""
    wanted, watched = by_evidence(), Watched((one_test("outcomes"),))
    rates = (0.2, 5.0, 50.0, 500.0, 50_000.0)
    found = [first_of(wanted, watched, each) for each in rates]
    core = [float(first_share(terms_of(wanted, watched), each)[0]) for each in rates]
    assert [float(each or 0) for each in found] == core
    assert found[0] == Fraction(1, 5)
    assert found[-1] == Fraction(1, 1000)
    assert sorted(core, reverse=True) == core
    assert first_of(wanted, watched, None) is first_of(wanted, watched, 0.0) is None
