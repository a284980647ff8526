"""A rollout of the canary in the middle of a shift, tick by tick."""

from datetime import timedelta
from fractions import Fraction

from control.engine.phase import Phase, Verb
from tests.support.fake_ports import Behaviour, World
from tests.support.shifts import apply as apply_shift
from tests.support.shifts import at_step, command, in_phase, phase_of, reasons, run, run_for, state_of, status_of
from tests.support.shifts import shift as a_shift

ONE, TWO = ("cart@1",), ("cart@2",)


def begun() -> World:
    world = World(builds={"v2": ONE})
    apply_shift(world, a_shift(steps="10%, 50%, 100%", hold="20s"))
    run(world, at_step(2))
    return world


def test_a_rollout_takes_the_weight_away_waits_and_begins_anew() -> None:
    world = begun()
    before = state_of(world)
    world.builds["v2"] = (*ONE, *TWO)
    run(world, in_phase(Phase.PENDING), limit=timedelta(seconds=30))
    assert (world.share(), state_of(world).run) == (0, before.run + 1)
    run_for(world, timedelta(seconds=30))
    assert phase_of(world) is Phase.PENDING
    assert "two builds of v2 stand side by side (cart@1, cart@2)" in status_of(world)["reason"]
    world.builds["v2"] = TWO
    run(world)
    assert phase_of(world) is Phase.PROMOTED
    assert [each for each in reasons(world) if each in ("Revised", "RolledBack", "Renewed", "RollingOut")] == [
        "Revised", "RolledBack", "Renewed", "RollingOut",
    ]  # fmt: skip


def test_what_the_old_build_did_never_speaks_against_the_new_one() -> None:
    """The old one fails just as its successor comes: that is no harm of the successor's."""
    world = begun()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    world.builds["v2"] = TWO
    run(world, lambda each: state_of(each).run == 2)
    world.behaviours["v2"] = Behaviour()
    run(world)
    assert phase_of(world) is Phase.PROMOTED
    assert "HarmFound" not in reasons(world)


def test_a_paused_shift_waits_for_a_person_after_a_rollout() -> None:
    world = begun()
    command(world, Verb.PAUSE)
    world.builds["v2"] = TWO
    run(world, in_phase(Phase.ROLLED_BACK))
    run_for(world, timedelta(minutes=1))
    assert phase_of(world) is Phase.ROLLED_BACK
    assert "it was paused: retry begins anew" in status_of(world)["reason"]
    command(world, Verb.RETRY)
    run(world)
    assert phase_of(world) is Phase.PROMOTED
