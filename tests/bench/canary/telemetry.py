"""What of a tick do policies get to see, and when? Scrapes that are late or gone, counters that restart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.shapes import TICK_S
from tests.bench.canary.world import World

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
LATE, RESTARTS = 30, 31
"""Luck's channels of telemetry."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What policies see of a tick: increments without overlap. `counts` (runs, routes, processes, channels).

    `answers` (runs,): whether the source answers at all; `canary_answers`: whether it knows the canary.
    """

    counts: Floats
    answers: Bools
    canary_answers: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Telemetry:
    """What lies between counters and policies. `waiting` (runs, routes, processes, channels): not scraped yet."""

    waiting: Floats

    def take(self, where: NDArray[np.intp]) -> "Telemetry":
        return Telemetry(self.waiting[where])

    def scrape(self, now: World, tick: int, counts: Floats) -> tuple["Telemetry", Seen]:
        """What a tick's counts show. What a process counted before it restarted in this tick is lost."""
        at = tick * TICK_S
        answers, canary_answers = at < now.given.scrape_gone_s, at < now.given.canary_scrape_gone_s
        waiting = self.waiting + _survived(now, tick, counts)
        known = np.repeat(np.stack([answers, canary_answers], axis=-1), now.layout[:2], axis=-1)[:, None, :, None]
        scraped = known & ~_late(now, tick)
        seen = Seen(np.where(scraped, waiting, 0.0), answers, canary_answers)
        return Telemetry(np.where(scraped, 0.0, waiting)), seen


def _survived(now: World, tick: int, counts: Floats) -> Floats:
    rows = np.flatnonzero(now.given.lose > 0)
    if not len(rows):
        return counts
    lost = now.luck.take(rows).uniform(RESTARTS, tick, (1, now.grid[1], 1)) < now.given.lose[rows][:, None, None, None]
    kept = counts.copy()
    kept[rows] = np.where(lost, 0.0, kept[rows])
    return kept


def _late(now: World, tick: int) -> Bools:
    """Processes that are not scraped in this tick (runs or 1, 1, processes, 1)."""
    if not now.given.late.any():
        return np.zeros((1, 1, 1, 1), bool)
    return now.luck.uniform(LATE, tick, (1, now.grid[1], 1)) < now.given.late[:, None, None, None]
