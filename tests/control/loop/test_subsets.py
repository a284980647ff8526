"""Subsets that are missing, before the first weight: added where the shift asks for it, told once, never otherwise."""

from datetime import timedelta

import pytest

from control.engine.phase import Phase
from tests.support.fake_ports import World
from tests.support.shifts import apply, phase_of, reasons, run, run_for, shift, status_of

ASKED = "manageSubsets: true"
STEPS = {"steps": "50%, 100%", "hold": "5s"}


def without_v2() -> World:
    return World(endpoints={"v1": 1})


def test_a_missing_subset_is_added_and_told_once() -> None:
    world = without_v2()
    apply(world, shift(**STEPS, more=ASKED))
    run(world)
    assert phase_of(world) is Phase.PROMOTED
    assert reasons(world).count("SubsetsAdded") == 1
    (told,) = [each["sentence"] for each in world.entries if each["reason"] == "SubsetsAdded"]
    assert "has v2 now" in told


@pytest.mark.parametrize("more", ["", f"{ASKED}\n  mode: observe"], ids=["not asked for", "only observing"])
def test_nothing_is_added_unasked(more: str) -> None:
    world = without_v2()
    apply(world, shift(**STEPS, more=more))
    run_for(world, timedelta(seconds=30))
    assert (phase_of(world), "v2" in world.endpoints) == (Phase.PENDING, False)


def test_what_can_t_be_added_is_told() -> None:
    world = without_v2()
    world.refusing = "the policy says no"
    apply(world, shift(**STEPS, more=ASKED))
    run_for(world, timedelta(seconds=30))
    assert phase_of(world) is Phase.PENDING
    assert "the policy says no" in status_of(world)["reason"]
    world.refusing = ""
    run(world)
    assert phase_of(world) is Phase.PROMOTED
