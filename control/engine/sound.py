"""Can this be a count? What a source gave that is none is said in a sentence, and never learned from.

A source may answer anything: NaN, infinity, a negative number, buckets that shrink towards the right. Such a series is
neutral as long as that lasts: its marks stay, and what it counted meanwhile is caught up once when it makes sense
again.
"""

from collections.abc import Sequence
from itertools import pairwise

from control.engine.cursor import UNKNOWN, Row
from control.engine.readings import Buckets, Counts, PodCounts, Ratio, tally

MOST = 1e15
"""The largest count that is believed, far above what any process ever counts and below where floats lose units."""
MOST_IN_FLIGHT = 1e9


def sound(*counts: float) -> bool:
    """Example: 3 and 12.0 are; -1, NaN, infinity and 1e16 are not."""
    return all(0 <= each < MOST for each in counts)


def row_of_requests(counts: Counts) -> Row | str:
    """Requests, failures, retries, abandoned, in flight (UNKNOWN where it can't be told); or what is wrong."""
    if not sound(*counts.ended.values(), counts.retries):
        return f"are no counts ({_told([*counts.ended.values(), counts.retries])})"
    now, flying = tally(counts), counts.in_flight
    believed = flying is not None and 0 <= flying < MOST_IN_FLIGHT
    return (
        int(now.requests),
        int(now.failures),
        int(now.retries),
        int(now.abandoned),
        int(flying) if believed and flying is not None else UNKNOWN,
    )


def row_of_two(counts: PodCounts | Ratio) -> Row | str:
    if not (0 <= counts.n < MOST and 0 <= counts.bad < MOST):
        return f"are no counts ({_told([counts.n, counts.bad])})"
    return int(counts.n), int(counts.bad)


def row_of_buckets(buckets: Buckets, edges: Sequence[float]) -> Row | str:
    """All that were measured, and those above each edge (UNKNOWN where no bucket ends there); or what is wrong.

    Where nothing was measured, nothing is above any edge, whatever buckets there will be. Units: `edges` in order.
    """
    in_all = total(buckets)
    at_edges = [buckets.get(edge) for edge in edges]
    known = [each for each in at_edges if each is not None]
    if not sound(in_all, *known) or _falls([*known, in_all]):
        return f"are no histogram ({_told([*known, in_all])})"
    if not in_all:
        return (0,) * (1 + len(edges))
    return (int(in_all), *(UNKNOWN if each is None else int(in_all - each) for each in at_edges))


def total(buckets: Buckets) -> float:
    """How many a histogram has measured: what its highest bucket counts, usually that of the edge `inf`.

    Example: {100: 3, 250: 4} has 4; {100: 3, inf: 5} has 5; {} has none.
    """
    return buckets[max(buckets)] if buckets else 0


def _falls(values: Sequence[float]) -> bool:
    return any(right < left for left, right in pairwise(values))


def _told(values: Sequence[float]) -> str:
    """Example: "-3", "nan"; the first of them that is no count."""
    return next((f"{each:g}" for each in values if not sound(each)), "they fall")
