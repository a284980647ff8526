"""Laws that hold for whole runs, whatever the world does and whenever the process dies."""

import math
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from control.engine.decide import decide
from control.engine.judge import judge
from control.engine.move import move
from control.engine.phase import Phase
from control.engine.state import ShiftState, new_state
from control.loop import reconcile as reconciling
from control.loop.observe import Look, look
from control.loop.write import confirmed, patches, write
from control.spec import TrafficShift
from tests.support.fake_ports import Behaviour, Killed, World
from tests.support.shifts import LOOP, apply, phase_of, run, run_for, shift, state_of

lawful = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
rates = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 100), Fraction(1, 5)])
WANTED = shift(steps="10%, 100%", hold="2s")


def world_with(failing: Fraction, retried: Fraction) -> World:
    world = World()
    world.behaviours["v2"] = Behaviour(failing, retried)
    apply(world, WANTED)
    return world


@lawful
@given(failing=rates, retried=rates)
def test_replay_equals_live(failing: Fraction, retried: Fraction) -> None:
    """The looks of a run, played again without a world, a store or a clock, lead through the same states."""
    world = world_with(failing, retried)
    live, looks = watched_run(world)
    assert replayed(WANTED, looks) == live


def watched_run(world: World) -> tuple[list[ShiftState], list[tuple[datetime, Look]]]:
    """The state after each tick, and what the tick saw."""
    states, looks = [], []
    while phase_of(world) not in (Phase.PROMOTED, Phase.ROLLED_BACK):
        found = LOOP.run_until_complete(look(world.ports(), WANTED, state_of(world), world.now))
        looks.append((world.now, found))
        outcome = LOOP.run_until_complete(reconciling.reconcile(world.ports(), WANTED.key, world.now))
        states.append(state_of(world))
        world.pass_time(max(outcome.next_tick, timedelta(milliseconds=1)))
    return states, looks


def replayed(wanted: TrafficShift, looks: list[tuple[datetime, Look]]) -> list[ShiftState]:
    state, states = new_state(wanted), []
    for now, found in looks:
        known = reconciling.weighed(wanted, state, found, now)
        judged = judge(wanted, known, found.seen, now)
        decision = decide(wanted, known, found.seen, judged, now)
        after = reconciling.told(move(wanted, known, decision, now, seen=found.seen), judged)
        written = LOOP.run_until_complete(write(_Agreeing(), patches(wanted, after, found, now)))  # type: ignore[arg-type]
        state = replace(confirmed(after, written, now), outbox=(), owes_entry=False)
        states.append(state)
    return states


class _Agreeing:
    """Documents that take every patch."""

    async def apply(self, patch: object) -> object:
        return patch


class DiesOften:
    """Kills the process at given moments, counted over the whole run."""

    def __init__(self, moments: set[int]) -> None:
        self.moments = moments
        self.count = 0

    def __call__(self, call: str, when: str) -> None:
        self.count += 1
        if self.count in self.moments:
            raise Killed(f"{when} {call}")


@lawful
@given(failing=rates, moments=st.sets(st.integers(1, 80), max_size=20))
def test_however_often_it_is_killed_it_ends_the_same(failing: Fraction, moments: set[int]) -> None:
    peaceful, hunted = world_with(failing, Fraction(0)), world_with(failing, Fraction(0))
    hunted.kill = DiesOften(moments)
    run(peaceful)
    run(hunted)
    assert (phase_of(hunted), hunted.share(), hunted.share("edge")) == (
        phase_of(peaceful),
        peaceful.share(),
        peaceful.share("edge"),
    )
    assert [each.step for each in state_of(hunted).steps] == [each.step for each in state_of(peaceful).steps]


@lawful
@example(failing=Fraction(1, 5), blind=False, rps=50, endpoints=None)
@given(
    failing=rates,
    blind=st.booleans(),
    rps=st.sampled_from([0, 1, 50, 200]),
    endpoints=st.sampled_from([None, 0, 1]),
)
def test_no_step_is_taken_without_evidence(failing: Fraction, blind: bool, rps: int, endpoints: int | None) -> None:
    """Whatever happens at the first step: a second one was taken only after enough requests, counted and without doubt;
    and what fails is taken back in the end.
    """
    world = world_with(failing, Fraction(0))
    run(world, lambda each: state_of(each).step == 1)
    world.blind, world.rps, world.endpoints["v2"] = blind, rps, endpoints
    run_for(world, timedelta(seconds=20))
    steps = state_of(world).steps
    if len(steps) > 1:
        assert not blind
        assert steps[0].window.canary >= WANTED.strategy.min_requests
        assert steps[0].left is not None
        assert float(steps[0].left.facts["logHarm"]) < math.log(5)
    if failing == Fraction(1, 5) and not blind and rps >= 50:
        run_for(world, timedelta(seconds=60))
        assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, 0)
    if endpoints == 0 and phase_of(world) is not Phase.PROMOTED:
        assert world.share() == 0
