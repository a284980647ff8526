"""Which durations are worth watching, and how long do requests last? Chosen from stable's own histogram.

An edge is chosen before the run's first weight, by what stable did, so that the canary's luck can't choose it. Three
are enough: one that a quarter of stable's requests exceed, one that a twentieth do, one that a hundredth do, as near
as the buckets allow (by log distance), counting half a request more above each, so that an edge that nothing exceeds
can be told from the next one.

Example: 5 edges, above which 90, 30, 6, 0.4 and 0 % lie: the second, third and fourth are watched.
Example: all requests in the lowest bucket: its edge alone is watched: anything slower shows.
"""

from collections.abc import Iterable, Sequence
from math import inf, isfinite, log

from control.engine.readings import Buckets, Reading
from control.engine.sound import row_of_buckets, total

AIMS = (0.25, 0.05, 0.01)
"""Parts of stable's requests that are above the watched edges: three quarters, 95 and 99 % lie below."""
COMMON = 0.75
"""An edge that more than this part exceeds says little about being slower."""
FEWEST = 200
"""Requests of stable below which no edge is chosen."""
RARE = 1e-4
"""The part of requests that may last longer than "the longest": one stray request in ten thousand holds nothing up."""


def summed(histograms: Iterable[Buckets]) -> dict[float, int]:
    """All that were measured, by the edges that every one of them has; what is no histogram is left out.

    Example: {100: 3, inf: 4} and {100: 1, 250: 2, inf: 2} are {100: 4, inf: 6}.
    """
    found = [each for each in histograms if not isinstance(row_of_buckets(each, sorted(each)), str) and total(each)]
    edges = set.intersection(*({*each} - {inf} for each in found)) if found else set()
    counts = {edge: int(sum(each[edge] for each in found)) for edge in sorted(edges)}
    return counts | {inf: int(sum(total(each) for each in found))}


def chosen(stable: Buckets, layout: Sequence[float]) -> tuple[float, ...]:
    """The edges to watch, ascending. Units: `layout` are the finite edges that both versions' histograms have."""
    in_all = total(stable)
    above = {edge: (in_all - stable[edge] + 0.5) / (in_all + 1) for edge in layout if edge in stable}
    usable = sorted(edge for edge, part in above.items() if part <= COMMON)
    if in_all < FEWEST or not usable:
        return ()
    nearest = {min(usable, key=lambda edge: (abs(log(above[edge] / aim)), edge)) for aim in AIMS}
    return tuple(sorted(nearest))


def longest(stable: Buckets) -> float:
    """How long stable's requests last, a stray one in ten thousand aside: the edge above which no more lie. What lasts
    longer than every edge lasts as long as the highest one, as far as anyone can tell. 0 where nothing was measured.
    """
    in_all = total(stable)
    edges = [edge for edge in sorted(stable) if isfinite(edge)]
    enough = (edge for edge in edges if in_all - stable[edge] <= RARE * in_all)
    return next(enough, edges[-1] if edges else 0.0) if in_all else 0.0


def latency_of(reading: Reading, version: str) -> dict[float, int]:
    """The version's durations in all series. Units: ms."""
    return summed(each.latency_ms for key, each in reading.series.items() if key.version == version)


def histogram_of(reading: Reading, metric: str, version: str) -> dict[float, int]:
    """The same of a metric of one's own."""
    found = reading.histograms.get(metric, {})
    return summed(each for key, each in found.items() if key.version == version)


def layout(stable: Buckets, canary: Buckets) -> tuple[float, ...]:
    """The finite edges that both versions have; a version that has measured nothing may have any."""
    sides = [{edge for edge in each if isfinite(edge)} for each in (stable, canary) if total(each)]
    return tuple(sorted(set.intersection(*sides))) if sides else ()
