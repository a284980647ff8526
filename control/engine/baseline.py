"""How did stable do in an earlier window, and how far is the canary from that? The weaker proof: another hour, other
callers, and one look only.

The bounds are a score interval for the difference of two proportions, which holds for one look; counts are divided by
the dispersion that the run has seen. A metric of which one request can add several is scaled to a proportion and back.

Example: canary 9 of 4,000, before 90 of 30,000: -0.08 % (-0.2 % to +0.13 %).
Example: nothing before: no difference.
Source: Newcombe, "Interval estimation for the difference between independent proportions", 1998 (method 10); Wilson
1927.
"""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

from control.engine.compared import Comparison, Counted, Difference
from control.engine.evidence import Test
from control.engine.increments import LATENCY
from control.engine.latency import histogram_of, latency_of
from control.engine.readings import Reading, tally
from control.engine.sound import row_of_buckets, row_of_two
from control.engine.watched import Watched

Z = 1.959964
"""95 % of one look."""


def counted_before(reading: Reading, version: str, watched: Watched) -> tuple[Counted | None, ...]:
    """The version's counts in the window, test by test; None for what was not counted then."""
    return tuple(_counted(reading, version, test, watched) for test in watched.tests)


def _counted(reading: Reading, version: str, test: Test, watched: Watched) -> Counted | None:
    if test.metric in ("outcomes", "attempts", "abandoned"):
        return _requests(reading, version, test.metric)
    if test.metric in reading.ratios:
        rows = [row_of_two(each) for key, each in reading.ratios[test.metric].items() if key.version == version]
        return _summed(row for row in rows if not isinstance(row, str))
    return _above(reading, version, test, watched)


def _requests(reading: Reading, version: str, metric: str) -> Counted | None:
    tallies = [tally(each) for key, each in reading.series.items() if key.version == version]
    rows = {
        "outcomes": [(each.requests, each.failures) for each in tallies],
        "attempts": [(each.requests, each.retries) for each in tallies],
        "abandoned": [(each.requests + each.abandoned, each.abandoned) for each in tallies],
    }
    return _summed(rows[metric])


def _summed(rows: Iterable[Sequence[int]]) -> Counted | None:
    found = list(rows)
    total = Counted(sum(row[0] for row in found), sum(row[1] for row in found))
    return total if total.requests else None


def _above(reading: Reading, version: str, test: Test, watched: Watched) -> Counted | None:
    """Those above the test's edge, or not above it where more is better."""
    edges = watched.edges_ms.get(test.metric, ())
    of_metric = [each.name for each in watched.tests if each.metric == test.metric]
    is_latency = test.metric == LATENCY
    buckets = latency_of(reading, version) if is_latency else histogram_of(reading, test.metric, version)
    row = row_of_buckets(buckets, edges)
    if isinstance(row, str) or not row[0] or len(edges) != len(of_metric):
        return None
    bad = row[1 + of_metric.index(test.name)]
    if bad < 0:
        return None
    return Counted(row[0], row[0] - bad if test.metric in watched.higher else bad)


def difference(canary: Counted, before: Counted, *, phi: float, tries: int = 1) -> Difference | None:
    """Canary's rate minus that of before, with the bounds of one look; None where one of them counted nothing."""
    if not canary.requests or not before.requests:
        return None
    p, q = (each.bad / (each.requests * tries) for each in (canary, before))
    (p_low, p_high), (q_low, q_high) = (_score(each, phi, tries) for each in (canary, before))
    low = p - q - sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    return Difference((p - q) * tries, low * tries, high * tries)


def _score(side: Counted, phi: float, tries: int) -> tuple[float, float]:
    """Wilson's bounds of a proportion."""
    n = side.requests * tries / max(phi, 1.0)
    p = min(side.bad / (side.requests * tries), 1.0)
    middle, width = p + Z**2 / (2 * n), Z * sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    scale = 1 + Z**2 / n
    return (middle - width) / scale, (middle + width) / scale


def baseline_rows(reading: Reading, version: str, watched: Watched, rows: Sequence[Comparison]) -> list[dict[str, Any]]:
    """For each test the counts of before, and how far the canary's of this run are from them. Plain JSON values."""
    tries = {test.name: test.tries for test in watched.tests}
    counts = dict(zip((test.name for test in watched.tests), counted_before(reading, version, watched), strict=True))
    return [_row(row, before, tries[row.test]) for row in rows if (before := counts.get(row.test)) is not None]


def _row(row: Comparison, before: Counted, tries: int) -> dict[str, Any]:
    found = difference(row.canary, before, phi=row.phi, tries=tries)
    bounds = {"estimate": found.estimate, "low": found.low, "high": found.high} if found else None
    return {"test": row.test, "requests": before.requests, "bad": before.bad, "difference": bounds}
