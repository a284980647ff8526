"""TrafficShifts for tests, and the loop that takes their ticks by hand."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from control.engine.command import Command
from control.engine.phase import FINISHED, Phase, Verb
from control.engine.state import ShiftState, new_state
from control.engine.status import status
from control.loop.commands import accept
from control.loop.reconcile import Outcome, reconcile
from control.ports import Stored
from control.spec import TrafficShift, from_document, parse_shift, to_document
from tests.support.fake_ports import Killed, World

KEY = ("default", "translator")
LOOP = asyncio.new_event_loop()
TEXT = """\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {{name: translator, namespace: default{annotations}}}
spec:
  target:
    host: translator
    routes: [{{virtualService: translator, route: primary}}, {{virtualService: edge}}]
  stable: {stable}
  canary: {canary}
  poll: {poll}
  strategy: {strategy}
{more}
"""


def shift(
    *,
    steps: str = "5%, 50%, 100%",
    hold: str = "10s",
    poll: str = "2s",
    stable: str = "v1",
    canary: str = "v2",
    min_requests: int = 20,
    more: str = "",
    annotations: str = "",
) -> TrafficShift:
    strategy = f"{{kind: steps, steps: [{steps}], hold: {hold}, minRequests: {min_requests}}}"
    return _shift(strategy, poll=poll, stable=stable, canary=canary, more=more, annotations=annotations)


def by_evidence(
    *, poll: str = "5s", bake: str = "0s", at: str = "20%", first: str = "auto", more: str = ""
) -> TrafficShift:
    """A shift whose weights follow the evidence; `more` are further lines of its spec."""
    strategy = f"{{kind: evidence, first: {first}, bake: {{for: {bake}, at: {at}}}}}"
    return _shift(strategy, poll=poll, more=more)


def _shift(
    strategy: str, *, poll: str, stable: str = "v1", canary: str = "v2", more: str = "", annotations: str = ""
) -> TrafficShift:
    text = TEXT.format(
        strategy=strategy,
        poll=poll, stable=stable, canary=canary, annotations=annotations,
        more=f"  {more}" if more else "",
    )  # fmt: skip
    return parse_shift(text.encode(), "shift.yaml")


def apply(world: World, wanted: TrafficShift) -> None:
    """What apply does: a new shift begins with a new state, a known one keeps its own."""
    found = world.stored.get(wanted.key)
    state = found.state if found else new_state(wanted).to_json()
    world.stored[wanted.key] = Stored(*wanted.key, to_document(wanted), state, found.version + 1 if found else 1)


def state_of(world: World) -> ShiftState:
    return ShiftState.from_json(world.stored[KEY].state)


def phase_of(world: World) -> Phase:
    return Phase(world.stored[KEY].state["phase"])


def status_of(world: World) -> dict[str, Any]:
    return status(from_document(world.stored[KEY].spec), state_of(world), world.now)


def command(world: World, verb: Verb, *, id: str = "", expect_step: int | None = None, reason: str = "") -> str:
    found = world.stored[KEY]
    asked = Command(id or f"{verb}-{found.version}", verb, "ada", world.now, expect_step, reason)
    taken = accept(found, asked, world.now)
    world.stored[KEY] = Stored(*KEY, found.spec, taken.state, found.version + 1)
    return taken.sentence


def tick(world: World) -> Outcome:
    """One tick; a killed one is simply taken again, as after a restart."""
    while True:
        try:
            return LOOP.run_until_complete(reconcile(world.ports(), KEY, world.now))
        except Killed:
            continue


def run(
    world: World,
    until: Callable[[World], bool] = lambda world: phase_of(world) in FINISHED,
    *,
    limit: timedelta = timedelta(minutes=10),
) -> None:
    """Takes ticks, each when the one before asked for it, until the condition holds."""
    end = world.now + limit
    while KEY in world.stored and not until(world):
        assert world.now < end, f"still {phase_of(world)}: {status_of(world)['reason']}"
        outcome = tick(world)
        world.pass_time(max(outcome.next_tick, timedelta(milliseconds=1)))


def run_for(world: World, length: timedelta) -> None:
    end = world.now + length
    run(world, lambda each: each.now >= end, limit=length + timedelta(minutes=1))


def at_step(number: int) -> Callable[[World], bool]:
    return lambda world: state_of(world).step >= number and state_of(world).acknowledged_at is not None


def in_phase(*phases: Phase) -> Callable[[World], bool]:
    return lambda world: phase_of(world) in phases


def reasons(world: World) -> list[str]:
    return [str(entry["reason"]) for entry in world.entries]


def begun(**spec: str | int) -> World:
    """A world whose shift is at its first step, 50 %."""
    world = World()
    apply(world, shift(**{"steps": "50%, 100%", "hold": "1h"} | spec))  # type: ignore[arg-type]
    run(world, at_step(1))
    return world
