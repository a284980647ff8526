"""A shift that only observes: it decides and records everything, and writes nothing, whatever happens."""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from control.engine.phase import Phase, Verb
from control.errors import Refused
from control.spec import TrafficShift
from tests.support.fake_ports import Behaviour, World, virtual_service
from tests.support.shifts import (
    apply,
    by_evidence,
    command,
    phase_of,
    reasons,
    run,
    run_for,
    shift,
    state_of,
    status_of,
)

WATCH = "mode: observe"
OBSERVED = {
    "steps": shift(steps="10%, 50%, 100%", hold="5s", more=WATCH),
    "evidence": by_evidence(more=WATCH),
    "a bake": by_evidence(bake="1m", more=f"{WATCH}\n  return: {{over: 1m}}"),
}


def carried(share: int = 20, **changes: Any) -> World:
    """Somebody else gives the canary this many percent."""
    world = World(rps=50, **changes)
    world.set_weights({"v1": 100 - share, "v2": share})
    world.set_weights({"v1": 100 - share, "v2": share}, "edge")
    return world


@pytest.mark.parametrize("wanted", OBSERVED.values(), ids=OBSERVED.keys())
def test_beside_whatever_controls_the_traffic_it_says_what_it_would_do(wanted: TrafficShift) -> None:
    world = carried()
    apply(world, wanted)
    run(world, limit=timedelta(minutes=30))
    status = status_of(world)
    assert (phase_of(world), world.writes, world.share()) == (Phase.PROMOTED, [], Fraction(1, 5))
    assert (status["mode"], status["stepShare"], status["share"]["configured"]) == ("observe", "1", "1/5")
    assert status["share"]["observedRatio"] == pytest.approx(0.2, abs=0.02)
    assert status["reason"].startswith("v2 would have all traffic by now; nothing was written")
    moves = [each for each in world.entries if each["reason"] in ("StepEntered", "FullEntered", "Promoted")]
    assert all("would" in str(each["sentence"]) for each in moves)
    assert not {"StepAcknowledged", "DriftRepaired", "Conflict", "AlreadyCarrying"} & set(reasons(world))


def test_harm_is_found_and_nothing_is_done_about_it() -> None:
    world = carried()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 10))
    apply(world, OBSERVED["evidence"])
    run(world, limit=timedelta(minutes=30))
    assert (phase_of(world), world.writes, world.share()) == (Phase.ROLLED_BACK, [], Fraction(1, 5))
    assert status_of(world)["reason"].startswith("all traffic would go back to v1: v2 does harm: outcomes: canary")
    assert status_of(world)["outcome"] == "HarmFound"


def test_without_traffic_on_the_canary_there_is_nothing_to_see() -> None:
    world = World(rps=50)
    apply(world, OBSERVED["evidence"])
    run_for(world, timedelta(minutes=5))
    assert (phase_of(world), world.writes, status_of(world)["verdict"]) == (Phase.PROGRESSING, [], "no data")


def test_weights_that_we_could_not_write_are_none_of_its_business() -> None:
    world = World(rps=50)
    for document, route in (("translator", "primary"), ("edge", None)):
        world.write(virtual_service(document, route, weights={"v1": 0, "v2": 0, "v3": 100}), document)
    apply(world, OBSERVED["steps"])
    run_for(world, timedelta(seconds=20))
    assert (phase_of(world), world.writes) == (Phase.PROGRESSING, [])
    assert status_of(world)["reason"] == "no request of v2 was counted at 10 %; no data is no verdict"


def test_what_others_do_to_the_weights_is_followed_not_fought() -> None:
    world = carried(5)
    apply(world, OBSERVED["evidence"])
    run_for(world, timedelta(seconds=40))
    for share in (50, 1, 20, 30):
        world.set_weights({"v1": 100 - share, "v2": share})
        run_for(world, timedelta(seconds=20))
    assert phase_of(world) in (Phase.PROGRESSING, Phase.PROMOTED)
    assert world.writes == []


def test_what_was_observed_is_not_taken_over() -> None:
    """Control begins from nothing: with its own first step, once the weights are what it would begin with."""
    world = carried()
    apply(world, shift(steps="10%, 100%", hold="1h", more=WATCH))
    run_for(world, timedelta(seconds=20))
    assert state_of(world).step == 1
    apply(world, shift(steps="10%, 100%", hold="1h"))
    run(world, lambda each: state_of(each).run == 2)
    run_for(world, timedelta(seconds=20))
    assert (phase_of(world), world.writes) == (Phase.PENDING, [])
    assert "gives v2 20 % already" in status_of(world)["reason"]


troubles = st.lists(
    st.sampled_from(["fails", "slow", "blind", "sees", "dead", "alive", "weights", "gone", *Verb]), max_size=8
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    wanted=st.sampled_from(list(OBSERVED.values())),
    share=st.integers(0, 100),
    happens=troubles,
)
def test_no_write_reaches_the_documents_whatever_happens(
    wanted: TrafficShift, share: int, happens: list[str | Verb]
) -> None:
    world = carried(share)
    calls: list[str] = []
    world.kill = lambda call, when: calls.append(call)
    apply(world, wanted)
    for number, what in enumerate(happens):
        run_for(world, timedelta(seconds=15))
        _happen(world, what, number)
    run_for(world, timedelta(minutes=2))
    assert "apply" not in calls
    assert world.writes == []
    assert "save" in calls


def _happen(world: World, what: str | Verb, number: int) -> None:
    if isinstance(what, Verb):
        try:
            command(world, what, id=f"{number}")
        except Refused:
            return
    match what:
        case "fails":
            world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
        case "slow":
            world.behaviours["v2"] = Behaviour(slow=Fraction(1, 2))
        case "blind" | "sees":
            world.blind = what == "blind"
        case "dead" | "alive":
            world.endpoints["v2"] = 0 if what == "dead" else 1
        case "weights":
            world.set_weights({"v1": 90 - number, "v2": 10 + number}, "edge")
        case "gone":
            world.unreachable = frozenset({"edge"})
        case _:
            return


def test_deleted_it_is_gone_at_once() -> None:
    world = carried()
    apply(world, OBSERVED["steps"])
    run_for(world, timedelta(seconds=10))
    found = world.stored["default", "translator"]
    world.stored["default", "translator"] = type(found)(
        "default", "translator", found.spec, {**found.state, "deleting": True}, found.version + 1
    )
    run(world, lambda each: False)
    assert (world.stored, world.writes) == ({}, [])
