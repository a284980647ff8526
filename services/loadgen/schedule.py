"""When should each request be sent?

The schedule is fixed before the run and no answer can move it. A request that goes out late because the process or
the server was busy still has its *intended* time, and latency counts from there: a server that stalls is charged for
every request that it kept waiting, not only for the few that were in flight (no coordinated omission).
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import count
from random import Random


class Spacing(StrEnum):
    """Even: one request each 1/rate seconds. Poisson: exponential gaps, as independent callers make."""

    EVEN = "even"
    POISSON = "poisson"


def arrivals(rate: float, *, duration_s: float | None, spacing: Spacing, seed: int) -> Iterator[float]:
    """Intended send times, in seconds after the start, ascending; endless when `duration_s` is None.

    Units: `rate` is requests a second.
    Example: arrivals(4, duration_s=1, spacing=Spacing.EVEN, seed=0) -> 0.0, 0.25, 0.5, 0.75
    """
    if not 0 < rate < float("inf"):
        raise ValueError(f"the rate {rate} is not a positive number of requests a second")
    times = _even(rate) if spacing is Spacing.EVEN else _poisson(rate, Random(seed))  # noqa: S311
    for time_s in times:
        if duration_s is not None and time_s >= duration_s:
            return
        yield time_s


def _even(rate: float) -> Iterator[float]:
    return (number / rate for number in count())


def _poisson(rate: float, random: Random) -> Iterator[float]:
    time_s = 0.0
    while True:
        time_s += random.expovariate(rate)
        yield time_s
