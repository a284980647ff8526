"""Ramped returns, and what is watched at 100 % and for a while after."""

from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.phase import Phase, Verb
from tests.support.fake_ports import Behaviour, World
from tests.support.shifts import (
    apply,
    at_step,
    begun,
    command,
    in_phase,
    phase_of,
    run,
    run_for,
    shift,
    state_of,
    status_of,
)

CALM = "return: {over: 1m}"


def shares(world: World) -> list[str]:
    """The weights of the edge in percent of what both have, in order."""
    return [str(Fraction(weights[1], sum(weights[:2]))) for name, weights in world.writes if name == "edge"]


def test_a_commanded_return_takes_its_time() -> None:
    world = begun(more=CALM)
    since = world.now
    command(world, Verb.ROLLBACK)
    run(world)
    assert shares(world) == ["1/2", "1/4", "3/25", "3/50", "3/100", "1/100", "0"]
    assert timedelta(minutes=1) <= world.now - since < timedelta(seconds=70)
    assert phase_of(world) is Phase.ROLLED_BACK


def test_meanwhile_it_says_what_is_left() -> None:
    world = begun(more=CALM)
    command(world, Verb.ROLLBACK)
    run_for(world, timedelta(seconds=15))
    status = status_of(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLING_BACK, Fraction(3, 25))
    assert status["stepShare"] == "3/25"
    assert "a second rollback takes all of it at once" in status["waitingFor"]


def test_a_second_command_ends_it_at_once() -> None:
    world = begun(more=CALM)
    command(world, Verb.ROLLBACK, id="1")
    run_for(world, timedelta(seconds=5))
    command(world, Verb.ROLLBACK, id="2")
    run(world, limit=timedelta(seconds=20))
    assert shares(world) == ["1/2", "1/4", "0"]


def test_harm_on_the_way_back_ends_it_at_once() -> None:
    world = begun(more=CALM)
    command(world, Verb.ROLLBACK)
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world, limit=timedelta(seconds=40))
    assert shares(world)[-1] == "0"
    assert status_of(world)["outcome"] == "HarmFound"


def test_a_canary_that_dies_on_the_way_back_ends_it_at_once() -> None:
    world = begun(more=CALM)
    command(world, Verb.ROLLBACK)
    run_for(world, timedelta(seconds=5))
    world.endpoints["v2"] = 0
    run(world, limit=timedelta(seconds=20))
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, 0)


def test_harm_never_takes_its_time() -> None:
    world = begun(more=CALM)
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert shares(world) == ["1/2", "0"]


def test_shares_that_cant_be_written_beside_others_are_left_out() -> None:
    world = World()
    world.set_weights({"v1": 2, "v2": 0, "v3": 98}, "edge")
    apply(world, shift(steps="50%, 100%", hold="1h", more=CALM))
    run(world, at_step(1))
    command(world, Verb.ROLLBACK)
    run(world, limit=timedelta(minutes=3))
    assert (phase_of(world), world.weights("edge")) == (Phase.ROLLED_BACK, {"v1": 2, "v2": 0, "v3": 98})


def test_a_suspended_return_waits_and_goes_on() -> None:
    world = begun(more=CALM)
    command(world, Verb.ROLLBACK)
    run_for(world, timedelta(seconds=15))
    command(world, Verb.SUSPEND)
    run_for(world, timedelta(minutes=2))
    assert world.share() == Fraction(3, 25)
    command(world, Verb.RESUME)
    run(world, limit=timedelta(minutes=1))
    assert phase_of(world) is Phase.ROLLED_BACK


def promoted(**spec: str | int) -> World:
    world = World()
    apply(world, shift(**{"steps": "50%, 100%", "hold": "2s"} | spec))  # type: ignore[arg-type]
    run(world)
    return world


@pytest.mark.parametrize("after", [timedelta(0), timedelta(minutes=5)])
def test_a_promoted_version_that_breaks_its_objective_goes_back(after: timedelta) -> None:
    world = promoted()
    run_for(world, after)
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 20))
    run(world, in_phase(Phase.ROLLED_BACK))
    status = status_of(world)
    assert (world.share(), status["outcome"]) == (0, "GuardBroken")
    assert "v2 misses its objective, with nothing left to compare with: " in status["reason"]
    assert "0.5 % may; evidence " in status["reason"]
    assert [entry.outcome for entry in world.ledger] == ["promoted", "rolled back"]


def test_within_its_objective_it_stays() -> None:
    world = promoted()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 500))
    run_for(world, timedelta(minutes=15))
    assert (phase_of(world), world.share(), state_of(world).guard) == (Phase.PROMOTED, 1, None)


def test_after_its_window_nobody_looks_any_more() -> None:
    world = promoted(more="rollbackWindow: 1m")
    run_for(world, timedelta(seconds=90))
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run_for(world, timedelta(minutes=5))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, 1)


def test_a_service_that_never_kept_its_objective_is_not_rolled_back_for_it() -> None:
    world = World(behaviours={version: Behaviour(failing=Fraction(1, 50)) for version in ("v1", "v2")})
    apply(world, shift(steps="50%, 100%", hold="10s"))
    run(world)
    run_for(world, timedelta(minutes=12))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, 1)


def test_blind_after_the_promotion_nothing_is_parked() -> None:
    world = promoted()
    world.blind = True
    run_for(world, timedelta(minutes=5))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, 1)


def test_what_breaks_while_it_is_being_promoted_goes_back_too() -> None:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1m"))
    run(world, in_phase(Phase.PROMOTING))
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 20))
    run(world)
    assert (phase_of(world), status_of(world)["outcome"]) == (Phase.ROLLED_BACK, "GuardBroken")
