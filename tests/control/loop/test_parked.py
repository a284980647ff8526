"""Nobody sees what the canary does: it waits without weight, spends nothing, forgets nothing, and goes on by itself."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.phase import Phase, Verb
from tests.support.fake_ports import Behaviour, World
from tests.support.shifts import (
    apply,
    at_step,
    begun,
    by_evidence,
    command,
    in_phase,
    phase_of,
    reasons,
    run,
    run_for,
    shift,
    state_of,
    status_of,
)

HALF = Fraction(1, 2)
LONG = timedelta(minutes=2)


def proxies_silent(world: World) -> None:
    world.unread = frozenset(world.proxies)


def source_gone(world: World) -> None:
    world.blind = True


def sees_again(world: World) -> None:
    world.blind, world.unread = False, frozenset()


def parked(**spec: str | int) -> World:
    world = begun(**{"hold": "1m"} | spec)
    source_gone(world)
    run(world, in_phase(Phase.PARKED))
    run_for(world, timedelta(seconds=5))
    return world


@pytest.mark.parametrize("blinded", [proxies_silent, source_gone])
def test_blind_it_is_parked_and_goes_on_by_itself(blinded: Callable[[World], None]) -> None:
    world = begun(hold="1m")
    known = state_of(world)
    since = world.now
    blinded(world)
    run(world, in_phase(Phase.PARKED))
    assert timedelta(seconds=60) <= world.now - since < timedelta(seconds=64)
    run_for(world, LONG)
    status = status_of(world)
    assert (phase_of(world), world.share(), status["verdict"]) == (Phase.PARKED, 0, "unavailable")
    assert status["parked"]["share"] == "1/2"
    assert "nobody could see for 60 s what v2 does" in status["reason"]
    assert "then it goes on by itself" in status["waitingFor"]
    assert (state_of(world).tide, state_of(world).steps[0].canary) == (known.tide, known.steps[0].canary)
    sees_again(world)
    run(world, lambda each: each.share() == HALF)
    assert (phase_of(world), state_of(world).step) == (Phase.PROGRESSING, 1)
    run(world)
    assert phase_of(world) is Phase.PROMOTED
    assert [each for each in reasons(world) if each in ("Parked", "Unparked")] == ["Parked", "Unparked"]


def test_what_failed_meanwhile_convicts_it_before_it_goes_on() -> None:
    world = begun(hold="1m")
    world.behaviours["v2"] = Behaviour(failing=HALF)
    source_gone(world)
    run(world, in_phase(Phase.PARKED))
    sees_again(world)
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, 0)
    assert "outcomes: canary" in status_of(world)["reason"]
    assert "Unparked" not in reasons(world)


COMMANDS = {
    Verb.ROLLBACK: (Phase.ROLLED_BACK, Fraction(0)),
    Verb.PAUSE: (Phase.PAUSED, Fraction(0)),
    Verb.SUSPEND: (Phase.SUSPENDED, Fraction(0)),
    Verb.PROMOTE_FULL: (Phase.PROMOTING, Fraction(1)),
}


@pytest.mark.parametrize(("verb", "ends"), COMMANDS.items(), ids=COMMANDS.keys())
def test_people_have_their_say_meanwhile(verb: Verb, ends: tuple[Phase, Fraction]) -> None:
    """Still blind: a rollback needs to see that nothing reaches the canary, all else is done at once."""
    world = parked()
    command(world, verb)
    if verb is Verb.ROLLBACK:
        sees_again(world)
    run_for(world, LONG)
    assert (phase_of(world), world.share()) == ends


def test_a_step_by_hand_is_borne_for_as_long_again() -> None:
    world = parked()
    command(world, Verb.PROMOTE)
    run_for(world, timedelta(seconds=30))
    assert (phase_of(world), world.share()) == (Phase.PROMOTING, Fraction(1))


def test_paused_while_parked_it_waits_for_both() -> None:
    world = parked()
    command(world, Verb.PAUSE)
    sees_again(world)
    run_for(world, LONG)
    assert (phase_of(world), world.share()) == (Phase.PAUSED, 0)
    command(world, Verb.RESUME)
    run(world, lambda each: each.share() == HALF)
    assert phase_of(world) is Phase.PROGRESSING


def test_its_deadline_still_counts() -> None:
    world = parked(more="deadline: 2m\n  onDeadline: rollback")
    run(world, in_phase(Phase.ROLLING_BACK))
    sees_again(world)
    run(world)
    assert "the deadline passed" in status_of(world)["reason"]


def test_how_long_blindness_is_borne_is_the_specs() -> None:
    world = begun(hold="1h", more="blindFor: 10s")
    source_gone(world)
    since = world.now
    run(world, in_phase(Phase.PARKED))
    assert world.now - since < timedelta(seconds=14)


def test_without_a_ready_canary_it_stays_parked() -> None:
    world = parked()
    world.endpoints["v2"] = 0
    sees_again(world)
    run_for(world, LONG)
    assert (phase_of(world), world.share()) == (Phase.PARKED, 0)
    world.endpoints["v2"] = 1
    run(world, in_phase(Phase.PROGRESSING))


def test_a_foreign_change_is_answered_meanwhile() -> None:
    world = parked()
    world.set_weights({"v1": 40, "v2": 60})
    run_for(world, timedelta(seconds=10))
    assert (phase_of(world), world.share()) == (Phase.PARKED, 0)


def test_a_bake_goes_on_where_it_was() -> None:
    """A minute of ten was watched; the time without weight is none of it."""
    world = World(rps=50)
    apply(world, by_evidence(bake="10m"))
    run(world, lambda each: state_of(each).bake is not None, limit=timedelta(minutes=30))
    run_for(world, timedelta(minutes=1))
    source_gone(world)
    run(world, in_phase(Phase.PARKED))
    bake = state_of(world).bake
    assert bake is not None
    run_for(world, timedelta(minutes=20))
    sees_again(world)
    run(world, in_phase(Phase.PROGRESSING))
    run(world, lambda each: state_of(each).acknowledged_at is not None)
    found = state_of(world).bake
    assert found is not None
    assert found.before_s == bake.before_s
    assert 120 <= found.before_s < 140


def test_before_it_has_any_weight_nothing_is_parked() -> None:
    world = World(blind=True)
    apply(world, shift(steps="50%, 100%", hold="1s"))
    run_for(world, LONG)
    assert phase_of(world) is Phase.PENDING
    sees_again(world)
    run(world, at_step(1))
