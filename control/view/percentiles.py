"""Between which edges do the percentiles of both versions lie? Decoration: nothing is decided from it.

A histogram knows how many requests were above each of its edges and nothing in between, so that a percentile is a pair
of edges. Edges step by a factor of two or so: a P99 "of 242 ms" would be made up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from control.view.metrics import edge_of
from control.view.model import Cell, MetricRow

PARTS = {"P95": 0.05, "P99": 0.01}
"""Parts of the requests that are slower than the percentile."""
FEWEST = 100
"""Requests below which none is read."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """One watched edge, and how many of each version's requests were above it."""

    number: float
    text: str
    row: MetricRow


def percentiles(metrics: Sequence[MetricRow], stable: str, canary: str) -> Iterator[str]:
    """Of each metric with edges, where both versions' percentiles lie.

    Example: "latency P99: v1 between 100 ms and 250 ms, v2 over 250 ms (read from the edges 100 ms, 250 ms)".
    """
    by_metric: dict[str, list[_Edge]] = {}
    for row in metrics:
        if (edge := _edge(row)) is not None:
            by_metric.setdefault(row.metric, []).append(edge)
    for metric, found in by_metric.items():
        edges = sorted(found, key=lambda each: each.number)
        for name, part in PARTS.items():
            old, new = (_between(edges, side, part) for side in ("stable", "canary"))
            if old and new:
                told = ", ".join(each.text for each in edges)
                yield f"{metric} {name}: {stable} {old}, {canary} {new} (read from the edges {told})"


def _edge(row: MetricRow) -> _Edge | None:
    _, sign, text = edge_of(row.test)
    try:
        return _Edge(float(text.removesuffix(" ms")), text, row) if sign == ">" else None
    except ValueError:
        return None


def _between(edges: Sequence[_Edge], side: str, part: float) -> str:
    """Example: "between 100 ms and 250 ms", "at most 100 ms", "over 250 ms"; empty where too little was seen."""
    cells: list[Cell] = [getattr(each.row, side) for each in edges]
    if any(cell.requests < FEWEST for cell in cells):
        return ""
    passed = sum(cell.bad > part * cell.requests for cell in cells)
    if not passed:
        return f"at most {edges[0].text}"
    below = f"between {edges[passed - 1].text} and {edges[passed].text}" if passed < len(edges) else ""
    return below or f"over {edges[-1].text}"
