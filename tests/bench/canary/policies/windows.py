"""What do policies see that look at windows of the canary's counters, once a minute? Sums over routes and processes."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.policies.policy import Bools, Floats
from tests.bench.canary.rates import CHANNELS, EDGES_MS, FAILED, REQUESTS, SLOW
from tests.bench.canary.shapes import TICK_S
from tests.bench.canary.telemetry import Seen


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Increments since the last look (runs, 2 versions, channels): stable's, then the canary's."""

    ticks: int
    sums: Floats

    @classmethod
    def of(cls, runs: int, seconds: float) -> "Window":
        return cls(round(seconds / TICK_S), np.zeros((runs, 2, len(CHANNELS))))

    def take(self, where: NDArray[np.intp]) -> "Window":
        return replace(self, sums=self.sums[where])

    def add(self, seen: Seen, stable: int) -> "Window":
        by_process = seen.counts.sum(axis=1)
        both = np.stack([by_process[:, :stable].sum(axis=1), by_process[:, stable:].sum(axis=1)], axis=1)
        return replace(self, sums=self.sums + both)

    def over(self, tick: int) -> bool:
        """Is this tick the window's last?"""
        return (tick + 1) % self.ticks == 0

    def emptied(self) -> "Window":
        return replace(self, sums=np.zeros_like(self.sums))


def success(sums: Floats) -> Floats:
    """The part of requests that succeeded; nan without requests. Units: `sums` (..., channels)."""
    n = sums[..., REQUESTS]
    return 1.0 - sums[..., FAILED] / np.where(n > 0, n, np.nan)


def p99_ms(sums: Floats) -> Floats:
    """The 99th percentile as Prometheus' `histogram_quantile` tells it from the buckets; nan without requests.

    Beyond the last edge it stays there, twice the last edge here, so that a slow canary can be told.
    """
    n = sums[..., REQUESTS]
    edges = np.array([0.0, *EDGES_MS, 2 * EDGES_MS[-1]])
    above = np.concatenate([n[..., None], sums[..., SLOW : SLOW + len(EDGES_MS)], np.zeros((*n.shape, 1))], axis=-1)
    rank = 0.01 * n
    bucket = np.clip((above > rank[..., None]).sum(axis=-1) - 1, 0, len(EDGES_MS))
    high = np.take_along_axis(above, bucket[..., None], -1)[..., 0]
    low = np.take_along_axis(above, bucket[..., None] + 1, -1)[..., 0]
    part = (high - rank) / np.where(high > low, high - low, 1.0)
    found = edges[bucket] + np.clip(part, 0.0, 1.0) * (edges[bucket + 1] - edges[bucket])
    return np.where(n > 0, found, np.nan)


def no_data(sums: Floats) -> Bools:
    return np.asarray(sums[..., REQUESTS] <= 0)
