"""How does a policy fare in a world? The loop over an hour of ticks, and what came of each run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.conditions import Name
from tests.bench.canary.policies.policy import UNNAMED, Case, End, Policy
from tests.bench.canary.rates import CHANNELS, EDGES_MS
from tests.bench.canary.shapes import HOUR, TICK_S
from tests.bench.canary.telemetry import Telemetry
from tests.bench.canary.world import Tick, World, full_excess, served, step, world

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max
Entry = Callable[[Case], Policy]


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What came of each run (runs,).

    `end` of `End`; `minutes` until the decision (60: none); `requests`: the canary's until then; `excess`: failed
    requests within the hour that would not have failed on stable, also after the end; `slow`: such requests that passed
    250 ms, until the end; `named`: the metric blamed; `share`: the canary's at the end; `holds`: polls a policy held
    because of suspected harm, a process, routing or an outage.
    """

    end: Ints
    minutes: Floats
    requests: Floats
    excess: Floats
    slow: Floats
    named: Ints
    share: Floats
    why: Ints

    @classmethod
    def fresh(cls, runs: int) -> "Outcomes":
        none = np.zeros(runs)
        return cls(
            end=np.full(runs, int(End.GOING)),
            minutes=np.full(runs, HOUR * TICK_S / 60.0),
            requests=none.copy(),
            excess=none.copy(),
            slow=none.copy(),
            named=np.full(runs, UNNAMED),
            share=none.copy(),
            why=np.full(runs, UNNAMED),
        )


@dataclass(slots=True)
class Field:
    """The runs that still go on. `rows`: where each stands in the outcomes; `share`, `next_share`, `due`: the canary's
    share, the one that comes, and the tick it comes at. `done`: decided; `watched`: promoted, and may
    yet be taken back.
    """

    world: World
    telemetry: Telemetry
    policy: Policy
    rows: NDArray[np.intp]
    share: Floats
    next_share: Floats
    due: Ints
    done: NDArray[np.bool_]
    watched: NDArray[np.bool_]

    def take(self, where: NDArray[np.intp]) -> "Field":
        return Field(
            self.world.take(where),
            self.telemetry.take(where),
            self.policy.take(where),
            self.rows[where],
            self.share[where],
            self.next_share[where],
            self.due[where],
            self.done[where],
            self.watched[where],
        )


def race(names: Sequence[Name], stream: str, entry: Entry) -> Outcomes:
    """Runs of one layout through one policy."""
    at = begin(names, stream, entry)
    outcomes = Outcomes.fresh(len(names))
    for tick in range(HOUR):
        pass_tick(at, tick, outcomes)
        at = _leave(at, tick, outcomes)
        if not len(at.rows):
            break
    outcomes.share[at.rows] = at.share
    return outcomes


def begin(names: Sequence[Name], stream: str, entry: Entry) -> Field:
    """All runs at their first share."""
    arena = world(names, stream)
    policy = entry(case_of(arena))
    share, runs = policy.begin(), arena.runs
    telemetry = Telemetry(np.zeros((runs, *arena.grid, len(CHANNELS))))
    rows, never = np.arange(runs), np.full(runs, NEVER)
    return Field(
        arena, telemetry, policy, rows, share.copy(), share.copy(), never, np.zeros(runs, bool), np.zeros(runs, bool)
    )


def case_of(arena: World) -> Case:
    """What is known beforehand. Of requests that last long, one in a thousand outlasts `longest_s`."""
    given = arena.given
    longest_s = np.maximum(given.mean_s * 7.0, EDGES_MS[-1] / 1000.0)
    return Case(arena.layout, arena.luck, given.load[:, 0] / TICK_S, given.stable[:, 0], given.warm_up_s, longest_s)


def pass_tick(at: Field, tick: int, outcomes: Outcomes) -> None:
    """One tick of the world; what it showed; what the policy wished for."""
    arrived = at.due == tick
    at.share = np.where(arrived, at.next_share, at.share)
    at.due = np.where(arrived, NEVER, at.due)
    at.world, brought = step(at.world, tick, at.share)
    _count(at, brought, outcomes)
    at.telemetry, seen = at.telemetry.scrape(at.world, tick, brought.counts)
    at.policy, wish = at.policy.see(tick, seen, at.share, at.due == NEVER)
    going = ~at.done | at.watched
    changes = going & (wish.share != at.next_share)
    at.next_share = np.where(changes, wish.share, at.next_share)
    at.due = np.where(changes, tick + 1 + at.policy.lag_ticks, at.due)
    ends = going & (wish.end != End.GOING)
    rows = at.rows[ends]
    outcomes.end[rows] = wish.end[ends]
    outcomes.named[rows] = wish.named[ends]
    outcomes.minutes[rows] = (tick + 1) * TICK_S / 60.0
    if wish.why is not None:
        outcomes.why[at.rows[going]] = wish.why[going]
    at.done = at.done | ends
    at.watched = wish.watched if wish.watched is not None else np.zeros_like(at.done)


def _count(at: Field, brought: Tick, outcomes: Outcomes) -> None:
    outcomes.requests[at.rows] += np.where(at.done, 0.0, served(brought, at.world.stable)[1])
    outcomes.excess[at.rows] += brought.excess
    outcomes.slow[at.rows] += brought.slow_excess


def _leave(at: Field, tick: int, outcomes: Outcomes) -> Field:
    """Runs that are done, and whose traffic has followed, go; a promoted canary has all the traffic that is to come."""
    gone = at.done & (at.due == NEVER) & ~at.watched
    if not gone.any() or (gone.mean() < 0.1 and gone.sum() < len(gone)):
        return at
    where = np.flatnonzero(gone)
    promoted = where[at.share[where] >= 1.0]
    if len(promoted):
        outcomes.excess[at.rows[promoted]] += full_excess(at.world.take(promoted), tick + 1)
    outcomes.share[at.rows[where]] = at.share[where]
    return at.take(np.flatnonzero(~gone))
