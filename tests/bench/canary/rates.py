"""How often is a request bad, in each of the ways that are counted? And what a fault makes of that.

Latencies are log-normal: half of them above 30 ms, one percent above 193 ms. What proxies count is how many pass each
of Envoy's default edges, so a rate is the part of requests above an edge.
"""

from dataclasses import dataclass, replace
from math import log
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

EDGES_MS = (50.0, 100.0, 250.0, 500.0)
"""Four of Envoy's default bucket edges. About 26, 6.6, 0.4 and 0.02 % of stable's requests take longer."""
MEDIAN_MS, SIGMA = 30.0, 0.8
CHANNELS = ("requests", "failed", "retried", "abandoned", *(f"over {edge:g} ms" for edge in EDGES_MS))
REQUESTS, FAILED, RETRIED, ABANDONED, SLOW = 0, 1, 2, 3, 4
"""Where each is counted; from SLOW on the edges."""


def above(edge_ms: float, times: float = 1.0) -> float:
    """The part of requests above an edge, when every request takes `times` as long."""
    return float(ndtr(-(log(edge_ms / (MEDIAN_MS * times)) / SIGMA)))


def quantile_ms(part: float) -> float:
    return float(MEDIAN_MS * np.exp(SIGMA * ndtri(part)))


@dataclass(frozen=True, slots=True)
class Rates:
    """The chance of a bad request, by way. Units: 0 to 1; `retried` is retries a request, at most 2; `slow` by edge."""

    failed: float = 0.003
    retried: float = 0.005
    abandoned: float = 0.0005
    slow: tuple[float, ...] = tuple(above(edge) for edge in EDGES_MS)

    def failing(self, failed: float) -> Self:
        return replace(self, failed=failed)

    def slower(self, times: float) -> Self:
        """Every request takes `times` as long."""
        return replace(self, slow=tuple(above(edge, times) for edge in EDGES_MS))

    def slow_tail(self, part: float, times: float) -> Self:
        """Only the slowest `part` of requests take `times` as long."""
        begins = quantile_ms(1.0 - part)
        tail = (part if edge <= begins * times else above(edge / times) for edge in EDGES_MS)
        return replace(self, slow=tuple(max(old, new) for old, new in zip(self.slow, tail, strict=True)))

    def second_mode(self, part: float) -> Self:
        """A `part` of requests take a second more."""
        return replace(self, slow=tuple(old + part * (1.0 - old) for old in self.slow))

    def numbers(self) -> tuple[float, ...]:
        """In the order of CHANNELS, without requests."""
        return (self.failed, self.retried, self.abandoned, *self.slow)
