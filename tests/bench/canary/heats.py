"""Which runs race side by side, and how is the work divided? Batches of runs, on as many processes as cores."""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np

from tests.bench.canary.conditions import Name
from tests.bench.canary.entrants import ENTRANTS
from tests.bench.canary.policies.policy import METRICS, End
from tests.bench.canary.race import Outcomes, race
from tests.bench.canary.scenarios import SCENARIOS
from tests.bench.canary.shapes import SHAPES

BATCH = 400
"""Runs side by side: enough that numpy's overhead is shared, few enough that their arrays stay in the cache."""
END_WORDS = {
    End.GOING: "undecided",
    End.PROMOTED: "promoted",
    End.ROLLED_BACK: "rolled back",
    End.SPENT: "budget spent",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A scenario under a shape at a rate, and who races in it."""

    policy: str
    scenario: str
    shape: str = "steady"
    rps: float = 50.0


@dataclass(frozen=True, slots=True)
class Heat:
    """Runs of one policy that go side by side. `runs`: (cell, seed) each."""

    policy: str
    runs: tuple[tuple[Cell, int], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run. Units: minutes; requests; `excess` failed, `slow` slow ones, of the canary beyond stable's.

    `parked`: undecided, with the canary at weight 0.
    """

    cell: Cell
    seed: int
    end: str
    minutes: float
    requests: int
    excess: float
    slow: float
    named: str
    parked: bool

    def as_json(self) -> dict[str, object]:
        return {
            "seed": self.seed,
            "scenario": self.cell.scenario,
            "shape": self.cell.shape,
            "rps": self.cell.rps,
            "policy": self.cell.policy,
            "end": self.end,
            "minutes": round(self.minutes, 3),
            "canaryRequests": self.requests,
            "excess": round(self.excess, 3),
            "slow": round(self.slow, 3),
            "metric": self.named or None,
            "parked": self.parked,
        }


def name_of(cell: Cell, seed: int) -> Name:
    return Name(SCENARIOS[cell.scenario], SHAPES[cell.shape], cell.rps, seed)


def heats(cells: Iterable[Cell], seeds: Sequence[int]) -> list[Heat]:
    """All runs in batches whose worlds have one layout and whose judges agree; the longest work first."""
    groups = defaultdict(list)
    for cell in cells:
        for seed in seeds:
            name = name_of(cell, seed)
            groups[(cell.policy, name.layout, ENTRANTS[cell.policy].settled(name))].append((cell, seed))
    batches = [
        Heat(policy, tuple(runs[first : first + BATCH]))
        for (policy, *_), runs in groups.items()
        for first in range(0, len(runs), BATCH)
    ]
    return sorted(batches, key=lambda heat: (heat.policy != "tidegate-fixed", -len(heat.runs)))


def run_heat(heat: Heat, stream: str) -> list[Run]:
    """Races one batch."""
    names = [name_of(cell, seed) for cell, seed in heat.runs]
    entrant = ENTRANTS[heat.policy]
    held = entrant.settled(names[0])
    outcomes = race(names, stream, lambda case: entrant.enter(held, case))
    return [_run(cell, seed, outcomes, row) for row, (cell, seed) in enumerate(heat.runs)]


def _run(cell: Cell, seed: int, all_of: Outcomes, row: int) -> Run:
    end, named = End(int(all_of.end[row])), int(all_of.named[row])
    return Run(
        cell=cell,
        seed=seed,
        end=END_WORDS[end],
        minutes=float(all_of.minutes[row]),
        requests=int(all_of.requests[row]),
        excess=float(all_of.excess[row]),
        slow=float(all_of.slow[row]),
        named=METRICS[named] if named >= 0 else "",
        parked=bool(end is End.GOING and all_of.share[row] == 0.0),
    )


def run_all(cells: Iterable[Cell], seeds: Sequence[int], stream: str, processes: int = 2) -> Iterator[Run]:
    """Every run of every cell, in no order; progress on stderr."""
    work, begun, done = heats(cells, seeds), time.monotonic(), 0
    with ProcessPoolExecutor(processes, initializer=_one_thread) as pool:
        waiting = [pool.submit(run_heat, heat, stream) for heat in work]
        for each in as_completed(waiting):
            done += 1
            _say(f"{done} of {len(work)} batches, {time.monotonic() - begun:.0f} s")
            yield from each.result()
    _say("", end="\n")


def _one_thread() -> None:
    """Two processes that each compute on one core leave none waiting for another."""
    os.environ["OMP_NUM_THREADS"] = "1"
    np.seterr(all="ignore")


def _say(text: str, end: str = "") -> None:
    print(f"\r{text}", end=end, file=sys.stderr, flush=True)
