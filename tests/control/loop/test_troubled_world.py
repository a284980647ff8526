"""What is missing, unreachable, refused or dead, and what the shift does and says about it."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.phase import Phase, Verb
from tests.support.fake_ports import HOST, Behaviour, World, virtual_service
from tests.support.shifts import (
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
)

HALF = Fraction(1, 2)


def no_endpoint(world: World) -> None:
    world.endpoints["v2"] = 0


def no_subset(world: World) -> None:
    del world.endpoints["v2"]


def unknown_endpoints(world: World) -> None:
    world.endpoints["v2"] = None


def no_destination(world: World) -> None:
    world.write(virtual_service("edge", weights={"v1": 100}), "edge")


def no_document(world: World) -> None:
    del world.texts["default", "edge"]


def no_such_route(world: World) -> None:
    world.write(virtual_service("translator", "other"))


def unreachable(world: World) -> None:
    world.unreachable = frozenset({"edge"})


def blind(world: World) -> None:
    world.blind = True


def all_unread(world: World) -> None:
    world.unread = frozenset(world.proxies)


def already_carrying(world: World) -> None:
    world.set_weights({"v1": 20, "v2": 80}, "edge")


def stable_without_traffic(world: World) -> None:
    for document, route in (("translator", "primary"), ("edge", None)):
        world.write(virtual_service(document, route, weights={"v1": 0, "v2": 0, "v3": 100}), document)


def unwritable(world: World) -> None:
    world.unwritable = "the weights are an alias"


def too_coarse(world: World) -> None:
    world.set_weights({"v1": 10, "v2": 0, "v3": 90}, "edge")


NOT_BEGUN = {
    "a document whose weights can't be written": (unwritable, "the weights are an alias"),
    "weights too coarse for a step, beside others": (too_coarse, "multiply all weights of the route by 100"),
    "no ready endpoint of the canary": (no_endpoint, "v2 has no ready endpoint"),
    "a subset that nobody declared": (no_subset, "subset v2 is not declared"),
    "nobody knows the endpoints": (unknown_endpoints, "the registry does not answer"),
    "the canary is no destination": (no_destination, f"- destination:\n    host: {HOST}\n    subset: v2"),
    "no such document": (no_document, "there is no VirtualService default/edge"),
    "no such route, those that exist are named": (no_such_route, "its routes: other"),
    "a document can't be read": (unreachable, "VirtualService default/edge can't be read: the mesh does not answer"),
    "the metrics can't be read": (blind, "the metrics can't be read: no proxy answers"),
    "not one proxy can be read": (all_unread, "no proxy could be read: gateway, sidecar"),
    "the canary has more than the first step": (already_carrying, "gives v2 80 % already"),
    "stable has no traffic to share": (stable_without_traffic, "give stable a weight"),
}


@pytest.mark.parametrize(("trouble", "words"), NOT_BEGUN.values(), ids=NOT_BEGUN.keys())
def test_nothing_is_written_before_everything_stands(trouble: Callable[[World], None], words: str) -> None:
    world = World()
    trouble(world)
    apply(world, shift())
    run_for(world, timedelta(seconds=20))
    status = status_of(world)
    assert (phase_of(world), world.writes) == (Phase.PENDING, [])
    assert words in status["reason"]
    assert status["waitingFor"]


def test_it_begins_once_the_trouble_is_over() -> None:
    world = World()
    no_endpoint(world)
    apply(world, shift(steps="100%", hold="1s"))
    run_for(world, timedelta(seconds=20))
    world.endpoints["v2"] = 1
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_too_few_requests_hold_and_more_let_it_go_on() -> None:
    world = begun(hold="1s", min_requests=200)
    world.rps = 2
    run_for(world, timedelta(seconds=30))
    status = status_of(world)
    assert (phase_of(world), status["verdict"]) == (Phase.PROGRESSING, "insufficient")
    assert "200 requests of v2 must be seen" in status["waitingFor"]
    world.rps = 200
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_no_traffic_is_no_verdict_and_no_advance() -> None:
    world = begun(hold="1s")
    world.rps = 0
    world.counts.clear()
    state = state_of(world)
    run_for(world, timedelta(seconds=30))
    assert (phase_of(world), world.share()) == (Phase.PROGRESSING, HALF)
    assert state_of(world).tide.values
    assert state_of(world).run == state.run


def test_nothing_moved_is_no_data() -> None:
    world = World(rps=0)
    apply(world, shift(hold="1s"))
    run_for(world, timedelta(seconds=20))
    assert status_of(world)["verdict"] == "no data"
    assert "no data is no verdict" in status_of(world)["reason"]


def test_blind_for_a_while_it_holds_and_goes_on_when_it_sees_again() -> None:
    world = begun(hold="1s")
    world.blind = True
    run_for(world, timedelta(seconds=50))
    status = status_of(world)
    assert (phase_of(world), world.share(), status["verdict"]) == (Phase.PROGRESSING, HALF, "unavailable")
    world.blind = False
    run(world)
    assert phase_of(world) is Phase.PROMOTED
    assert "Parked" not in reasons(world)


def test_what_failed_while_it_was_blind_is_caught_up_once() -> None:
    world = begun()
    world.blind = True
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run_for(world, timedelta(seconds=30))
    assert phase_of(world) is Phase.PROGRESSING
    world.blind = False
    run(world)
    assert "outcomes: canary" in status_of(world)["reason"]


def test_a_restarted_proxy_neither_lies_nor_stops_the_shift() -> None:
    world = begun(hold="10s")
    world.restart_proxy("gateway")
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_on_failure_hold_keeps_the_weight_for_a_person() -> None:
    world = begun(more="onFailure: hold")
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world, in_phase(Phase.FAILED))
    run_for(world, timedelta(minutes=1))
    status = status_of(world)
    assert (phase_of(world), world.share(), status["verdict"]) == (Phase.FAILED, HALF, "fail")
    assert status["nextCommand"] == "tidegate rollback translator"


def test_a_canary_without_endpoints_goes_to_0_even_when_failures_hold() -> None:
    world = begun(more="onFailure: hold")
    world.endpoints["v2"] = 0
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, Fraction(0))
    assert "no verdict on its answers" in status_of(world)["reason"]


def test_endpoints_that_nobody_knows_move_nothing() -> None:
    world = begun()
    world.endpoints["v2"] = None
    run_for(world, timedelta(seconds=20))
    assert (phase_of(world), world.share()) == (Phase.PROGRESSING, HALF)


def test_a_proxy_that_refuses_holds_and_is_shown() -> None:
    world = begun(hold="1s")
    world.nack, world.nack_from = "route names an unknown cluster", world.now
    run_for(world, timedelta(seconds=20))
    status = status_of(world)
    assert "sidecar refuses the new weight: route names an unknown cluster" in status["reason"]
    assert status["proxies"][0]["rejections"] == [{"proxy": "sidecar", "message": "route names an unknown cluster"}]
    assert status["step"] == 2
    world.nack = ""
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_a_refused_write_is_not_repeated_blindly() -> None:
    world = begun(hold="1s")
    world.refusing = "admission webhook says no"
    tries: list[str] = []
    world.kill = lambda call, when: tries.append(call) if call == "apply" else None
    run_for(world, timedelta(seconds=25))
    assert "the mesh refuses the new weight: admission webhook says no" in status_of(world)["reason"]
    assert len(tries) <= 2 * 4
    world.refusing = ""
    run(world)
    assert phase_of(world) is Phase.PROMOTED


def test_requests_that_last_long_keep_a_promotion_waiting() -> None:
    """They began before the last weight and end on stable long after every proxy runs it."""
    world = World(lingering=timedelta(seconds=20))
    apply(world, shift(steps="50%, 100%", hold="5s"))
    run(world, at_step(2))
    run_for(world, timedelta(seconds=12))
    told = status_of(world)
    assert (phase_of(world), told["share"]["acknowledged"]) == (Phase.PROMOTING, "1")
    assert told["share"]["observedRatio"] == pytest.approx(0.5, abs=0.01)
    assert "requests still ended on v1" in told["reason"]
    run(world)
    told = status_of(world)
    assert (phase_of(world), told["share"]["observedRatio"], told["steps"][-1]["observedRatio"]) == (
        Phase.PROMOTED, 1.0, 1.0,
    )  # fmt: skip


def test_without_traffic_at_100_percent_nothing_is_promoted() -> None:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="5s"))
    run(world, in_phase(Phase.PROMOTING))
    world.rps = 0
    run_for(world, timedelta(minutes=5))
    told = status_of(world)
    assert (phase_of(world), told["verdict"], told["share"]["observedRatio"]) == (Phase.PROMOTING, "no data", None)
    assert told["reason"] == "no request of v2 was counted at 100 %; no data is no verdict"
    world.rps = 200
    run(world)
    assert (phase_of(world), status_of(world)["share"]["observedRatio"]) == (Phase.PROMOTED, 1.0)


def test_at_rest_nothing_is_claimed_of_weights_that_somebody_else_wrote() -> None:
    world = World()
    apply(world, shift(steps="100%", hold="1s"))
    run(world)
    assert status_of(world)["share"]["observedRatio"] == 1.0
    world.set_weights({"v1": 100, "v2": 0})
    run_for(world, timedelta(seconds=40))
    assert (phase_of(world), status_of(world)["share"]["observedRatio"]) == (Phase.PROMOTED, None)


def test_a_rollback_writes_whatever_it_can() -> None:
    world = begun()
    world.unreachable = frozenset({"edge"})
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world, in_phase(Phase.ROLLING_BACK))
    run_for(world, timedelta(seconds=10))
    assert (phase_of(world), world.share(), world.share("edge")) == (Phase.ROLLING_BACK, Fraction(0), HALF)
    assert status_of(world)["share"] == {"configured": None, "acknowledged": None, "observedRatio": None}
    world.unreachable = frozenset()
    run(world)
    assert world.share("edge") == 0


def test_a_document_that_is_deleted_keeps_no_rollback_waiting() -> None:
    world = begun()
    no_document(world)
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    world.proxies = ("sidecar",)
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, Fraction(0))


def test_rolled_back_means_seen_not_said() -> None:
    world = begun()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world, in_phase(Phase.ROLLING_BACK))
    world.unread = frozenset({"gateway"})
    run_for(world, timedelta(seconds=30))
    assert phase_of(world) is Phase.ROLLING_BACK
    assert "no request on v2" in status_of(world)["waitingFor"]
    world.unread = frozenset()
    run(world)
    assert status_of(world)["share"]["observedRatio"] == 0.0


def test_where_the_mesh_cant_tell_time_settles_it() -> None:
    world = World(acknowledgements_known=False)
    apply(world, shift(steps="50%, 100%", hold="1s", more="settle: 5s"))
    run(world, lambda each: state_of(each).acknowledged_at is not None)
    found = state_of(world)
    assert found.acknowledged_at == found.steps[0].entered_at + timedelta(seconds=5)
    assert found.steps[0].acknowledged_at is None
    assert status_of(world)["share"]["acknowledged"] is None
    run(world)
    assert phase_of(world) is Phase.PROMOTED


@pytest.mark.parametrize(
    ("policy", "phase"), [("hold", Phase.PROGRESSING), ("rollback", Phase.ROLLED_BACK)], ids=["holds", "goes back"]
)
def test_past_its_deadline_it(policy: str, phase: Phase) -> None:
    world = begun(hold="1s", min_requests=10**6, more=f"deadline: 1m\n  onDeadline: {policy}")
    run_for(world, timedelta(minutes=2))
    assert phase_of(world) is phase
    assert "deadline" in status_of(world)["reason"]


def test_every_step_is_told_once() -> None:
    world = World()
    apply(world, shift(steps="5%, 50%, 100%", hold="2s"))
    run(world)
    assert reasons(world) == [
        "StepEntered",
        "StepAcknowledged",
        "StepEntered",
        "StepAcknowledged",
        "FullEntered",
        "StepAcknowledged",
        "Promoted",
    ]
    assert [entry["seq"] for entry in world.entries] == list(range(1, 8))


def test_a_step_that_cant_be_written_holds_and_the_rest_is_written() -> None:
    """An edited list of steps asks for more than a route's own sum can hold, beside a foreign destination."""
    world = World()
    world.set_weights({"v1": 10, "v2": 0, "v3": 90}, "edge")
    apply(world, shift(steps="50%, 100%", hold="1h"))
    run(world, at_step(1))
    apply(world, shift(steps="50%, 99.5%, 100%", hold="1s"))
    run_for(world, timedelta(seconds=30))
    assert "can't be written" in status_of(world)["reason"]
    assert (world.share(), world.weights("edge")) == (Fraction(199, 200), {"v1": 5, "v2": 5, "v3": 90})
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert (world.share(), world.weights("edge")) == (Fraction(0), {"v1": 10, "v2": 0, "v3": 90})


def test_a_mesh_that_does_not_answer_is_given_time() -> None:
    world = World(proxies_unreachable=True)
    apply(world, shift(steps="100%", hold="1s", more="settle: 3s"))
    run(world)
    assert status_of(world)["share"]["acknowledged"] is None
    assert reasons(world) == ["FullEntered", "StepSettled", "Promoted"]
    assert (
        world.entries[1]["sentence"] == "nobody can say which proxies run 100 %: 3 s have passed since it was written"
    )
    assert world.entries[2]["sentence"].startswith("100 % is written, though nobody can say which proxies run it, and")
    assert [each["acknowledgedAt"] for each in status_of(world)["steps"]] == [None]
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, Fraction(1))


def test_what_time_had_settled_is_acknowledged_once_the_mesh_says_so() -> None:
    world = World(proxies_unreachable=True)
    apply(world, shift(steps="50%, 100%", hold="20s", more="settle: 3s"))
    run(world, at_step(1))
    run_for(world, timedelta(seconds=5))
    assert reasons(world) == ["StepEntered", "StepSettled"]
    world.proxies_unreachable = False
    run(world)
    assert reasons(world) == [
        "StepEntered",
        "StepSettled",
        "StepAcknowledged",
        "FullEntered",
        "StepAcknowledged",
        "Promoted",
    ]


def test_a_return_that_nobody_can_confirm_does_not_claim_that_every_proxy_runs_it() -> None:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1h", more="settle: 3s"))
    run(world, at_step(1))
    run_for(world, timedelta(seconds=5))
    world.proxies_unreachable = True
    command(world, Verb.ROLLBACK)
    run(world)
    assert reasons(world)[-2:] == ["StepSettled", "RolledBack"]
    assert "nobody can say which proxies run it" in world.entries[-1]["sentence"]


def test_a_command_that_comes_between_write_and_confirmation_is_not_lost() -> None:
    world = World()
    apply(world, shift(hold="1h"))
    asked = iter([Verb.PAUSE])

    def between(call: str, when: str) -> None:
        if (call, when) == ("apply", "after") and (verb := next(asked, None)):
            command(world, verb)

    world.kill = between
    run(world, lambda each: state_of(each).acknowledged_at is not None)
    assert phase_of(world) is Phase.PAUSED
    assert world.share() == world.share("edge") == Fraction(1, 20)
