"""Somebody else keeps writing the weights: who has the last word, and what is said about it."""

from datetime import timedelta
from fractions import Fraction

from control.engine.phase import Phase, Verb
from tests.support.fake_ports import Behaviour, World
from tests.support.shifts import apply, at_step, command, phase_of, run, run_for, shift, status_of

HALF = Fraction(1, 2)


def conflicted() -> World:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1h"))
    run(world, at_step(1))
    for _ in range(3):
        world.set_weights({"v1": 10, "v2": 90})
        run_for(world, timedelta(seconds=5))
    assert phase_of(world) is Phase.CONFLICT
    return world


def test_a_conflict_says_what_the_documents_say_however_often_somebody_writes() -> None:
    """No further write after the last repair: whoever writes then has the last word, and the status says so."""
    world = conflicted()
    found = status_of(world)
    assert found["share"]["configured"] == "1/2"
    assert found["reason"] == "somebody else keeps writing these weights: nothing is written after 50 %, the lower one"
    told = [entry["sentence"] for entry in world.entries if entry["reason"] == "Conflict"]
    assert told == [found["reason"]]
    world.set_weights({"v1": 1, "v2": 99})
    run_for(world, timedelta(seconds=30))
    found = status_of(world)
    assert (phase_of(world), world.share(), found["share"]["configured"]) == (
        Phase.CONFLICT, Fraction(99, 100), None,
    )  # fmt: skip
    assert found["reason"].endswith("primary says 99 % now, which is left alone")


def test_a_conflict_is_left_by_resume() -> None:
    world = conflicted()
    world.set_weights({"v1": 60, "v2": 40})
    command(world, Verb.RESUME)
    run_for(world, timedelta(seconds=5))
    assert (phase_of(world), world.share()) == (Phase.PROGRESSING, HALF)


def test_harm_is_undone_even_in_a_conflict() -> None:
    world = conflicted()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, Fraction(0))
