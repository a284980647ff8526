"""How does a report read as Markdown? For a pull request or a chat: tables, and nothing that needs a renderer."""

from collections.abc import Iterator, Sequence

from control.view import format as words
from control.view.report import ReportRow, ReportView


def markdown(view: ReportView) -> str:
    return "\n".join(_lines(view)) + "\n"


def _lines(view: ReportView) -> Iterator[str]:
    yield f"# {_safe(view.name)}: {_safe(view.stable)} to {_safe(view.canary)}, {view.phase}\n"
    yield f"{_safe(view.headline)}. {_safe(view.reason)}\n"
    yield from _table(("", ""), [(name, text) for name, text in view.facts])
    yield "\n## Metrics\n"
    headers = ("of requests", view.stable, view.canary, "difference", "tolerated", "verdict")
    yield from _table(headers, [_row(row) for row in view.rows])
    yield from (f"\n{_safe(line)}." for line in view.percentiles)
    yield from _before(view)
    yield "\n## Steps\n"
    taken = [(step.share.text, step.took, step.stable.text, step.canary.text, step.told) for step in view.steps]
    yield from _table(("share", "took", view.stable, view.canary, "decision"), taken)
    yield "\n## Notes\n"
    yield from (f"- {_safe(note)}" for note in view.notes)
    yield f"- Made at {view.made:%Y-%m-%d %H:%M:%S} UTC."


def _row(row: ReportRow) -> tuple[str, ...]:
    found = row.difference.text if row.difference else ""
    return row.title, row.stable.text, row.canary.text, found, row.margin, row.told


def _before(view: ReportView) -> Iterator[str]:
    """The earlier window, or why there is none; nothing when nobody asked."""
    if not view.before:
        return
    yield f"\n## Before\n\n{_safe(view.before)}\n"
    found = [(row, row.before) for row in view.rows if row.before is not None]
    if found:
        rows = [
            (row.title, each.cell.text, row.canary.text, each.difference.text if each.difference else "")
            for row, each in found
        ]
        yield from _table(
            ("of requests", f"{view.stable} then", f"{view.canary} now", "difference (weaker proof)"), rows
        )


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        yield words.NOTHING_SEEN
        return
    yield f"| {' | '.join(_safe(each) for each in headers)} |"
    yield "|" + "---|" * len(headers)
    for row in rows:
        yield f"| {' | '.join(_safe(each) for each in row)} |"


def _safe(text: str) -> str:
    """Text that is no markup: people name metrics, and messages come from elsewhere."""
    kept = "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
    return " ".join(kept.split())
