"""The clock is set in the middle of a run: nothing that takes time is over sooner for it, or later."""

from datetime import datetime, timedelta

import pytest

from control.engine.carried import carried
from control.loop.clock_steps import ClockSteps
from control.loop.reconcile import reconcile
from tests.support.fake_ports import START, World
from tests.support.shifts import KEY, LOOP, at_step, begun, reasons, run, run_for, state_of

HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def set_clock(world: World, by: timedelta) -> None:
    """The clock is set between two looks, a second apart; no request came but in that second."""
    world.pass_time(SECOND)
    world.now += by
    world.previous = {key: (at + by, text) for key, (at, text) in world.previous.items()}
    LOOP.run_until_complete(reconcile(world.ports(), KEY, world.now, set_by=by))


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "back"])
def test_a_hold_lasts_as_long_as_it_would(by: timedelta) -> None:
    world = begun(hold="10m")
    run(world, at_step(1))
    began = state_of(world).acknowledged_at
    assert began is not None
    run_for(world, timedelta(minutes=4))
    set_clock(world, by)
    run(world, lambda each: state_of(each).step == 2)
    assert timedelta(minutes=10) <= world.now - by - began < timedelta(minutes=10, seconds=15)
    assert reasons(world) == ["StepEntered", "StepAcknowledged", "FullEntered"]


@pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "back"])
def test_what_a_person_gave_back_is_respected_as_long_as_it_would_be(by: timedelta) -> None:
    world = begun(hold="1h", more="gracePeriod: 10m")
    run(world, at_step(1))
    world.set_weights({"v1": 90, "v2": 10})
    run_for(world, timedelta(minutes=4))
    set_clock(world, by)
    run_for(world, timedelta(minutes=5))
    assert "DriftRepaired" not in reasons(world)
    run_for(world, timedelta(minutes=2))
    assert "DriftRepaired" in reasons(world)


def test_what_is_told_of_the_past_keeps_its_times() -> None:
    world = begun(hold="1h")
    run(world, at_step(1))
    state = state_of(world)
    moved = carried(state, HOUR)
    assert moved.outbox == state.outbox
    assert state.acknowledged_at is not None
    assert moved.acknowledged_at == state.acknowledged_at + HOUR
    assert carried(moved, -HOUR) == state
    assert carried(state, timedelta(0)) is state


class Steady:
    """The clock that nobody sets."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


ROWS: dict[str, tuple[timedelta, timedelta]] = {
    "set forward": (HOUR, HOUR),
    "set back": (-HOUR, -HOUR),
    "led little by little": (SECOND, timedelta(0)),
    "not set": (timedelta(0), timedelta(0)),
}


@pytest.mark.parametrize(("by", "told"), ROWS.values(), ids=ROWS.keys())
def test_a_clock_that_was(by: timedelta, told: timedelta) -> None:
    steady = Steady()
    steps = ClockSteps(steady)

    def now() -> datetime:
        return START + timedelta(seconds=steady.now_s)

    assert steps.since(KEY, now()) == timedelta(0), "nobody looked before"
    steps.looked(KEY, now())
    steady.now_s += 60
    assert steps.since(KEY, now() + by) == told
    assert steps.since(KEY, now() + by) == told, "a look that was not carried out is none"
    steps.looked(KEY, now() + by)
    assert steps.since(KEY, now() + by) == timedelta(0)
