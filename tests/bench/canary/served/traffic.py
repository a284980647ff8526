"""What happens in one run, tick by tick, and what do its processes' pages say afterwards? The simulator's own world,
with one run on its axis.

Before the hour that is watched, stable alone serves the same traffic, of another luck: a controller learns its rate and
its durations before it writes the first weight. The hour begins when that weight reaches the traffic, as it does in the
vectorised mode, with the very numbers that a vectorised policy meets under this name.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from tests.bench.canary.conditions import Name
from tests.bench.canary.rates import CHANNELS
from tests.bench.canary.scenarios import Gone
from tests.bench.canary.served.pages import Pages
from tests.bench.canary.shapes import HOUR, SHAPES
from tests.bench.canary.telemetry import Telemetry
from tests.bench.canary.world import Tick, World, full_excess, served, step, world


@dataclass(slots=True)
class Traffic:
    """One run. `tick` is the next one; `pages` say what was counted so far."""

    world: World
    telemetry: Telemetry
    pages: Pages
    tick: int = 0

    @property
    def over(self) -> bool:
        return self.tick == HOUR

    def pass_tick(self, share: float) -> Tick:
        """Five seconds with the canary at that share."""
        self.world, brought = step(self.world, self.tick, np.array([share]))
        then, seen = self.telemetry.scrape(self.world, self.tick, brought.counts)
        self.pages = self.pages.after(self.telemetry, brought.counts, seen, then)
        self.telemetry, self.tick = then, self.tick + 1
        return brought

    def canary_requests(self, brought: Tick) -> int:
        return int(served(brought, self.world.stable)[1][0])

    def excess_left(self) -> float:
        """Failures that a canary with all traffic still has in this hour beyond stable's."""
        return float(full_excess(self.world, self.tick)[0])


def before(name: Name, stream: str) -> Traffic:
    """An hour of stable alone, in which nothing happens."""
    calm = replace(name.scenario, canary=None, outage=(inf, inf, 1.0), gone=Gone.NOTHING)
    steady = replace(SHAPES["steady"], routes=name.shape.routes, skew=name.shape.skew)
    made = world([Name(calm, steady, name.rate, name.seed)], f"{stream}, before")
    lasting = world([name], stream).lasting
    return Traffic(replace(made, lasting=lasting), _nothing_waits(made), Pages.fresh(made.layout))


def hour(name: Name, stream: str, earlier: Traffic) -> Traffic:
    """The hour of the run. Its processes have counted before."""
    made = world([name], stream)
    return Traffic(made, _nothing_waits(made), earlier.pages)


def _nothing_waits(at: World) -> Telemetry:
    return Telemetry(np.zeros((1, *at.grid, len(CHANNELS))))
