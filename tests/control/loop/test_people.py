"""People come first: their changes, their commands, their edits, and what the shift does about each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.admission import admit
from control.engine.phase import Phase, Verb
from control.errors import Refused
from tests.support.fake_ports import Behaviour, World, virtual_service
from tests.support.shifts import (
    KEY,
    apply,
    at_step,
    begun,
    command,
    in_phase,
    phase_of,
    reasons,
    run,
    run_for,
    shift,
    state_of,
    status_of,
    tick,
)

HALF = Fraction(1, 2)


def test_a_change_towards_stable_is_respected_then_set_back() -> None:
    world = begun(more="gracePeriod: 1m")
    world.set_weights({"v1": 90, "v2": 10})
    run_for(world, timedelta(seconds=50))
    assert world.share() == Fraction(1, 10)
    assert "somebody set v2 to 10 %" in status_of(world)["reason"]
    assert status_of(world)["conditions"][0]["type"] == "ForeignChange"
    run_for(world, timedelta(seconds=20))
    assert world.share() == HALF
    assert reasons(world).count("DriftRepaired") == 1


def test_a_change_towards_stable_that_goes_on_is_respected_anew() -> None:
    world = begun(more="gracePeriod: 1m")
    for weight in (40, 30, 20):
        world.set_weights({"v1": 100 - weight, "v2": weight})
        run_for(world, timedelta(seconds=50))
        assert world.share() == Fraction(weight, 100)


def test_a_change_that_its_author_takes_back_is_forgotten() -> None:
    world = begun(more="gracePeriod: 1m")
    world.set_weights({"v1": 90, "v2": 10})
    run_for(world, timedelta(seconds=30))
    world.set_weights({"v1": 50, "v2": 50})
    run_for(world, timedelta(seconds=5))
    assert state_of(world).drift.since is None
    assert "DriftRepaired" not in reasons(world)


def test_a_change_away_from_stable_is_set_back_at_once() -> None:
    world = begun()
    world.set_weights({"v1": 10, "v2": 90}, "edge")
    run_for(world, timedelta(seconds=3))
    assert world.share("edge") == HALF


@pytest.mark.parametrize(
    ("theirs", "left"), [({"v1": 10, "v2": 90}, HALF), ({"v1": 90, "v2": 10}, Fraction(1, 10))], ids=["more", "less"]
)
def test_the_third_repair_is_the_last_and_leaves_the_lower_weight(theirs: dict[str, int], left: Fraction) -> None:
    world = begun(more="gracePeriod: 1s")
    for _ in range(3):
        world.set_weights(theirs)
        run_for(world, timedelta(seconds=5))
    assert (phase_of(world), world.share()) == (Phase.CONFLICT, left)
    world.set_weights({"v1": 60, "v2": 40})
    run_for(world, timedelta(minutes=1))
    assert world.share() == Fraction(2, 5)
    assert len(world.writes) <= 6


def test_repairs_that_lie_far_apart_are_no_conflict() -> None:
    world = begun(poll="1m")
    for _ in range(4):
        world.set_weights({"v1": 10, "v2": 90})
        run_for(world, timedelta(minutes=6))
    assert (phase_of(world), world.share()) == (Phase.PROGRESSING, HALF)


@pytest.mark.parametrize(("verb", "phase"), [(Verb.PAUSE, Phase.PAUSED), (Verb.SUSPEND, Phase.SUSPENDED)])
def test_while_somebody_holds_it_the_status_says_who_and_why(verb: Verb, phase: Phase) -> None:
    """Through ticks, through troubles that come and go, and through a second one that set it aside on top."""
    world = begun()
    command(world, verb, reason="odd answers")
    assert "(asked for by ada: odd answers)" in status_of(world)["reason"]
    run_for(world, timedelta(seconds=10))
    world.unreachable = frozenset({"edge"})
    run_for(world, timedelta(seconds=10))
    world.unreachable = frozenset()
    run_for(world, timedelta(seconds=20))
    assert (phase_of(world), "(asked for by ada: odd answers)" in status_of(world)["reason"]) == (phase, True)


def test_what_was_set_aside_twice_says_each_reason_in_turn() -> None:
    world = begun()
    command(world, Verb.PAUSE, reason="first")
    command(world, Verb.SUSPEND, reason="second")
    run_for(world, timedelta(seconds=20))
    assert "(asked for by ada: second)" in status_of(world)["reason"]
    command(world, Verb.RESUME, reason="third")
    assert status_of(world)["reason"] == "resumed (asked for by ada: third)"
    run_for(world, timedelta(seconds=20))
    assert "paused (asked for by ada: first)" in status_of(world)["reason"]
    command(world, Verb.RESUME, reason="fourth")
    run_for(world, timedelta(seconds=5))
    assert (phase_of(world), state_of(world).set_aside) == (Phase.PROGRESSING, ())
    told = [str(entry["sentence"]) for entry in world.entries if entry["actor"] == "ada"]
    assert [word for word in ("first", "second", "third", "fourth") if word in " ".join(told)] == [
        "first", "second", "third", "fourth",
    ]  # fmt: skip


def test_a_spec_that_was_swapped_while_suspended_waits_and_is_told() -> None:
    world = begun()
    command(world, Verb.SUSPEND)
    assert status_of(world)["subject"] == {"stable": "v1", "canary": "v2"}
    apply(world, shift(steps="50%, 100%", hold="1h", stable="v2", canary="v1"))
    run_for(world, timedelta(seconds=30))
    found = status_of(world)
    assert (found["phase"], found["subject"]) == ("Suspended", {"stable": "v1", "canary": "v2"})
    (condition,) = found["conditions"]
    assert condition["type"] == "SpecWaits"
    assert condition["message"] == "the spec asks for v2 to v1 now, which begins once this run from v1 to v2 is over"


def test_at_rest_weights_are_healed_too() -> None:
    world = World()
    apply(world, shift(steps="100%", hold="1s"))
    run(world)
    world.set_weights({"v1": 0, "v2": 0, "v3": 100})
    world.set_weights({"v1": 100, "v2": 0})
    run_for(world, timedelta(minutes=4))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, Fraction(0))
    run_for(world, timedelta(minutes=2))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, Fraction(1))


def test_hands_off_on_the_document_stops_every_write() -> None:
    world = begun()
    text = virtual_service("translator", "primary", weights={"v1": 10, "v2": 90})
    world.write(
        text.replace(
            b"  name: translator\n", b'  name: translator\n  annotations: {tidegate.dev/hands-off: "true"}\n', 1
        )
    )
    world.behaviours["v2"] = Behaviour(failing=Fraction(1))
    before = list(world.writes)
    run_for(world, timedelta(minutes=1))
    assert world.writes == before
    assert "hands off" in status_of(world)["reason"]
    assert status_of(world)["verdict"] == "fail"
    world.write(text)
    run(world)
    assert world.share() == 0


def test_hands_off_on_the_shift_keeps_it_from_beginning() -> None:
    world = World()
    apply(world, shift(annotations=', annotations: {tidegate.dev/hands-off: "true"}'))
    run_for(world, timedelta(seconds=10))
    assert (phase_of(world), world.writes) == (Phase.PENDING, [])
    assert "hands off" in status_of(world)["reason"]


def test_suspended_nothing_is_written_until_resumed() -> None:
    world = begun(hold="2s")
    command(world, Verb.SUSPEND)
    world.set_weights({"v1": 1, "v2": 99})
    run_for(world, timedelta(minutes=1))
    assert (phase_of(world), world.share()) == (Phase.SUSPENDED, Fraction(99, 100))
    command(world, Verb.RESUME)
    run(world)
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, Fraction(1))


def test_a_rollback_lifts_a_suspension() -> None:
    world = begun()
    command(world, Verb.SUSPEND)
    run_for(world, timedelta(seconds=5))
    command(world, Verb.ROLLBACK)
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, Fraction(0))


def test_paused_it_does_not_advance_but_harm_still_takes_it_back() -> None:
    world = begun(hold="1s")
    command(world, Verb.PAUSE)
    run_for(world, timedelta(minutes=1))
    assert (phase_of(world), world.share()) == (Phase.PAUSED, HALF)
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert phase_of(world) is Phase.ROLLED_BACK


def test_paused_resumed_it_goes_on_where_it_was() -> None:
    world = begun(hold="1s")
    command(world, Verb.PAUSE)
    run_for(world, timedelta(seconds=10))
    command(world, Verb.RESUME)
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_an_edited_spec_counts_from_the_next_step_on() -> None:
    world = begun(steps="10%, 50%, 100%", hold="10s")
    apply(world, shift(steps="5%, 30%, 100%", hold="10s"))
    run_for(world, timedelta(seconds=5))
    assert world.share() == Fraction(1, 10)
    assert "SpecChanged" in reasons(world)
    run(world, lambda each: each.share() != Fraction(1, 10))
    assert world.share() == Fraction(3, 10)
    run(world)
    assert phase_of(world) is Phase.PROMOTED


@pytest.mark.parametrize(
    ("edited", "shares"),
    [
        ("1%, 2%, 3%, 10%, 50%, 100%", "1/10 1/2 1"),
        ("20%, 30%, 100%", "1/10 1/5 3/10 1"),
        ("100%", "1/10 1"),
    ],
    ids=["steps inserted below", "other steps above", "steps removed"],
)
def test_every_step_that_was_taken_is_told_whatever_became_of_the_plan(edited: str, shares: str) -> None:
    world = begun(steps="10%, 50%, 100%", hold="2s")
    apply(world, shift(steps=edited, hold="2s"))
    run(world)
    found = status_of(world)
    assert " ".join(step["share"] for step in found["steps"]) == shares
    assert [step["step"] for step in found["steps"]] == list(range(1, len(shares.split()) + 1))
    assert found["step"] == found["totalSteps"] == len(shares.split())


def test_the_steps_that_are_left_are_those_above_the_present_one() -> None:
    world = begun(steps="10%, 50%, 100%", hold="1h")
    assert (status_of(world)["step"], status_of(world)["totalSteps"]) == (1, 3)
    apply(world, shift(steps="1%, 2%, 5%, 20%, 30%, 40%, 100%", hold="1h"))
    run_for(world, timedelta(seconds=5))
    assert (status_of(world)["step"], status_of(world)["totalSteps"]) == (1, 5)
    command(world, Verb.PROMOTE_FULL)
    assert (status_of(world)["step"], status_of(world)["totalSteps"]) == (2, 2)


def test_an_edited_version_first_takes_the_running_one_back() -> None:
    world = begun()
    for document, route in (("translator", "primary"), ("edge", None)):
        world.write(virtual_service(document, route, weights={"v1": 50, "v2": 50, "v3": 0}), document)
    apply(world, shift(steps="50%, 100%", hold="1s", canary="v3"))
    run(world, lambda each: state_of(each).subject.canary == "v3")
    assert world.weights() == {"v1": 100, "v2": 0, "v3": 0}
    run(world)
    assert world.weights() == {"v1": 0, "v2": 0, "v3": 100}
    assert "Superseded" in reasons(world)


def test_after_a_promotion_the_next_version_begins() -> None:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1s"))
    run(world)
    for document, route in (("translator", "primary"), ("edge", None)):
        world.write(virtual_service(document, route, weights={"v1": 0, "v2": 100, "v3": 0}), document)
    world.counts = {key: [row[0] + 10**6, *row[1:]] for key, row in world.counts.items()}
    apply(world, shift(steps="50%, 100%", hold="1s", stable="v2", canary="v3"))
    run(world, lambda each: state_of(each).subject.canary == "v3" and at_step(1)(each))
    assert world.weights() == {"v1": 0, "v2": 50, "v3": 50}
    assert status_of(world)["run"] == 2
    run(world)
    assert world.weights() == {"v1": 0, "v2": 0, "v3": 100}
    assert status_of(world)["steps"][0]["canary"]["requests"] < 10**6


def test_the_next_version_must_begin_where_the_traffic_is() -> None:
    world = World()
    apply(world, shift(steps="100%", hold="1s"))
    run(world)
    with pytest.raises(Refused, match="v2 has all traffic of translator since the last run") as caught:
        admit(shift(canary="v3"), [], state_of(world))
    assert "stable: v2, canary: v3" in caught.value.hint
    admit(shift(stable="v2", canary="v3"), [], state_of(world))
    admit(shift(steps="50%, 100%"), [], state_of(world))


def test_two_shifts_on_one_route_are_refused() -> None:
    other = shift().__class__(
        **{each: getattr(shift(), each) for each in shift().__dataclass_fields__} | {"name": "other"}
    )
    with pytest.raises(Refused, match="is moved by default/translator already"):
        admit(other, [shift()])
    admit(shift(), [shift()])


def test_who_only_observes_stands_beside_who_moves_the_traffic() -> None:
    watching = replace(shift(more="mode: observe"), name="other")
    admit(watching, [shift()])
    admit(shift(), [watching])


def test_an_edited_promoted_shift_stays_promoted() -> None:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1s"))
    run(world)
    apply(world, shift(steps="10%, 100%", hold="1s"))
    run_for(world, timedelta(minutes=1))
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, Fraction(1))


@pytest.mark.parametrize("how", ["retry", "a changed spec"])
def test_after_a_rollback_it_begins_again(how: str) -> None:
    world = begun(hold="10s")
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert phase_of(world) is Phase.ROLLED_BACK
    world.behaviours["v2"] = Behaviour()
    if how == "retry":
        command(world, Verb.RETRY)
    else:
        apply(world, shift(steps="20%, 100%", hold="1s"))
    run(world, in_phase(Phase.PROMOTED))
    assert status_of(world)["run"] == 2
    assert status_of(world)["firstBadAt"] is None


@pytest.mark.parametrize(
    ("policy", "left"), [("stable", Fraction(0)), ("keep", HALF)], ids=["back to stable", "kept as it is"]
)
def test_a_deleted_shift_leaves_the_traffic_where_the_spec_says(policy: str, left: Fraction) -> None:
    world = begun(more=f"onDelete: {policy}")
    delete(world)
    run(world, lambda each: False)
    assert KEY not in world.stored
    assert world.share() == world.share("edge") == left


def delete(world: World) -> None:
    found = world.stored[KEY]
    state = {**found.state, "deleting": True}
    world.stored[KEY] = type(found)(*KEY, found.spec, state, found.version + 1)


def test_a_deleted_promoted_shift_keeps_its_traffic() -> None:
    world = World()
    apply(world, shift(steps="100%", hold="1s"))
    run(world)
    delete(world)
    run(world, lambda each: False)
    assert (KEY in world.stored, world.share()) == (False, Fraction(1))


def test_the_deletion_of_a_suspended_shift_writes_nothing() -> None:
    world = begun()
    command(world, Verb.SUSPEND)
    delete(world)
    run(world, lambda each: False)
    assert (KEY in world.stored, world.share()) == (False, HALF)


@dataclass(frozen=True)
class Obstacle:
    """What keeps a deleted shift's traffic from going back, and what is told of it."""

    begins: Callable[[World], None]
    told: str


def refuse(world: World) -> None:
    world.refusing = "no rights"


def nack(world: World) -> None:
    world.nack, world.nack_from = "gateway", world.now


def spoil(world: World) -> None:
    world.unwritable = "no list of routes"


def hide(world: World) -> None:
    world.unreachable = frozenset({"edge"})


OBSTACLES = {
    "the document can't be read": Obstacle(spoil, "no list of routes"),
    "a document is out of reach": Obstacle(hide, "does not answer"),
    "every write is refused": Obstacle(refuse, "no rights"),
    "a proxy never takes it": Obstacle(nack, "not every proxy"),
}


@pytest.mark.parametrize("obstacle", OBSTACLES.values(), ids=OBSTACLES.keys())
def test_a_deletion_is_kept_waiting_for_a_minute_at_most(obstacle: Obstacle) -> None:
    world = begun(hold="1h")
    obstacle.begins(world)
    delete(world)
    run_for(world, timedelta(seconds=50))
    assert world.stored
    run_for(world, timedelta(seconds=30))
    assert not world.stored
    assert world.entries[-1]["reason"] == "LetGo"
    assert obstacle.told in world.entries[-1]["sentence"]


def test_a_deletion_does_not_wait_for_metrics() -> None:
    world = begun()
    world.blind = True
    delete(world)
    run(world, lambda each: False)
    assert world.share() == 0


def test_a_shift_that_is_gone_has_no_tick() -> None:
    assert tick(World()).gone
