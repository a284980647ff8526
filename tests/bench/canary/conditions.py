"""What differs between runs that are simulated side by side? Scenarios and shapes as arrays over runs."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.luck import Luck
from tests.bench.canary.scenarios import Gone, Scenario
from tests.bench.canary.shapes import HOUR, SHAPES, TICK_S, Shape, minutes

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TUNING, PUBLISHED = "tuning", "published"
"""Streams of luck: constants are chosen on the first, what is published comes from the second."""


@dataclass(frozen=True, slots=True)
class Name:
    """Which run it is."""

    scenario: Scenario
    shape: Shape
    rps: float
    seed: int

    @property
    def rate(self) -> float:
        return self.shape.rps or self.rps

    @property
    def layout(self) -> tuple[int, int, int]:
        """Runs with the same one can be simulated side by side: stable's and the canary's processes, and routes."""
        return (*self.scenario.processes, 2 if self.shape.routes else 1)


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """See `Scenario` and `Shape`. Units: (runs,), rates (runs, kinds), `faulty` (runs, canary's processes), `weights`
    (runs, processes): the part of its version's requests that a process gets, `load` (runs, ticks): requests.
    """

    stable: Floats
    canary: Floats
    onset_s: Floats
    over_s: Floats
    heals_s: Floats
    faulty: Floats
    clumps: Floats
    noise: Floats
    memory: Floats
    common: Bools
    spread: Floats
    drift: Floats
    outage: Floats
    lose: Floats
    late: Floats
    scrape_gone_s: Floats
    canary_scrape_gone_s: Floats
    route_gone_s: Floats
    warm_up_s: Floats
    weights: Floats
    load: Floats
    sessions: Floats
    retries: Bools
    closed: Bools
    mean_s: Floats

    def take(self, where: NDArray[np.intp]) -> "Conditions":
        """Some of the runs."""
        return Conditions(*(getattr(self, each.name)[where] for each in fields(self)))


SCENARIO_NUMBERS = ("onset_s", "over_s", "heals_s", "clumps", "noise", "memory", "common", "spread", "drift", "late")
SHAPE_NUMBERS = ("sessions", "retries", "closed", "mean_s")


def conditions(names: Sequence[Name], luck: Luck) -> Conditions:
    """The conditions of runs of one layout."""
    cases = [name.scenario for name in names]
    return Conditions(
        **{each: np.array([getattr(case, each) for case in cases]) for each in SCENARIO_NUMBERS},
        **{each: np.array([getattr(name.shape, each) for name in names]) for each in SHAPE_NUMBERS},
        stable=np.array([case.stable.numbers() for case in cases]),
        canary=np.array([case.then.numbers() for case in cases]),
        faulty=np.array([_faulty(case) for case in cases]),
        outage=np.array([case.outage for case in cases]),
        lose=np.array([TICK_S / case.restart_s for case in cases]),
        scrape_gone_s=_gone(cases, Gone.SCRAPE),
        canary_scrape_gone_s=_gone(cases, Gone.CANARY_SCRAPE, Gone.SCRAPE),
        route_gone_s=_gone(cases, Gone.ROUTE),
        warm_up_s=np.array([case.warm_up_s for case in cases]),
        weights=np.array([_weights(name) for name in names]),
        load=_load(names, luck),
    )


def _faulty(case: Scenario) -> Floats:
    number = case.processes[1]
    return (np.arange(number) < (case.bad_processes or number)).astype(float)


def _gone(cases: Sequence[Scenario], *what: Gone) -> Floats:
    return np.array([case.gone_s if case.gone in what else np.inf for case in cases])


def _weights(name: Name) -> Floats:
    parts = [np.arange(1.0, number + 1.0) ** -name.shape.skew for number in name.scenario.processes]
    return np.concatenate([part / part.sum() for part in parts])


def _load(names: Sequence[Name], luck: Luck) -> Floats:
    """Requests of both versions in each tick, as expected."""
    load = np.empty((len(names), HOUR))
    for shape in {name.shape.name for name in names}:
        rows = np.array([i for i, name in enumerate(names) if name.shape.name == shape])
        load[rows] = SHAPES[shape].curve(luck.take(rows), minutes())
    return load * np.array([name.rate for name in names])[:, None] * TICK_S


def luck_of(names: Sequence[Name], stream: str) -> Luck:
    return Luck.of((stream, name.scenario.name, name.shape.name, name.rate, name.seed) for name in names)
