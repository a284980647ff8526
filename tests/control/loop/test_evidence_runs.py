"""Whole runs that evidence leads, on a small world: each in peace, and again with a death around calls of the ports."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.phase import Phase, Verb
from control.spec import TrafficShift
from tests.support.fake_ports import START, Behaviour, Killed, World
from tests.support.shifts import (
    KEY,
    apply,
    by_evidence,
    command,
    in_phase,
    phase_of,
    reasons,
    run,
    run_for,
    state_of,
    status_of,
)

NONE, ALL = Fraction(0), Fraction(1)
HOUR = timedelta(hours=1)


def fails(share: Fraction) -> Callable[[World], None]:
    return lambda world: world.behaviours.update(v2=Behaviour(failing=share))


def is_slow(world: World) -> None:
    world.behaviours["v2"] = Behaviour(slow=Fraction(1, 20))


def is_tried_again(world: World) -> None:
    world.behaviours["v2"] = Behaviour(retried=Fraction(3, 10))


def hangs(world: World) -> None:
    world.behaviours["v2"] = Behaviour(abandoned=Fraction(1, 5))


def both_fail(world: World) -> None:
    world.behaviours = {version: Behaviour(failing=Fraction(1, 50)) for version in ("v1", "v2")}


def nothing(world: World) -> None:
    return


@dataclass(frozen=True)
class Run:
    """How the canary behaves, where the run must end, and what is said of it first."""

    behaves: Callable[[World], None]
    phase: Phase
    reason: str
    wanted: TrafficShift = by_evidence()  # noqa: RUF009 (frozen)


RUNS = {
    "a good version is promoted": Run(nothing, Phase.PROMOTED, "every proxy runs 100 %"),
    "a good version is watched once more": Run(
        nothing, Phase.PROMOTED, "every proxy runs 100 %", by_evidence(bake="2m")
    ),
    "what both versions share harms nobody": Run(both_fail, Phase.PROMOTED, "every proxy runs 100 %"),
    "failures": Run(fails(Fraction(1, 50)), Phase.ROLLED_BACK, "v2 does harm: outcomes: canary "),
    "many failures": Run(fails(Fraction(1, 5)), Phase.ROLLED_BACK, "v2 does harm: outcomes: canary "),
    "slow answers": Run(is_slow, Phase.ROLLED_BACK, "v2 does harm: latency: slower than "),
    "retries that callers never see": Run(is_tried_again, Phase.ROLLED_BACK, "v2 does harm: attempts: canary "),
    "callers who give up": Run(hangs, Phase.ROLLED_BACK, "v2 does harm: abandoned: canary "),
    "a budget of hardly any failures": Run(
        fails(Fraction(1, 50)), Phase.ROLLED_BACK, "the budget is spent: ", by_evidence(more="budget: 3")
    ),
}


def started(wanted: TrafficShift, behaves: Callable[[World], None] = nothing) -> World:
    world = World(rps=200)
    behaves(world)
    apply(world, wanted)
    return world


@pytest.mark.parametrize("each", RUNS.values(), ids=RUNS.keys())
def test_a_run_ends_where_it_should(each: Run) -> None:
    world = started(each.wanted, each.behaves)
    run(world, limit=HOUR)
    share = ALL if each.phase is Phase.PROMOTED else NONE
    assert (phase_of(world), world.share(), world.share("edge")) == (each.phase, share, share)
    assert each.reason in status_of(world)["reason"]
    (entry,) = world.ledger
    assert (entry.outcome == "promoted") is (each.phase is Phase.PROMOTED)


class DiesAt:
    """Kills the process once, at the n-th moment before or after a call that changes something."""

    def __init__(self, moment: int) -> None:
        self.moment = moment
        self.count = 0

    def __call__(self, call: str, when: str) -> None:
        self.count += 1
        if self.count == self.moment:
            raise Killed(f"{when} {call}")


MOVES = {"StepEntered", "FullEntered", "BakeEntered", "Promoted", "HarmFound", "BudgetSpent", "RolledBack"}


def story(world: World) -> list[tuple[str, int, str]]:
    told = [(str(e["reason"]), e["step"], str(e["share"])) for e in world.entries if e["reason"] in MOVES]
    return [move for move, _ in itertools.groupby(told)]


@pytest.mark.parametrize("name", ["a good version is promoted", "many failures", "slow answers"])
def test_killed_at_any_moment_it_ends_the_same(name: str) -> None:
    """The same tick resumes: same moves, same writes, one entry in the ledger. Moments all over the run."""
    wanted, behaves = RUNS[name].wanted, RUNS[name].behaves
    peaceful = started(wanted, behaves)
    counter = peaceful.kill = DiesAt(0)
    run(peaceful, limit=HOUR)
    every = 1 + counter.count // 8
    for moment in range(1, counter.count + 1, every):
        world = started(wanted, behaves)
        world.kill = DiesAt(moment)
        run(world, limit=HOUR)
        assert story(world) == story(peaceful), f"killed at moment {moment}"
        assert [w for w, _ in itertools.groupby(world.writes)] == peaceful.writes, f"killed at moment {moment}"
        assert len(world.ledger) == 1


def test_weights_follow_the_evidence_and_stay_low_until_it_leans_the_right_way() -> None:
    world = started(by_evidence())
    run(world, limit=HOUR)
    taken = [step.share for step in state_of(world).steps]
    assert taken == sorted(taken)
    assert taken[-1] == 1
    assert {share for share in taken if share < 1} <= set(by_evidence().strategy.shares)
    beyond = [step for step in state_of(world).steps if step.share > Fraction(1, 5)]
    assert all(step.entered_at > START + timedelta(seconds=40) for step in beyond)


def test_many_requests_begin_below_one_percent() -> None:
    world = World(rps=3000)
    apply(world, by_evidence())
    run(world, lambda each: bool(state_of(each).steps))
    assert state_of(world).steps[0].share < Fraction(1, 100)
    run_for(world, timedelta(seconds=1))
    assert world.share() == state_of(world).share


def test_nothing_is_given_before_it_is_known_how_many_requests_come() -> None:
    world = World(rps=0)
    apply(world, by_evidence())
    run_for(world, timedelta(minutes=5))
    assert (phase_of(world), world.writes) == (Phase.PENDING, [])
    assert "on which the first weight depends" in status_of(world)["reason"]
    world.rps = 50
    run(world, in_phase(Phase.PROGRESSING))


def test_endpoints_cap_the_weight_until_there_are_more() -> None:
    world = started(by_evidence())
    world.endpoints.update(v1=10, v2=1)
    run_for(world, timedelta(minutes=5))
    assert world.share() == Fraction(1, 10)
    assert "1 endpoint of v2 beside 10 endpoints of v1 carry 10 % at the most" in status_of(world)["reason"]
    world.endpoints["v2"] = 10
    run(world, limit=HOUR)
    assert phase_of(world) is Phase.PROMOTED


def test_a_version_that_the_metrics_do_not_know_gets_no_more() -> None:
    world = started(by_evidence())
    world.hidden = frozenset({"v2"})
    run_for(world, timedelta(minutes=5))
    first = world.share()
    assert (phase_of(world), state_of(world).step) == (Phase.PROGRESSING, 1)
    assert "say nothing at all of v2" in status_of(world)["reason"]
    world.hidden = frozenset()
    run(world, limit=HOUR)
    assert (phase_of(world), first < 1) == (Phase.PROMOTED, True)


def test_requests_that_do_not_follow_the_weights_hold() -> None:
    world = started(by_evidence())
    run(world, lambda each: state_of(each).share >= Fraction(1, 10))
    world.misrouted = Fraction(1, 100)
    run_for(world, timedelta(minutes=5))
    assert phase_of(world) is Phase.PROGRESSING
    assert "routing mismatch: v2 should have " in status_of(world)["reason"]


def test_one_bad_process_of_four_holds_and_is_not_taken_for_the_version() -> None:
    world = started(by_evidence())
    world.pods, world.bad_pod = {"v1": 4, "v2": 4}, "v2-1"
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 5))
    run_for(world, timedelta(minutes=3))
    assert phase_of(world) is Phase.PROGRESSING
    assert "pod or version?" in status_of(world)["reason"]


def test_an_outage_of_stable_itself_holds_and_blames_nobody() -> None:
    world = started(by_evidence())
    run(world, lambda each: state_of(each).share >= Fraction(1, 20))
    world.behaviours = {version: Behaviour(failing=Fraction(1, 5)) for version in ("v1", "v2")}
    run_for(world, timedelta(minutes=4))
    assert (phase_of(world), "StableOutage" in reasons(world)) == (Phase.PROGRESSING, True)
    world.behaviours = {version: Behaviour() for version in ("v1", "v2")}
    run(world, limit=HOUR)
    assert phase_of(world) is Phase.PROMOTED


def test_a_spent_budget_is_told_apart_from_a_failure() -> None:
    world = started(by_evidence(more="budget: 3"), fails(Fraction(1, 50)))
    run(world, limit=HOUR)
    status = status_of(world)
    assert (status["phase"], status["outcome"]) == ("RolledBack", "BudgetSpent")
    assert status["verdict"] != "fail"
    assert "fail" not in {row["verdict"] for row in status["evidence"]}
    assert status["budget"] == {"limit": 3.0, "spent": pytest.approx(3.5, abs=0.5), "left": 0.0}


def test_what_earlier_shifts_say_is_asked_once_and_keeps_nobody_waiting() -> None:
    world = started(by_evidence())
    world.ledger_broken = "line 3: what is this?"
    run(world, in_phase(Phase.PROGRESSING))
    assert status_of(world)["unwatched"]["ledger"] == "line 3: what is this?"
    world.ledger_broken = ""
    run(world, limit=HOUR)
    assert len(world.ledger) == 1
    command(world, Verb.ROLLBACK)
    run(world, in_phase(Phase.ROLLED_BACK))
    assert [entry.outcome for entry in world.ledger] == ["promoted", "rolled back"]
    command(world, Verb.RETRY)
    run(world, in_phase(Phase.PROGRESSING))
    watched = state_of(world).watched
    assert watched is not None
    assert watched.unwatched.get("ledger") is None


def test_a_state_of_a_whole_run_stays_small() -> None:
    world = started(by_evidence(bake="2m"))
    world.pods = {"v1": 4, "v2": 4}
    sizes: list[int] = []
    world.kill = lambda call, when: sizes.append(len(str(world.stored[KEY].state)))
    run(world, limit=HOUR)
    assert max(sizes) < 12_000
