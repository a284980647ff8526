"""How are figures written? Markdown tables, and numbers as short as their certainty."""

from collections.abc import Iterable, Sequence

from tests.bench.canary.wilson import Estimate


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, marks, *rows))


def short(value: float) -> str:
    """Three digits or so. Example: 0.04312 is 0.043; 4.312 is 4.3; 43.12 is 43.1; 4312.4 is 4,312."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1:
        return f"{value:.2g}" if size >= 0.001 else f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:,.1f}" if size < 100 else f"{value:,.0f}"


def percent(found: Estimate) -> str:
    """A part with its interval, both in percent. Example: 0 of 100 is "0 [0, 3.7]"."""
    value, low, high = (short(round(100 * each, 2)) for each in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def measured(found: Estimate) -> str:
    """A value with its interval."""
    return f"{short(found.value)} [{short(found.low)}, {short(found.high)}]"


def or_dash(value: float | None) -> str:
    return "—" if value is None else short(value)
