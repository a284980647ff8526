"""Whole runs on a small world: each scenario once in peace, and again with a death around every call of a port."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from control.engine.phase import Phase, Verb
from control.spec import TrafficShift
from tests.support.fake_ports import Behaviour, Killed, World
from tests.support.shifts import apply, at_step, command, run, shift, state_of, status_of


@dataclass(frozen=True)
class Scenario:
    """What happens in the world, and where it must end."""

    play: Callable[[World], None]
    phase: Phase
    share: Fraction
    reason: str
    wanted: TrafficShift = shift(steps="10%, 100%", hold="2s")  # noqa: RUF009 (frozen)


def healthy(world: World) -> None:
    run(world)


def fails_for_callers(world: World) -> None:
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 5))
    run(world)


def retries_only(world: World) -> None:
    world.behaviours["v2"] = Behaviour(retried=Fraction(3, 10))
    run(world)


def dies_at_first_step(world: World) -> None:
    run(world, at_step(1))
    world.endpoints["v2"] = 0
    run(world)


def person_rolls_back(world: World) -> None:
    run(world, at_step(1))
    command(world, Verb.ROLLBACK, reason="a bad feeling")
    run(world)


def person_promotes_fully(world: World) -> None:
    run(world, at_step(1))
    command(world, Verb.PROMOTE_FULL)
    run(world)


def somebody_raises_once(world: World) -> None:
    run(world, at_step(1))
    world.set_weights({"v1": 20, "v2": 80})
    run(world)


def both_fail_alike(world: World) -> None:
    world.behaviours = {version: Behaviour(failing=Fraction(1, 50)) for version in ("v1", "v2")}
    run(world)


def hangs_now_and_then(world: World) -> None:
    world.behaviours["v2"] = Behaviour(abandoned=Fraction(3, 10))
    run(world)


def callers_leave_both(world: World) -> None:
    world.behaviours = {version: Behaviour(abandoned=Fraction(1, 10)) for version in ("v1", "v2")}
    run(world)


SCENARIOS = {
    "a version that makes callers give up goes back": Scenario(
        hangs_now_and_then, Phase.ROLLED_BACK, Fraction(0), "abandoned: canary"
    ),
    "callers who leave both versions alike are no harm": Scenario(
        callers_leave_both, Phase.PROMOTED, Fraction(1), "every proxy runs 100 %"
    ),
    "a healthy version is promoted": Scenario(healthy, Phase.PROMOTED, Fraction(1), "every proxy runs 100 %"),
    "failures of the canary roll it back": Scenario(
        fails_for_callers, Phase.ROLLED_BACK, Fraction(0), "outcomes: canary"
    ),
    "retries that callers never see roll it back": Scenario(
        retries_only, Phase.ROLLED_BACK, Fraction(0), "attempts: canary", shift(steps="10%, 100%", hold="10s")
    ),
    "a canary without endpoints goes to 0": Scenario(
        dies_at_first_step, Phase.ROLLED_BACK, Fraction(0), "no ready endpoint left"
    ),
    "a person rolls back": Scenario(person_rolls_back, Phase.ROLLED_BACK, Fraction(0), "a bad feeling"),
    "a person promotes to the end": Scenario(
        person_promotes_fully, Phase.PROMOTED, Fraction(1), "every proxy runs 100 %"
    ),
    "a foreign change upwards is repaired": Scenario(
        somebody_raises_once, Phase.PROMOTED, Fraction(1), "every proxy runs 100 %"
    ),
    "a failure that both share harms nobody": Scenario(
        both_fail_alike, Phase.PROMOTED, Fraction(1), "every proxy runs 100 %"
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_a_run_ends_where_it_should(scenario: Scenario) -> None:
    world = World()
    apply(world, scenario.wanted)
    scenario.play(world)
    assert_ended(world, scenario)


def assert_ended(world: World, scenario: Scenario) -> None:
    state, status = state_of(world), status_of(world)
    assert (state.phase, world.share(), world.share("edge")) == (scenario.phase, scenario.share, scenario.share)
    assert scenario.reason in status["reason"]
    assert status["share"]["configured"] == status["share"]["acknowledged"] == str(scenario.share)
    assert status["share"]["observedRatio"] == float(scenario.share)


class DiesAt:
    """Kills the process once, at the n-th moment before or after a call that changes something."""

    def __init__(self, moment: int) -> None:
        self.moment = moment
        self.count = 0

    def __call__(self, call: str, when: str) -> None:
        self.count += 1
        if self.count == self.moment:
            raise Killed(f"{when} {call}")


def story(world: World) -> list[tuple[str, int, str]]:
    """What the journal tells of moves, whatever was told of waiting."""
    told = {
        "StepEntered",
        "FullEntered",
        "Promoted",
        "HarmFound",
        "CanaryGone",
        "Commanded",
        "PromotedByHand",
        "RolledBack",
    }
    moves = [(str(e["reason"]), e["step"], str(e["share"])) for e in world.entries if e["reason"] in told]
    return [move for move, _ in itertools.groupby(moves)]


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_killed_at_any_moment_it_ends_the_same(scenario: Scenario) -> None:
    peaceful = World()
    counter = peaceful.kill = DiesAt(0)
    apply(peaceful, scenario.wanted)
    scenario.play(peaceful)
    for moment in range(1, counter.count + 1):
        world = World()
        world.kill = DiesAt(moment)
        apply(world, scenario.wanted)
        scenario.play(world)
        assert_ended(world, scenario)
        assert story(world) == story(peaceful), f"killed at moment {moment}"
        assert [w for w, _ in itertools.groupby(world.writes)] == peaceful.writes, f"killed at moment {moment}"
