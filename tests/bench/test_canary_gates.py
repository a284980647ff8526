"""Does the engine hold the benchmark's floors? Few runs, of the stream that constants were chosen on; what fails here
is worse than a floor with 97.5 % certainty. `make bench-canary` measures the same with many more.

And do the peers do what is said of them?
"""

from functools import cache

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from tests.bench.canary.conditions import TUNING
from tests.bench.canary.gates import GATES, Gate, evaluated, line
from tests.bench.canary.heats import Cell, Run, heats, run_heat
from tests.bench.canary.summary import summary

pytestmark = pytest.mark.races
FEW, SOME, MANY = 6, 10, 60
SEEDS_OF = {"tidegate-fixed": FEW, "tidegate-fixed-history": FEW, "tidegate": SOME, "tidegate-history": FEW}
"""Runs a cell, by what they cost; `MANY` of the others."""


@cache
def raced(cells: tuple[Cell, ...]) -> tuple[Run, ...]:
    """Runs of cells of one policy, on the tests' own process."""
    seeds = range(1, 1 + SEEDS_OF.get(cells[0].policy, MANY))
    with np.errstate(all="ignore"):
        return tuple(run for heat in heats(cells, seeds) for run in run_heat(heat, TUNING))


def runs_of(gate: Gate) -> list[Run]:
    policies = dict.fromkeys(cell.policy for cell in gate.cells)
    return [run for policy in policies for run in raced(tuple(cell for cell in gate.cells if cell.policy == policy))]


def grouped() -> list[ParameterSet]:
    """The gates, those that share runs on one of the tests' processes."""
    long = pytest.mark.xdist_group("races-long")
    brief = pytest.mark.xdist_group("races-brief")
    return [
        pytest.param(gate, id=gate.name, marks=long if any(cell.policy in SEEDS_OF for cell in gate.cells) else brief)
        for gate in GATES
    ]


@pytest.mark.parametrize("gate", grouped())
def test_the_floor_holds(gate: Gate) -> None:
    (result,) = evaluated(runs_of(gate), [gate])
    surely = result.found.high if gate.least else result.found.low
    assert gate.meets(surely, gate.floor), line(result)


@pytest.mark.parametrize(
    ("policy", "scenario", "ends", "minutes"),
    [
        ("flagger", "aa-iid-0.3", "promoted", 5),
        ("flagger", "aa-shared-outage-0.3", "rolled back", None),
        ("flagger", "scrape-gone", "rolled back", None),
        ("flagger-5x10", "aa-iid-0.3", "promoted", 10),
        ("argo", "aa-iid-0.3", "promoted", 40),
        ("argo", "errors-0.3-2", "promoted", 40),
        ("argo-99-0", "errors-0.3-20", "rolled back", 1),
        ("kayenta-30m", "aa-iid-0.3", "promoted", 60),
        ("kayenta-30m", "errors-0.3-20", "rolled back", 30),
        ("kayenta-1m", "errors-0.3-20", "rolled back", 5),
        ("iter8", "errors-0.3-20", "rolled back", None),
        ("msprt", "tail", "promoted", 5),
        ("msprt", "errors-0.3-20", "rolled back", None),
        ("z-peeking", "errors-0.3-20", "rolled back", None),
    ],
)
def test_a_peer_does_what_is_said_of_it(policy: str, scenario: str, ends: str, minutes: float | None) -> None:
    """Most of its runs end so, after so many minutes."""
    found = summary(raced_peer(policy, scenario))
    assert found.ends[ends].value >= 0.75
    if minutes is not None:
        took = found.promote_minutes if ends == "promoted" else found.rollback_minutes
        assert took == pytest.approx(minutes, abs=0.5)


def raced_peer(policy: str, scenario: str) -> list[Run]:
    (heat,) = heats([Cell(policy, scenario)], range(1, 13))
    with np.errstate(all="ignore"):
        return run_heat(heat, TUNING)
