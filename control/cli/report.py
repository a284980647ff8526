"""How does a report look: on a terminal, and as one page of HTML that loads nothing from elsewhere?"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich.console import Group, RenderableType
from rich.text import Text

from control.cli.look import STYLE_OF_TONE, Look
from control.cli.screens import DIM, columns, indented, title
from control.view.drawing import evidence_drawing, row_drawing, share_drawing
from control.view.report import ReportRow, ReportView

TEMPLATE = "report.html.j2"


def html(view: ReportView) -> str:
    """The whole page: styles and plots are in it, scripts are not needed."""
    pages = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined)
    return pages.get_template(TEMPLATE).render(
        view=view,
        pictures={row.test: row_drawing(row) for row in view.rows},
        earlier=[row for row in view.rows if row.before is not None],
        shares=share_drawing(view),
        evidence=evidence_drawing(view),
    )


def report_screen(view: ReportView, look: Look) -> RenderableType:
    """A row a metric, and below it the verdict in words."""
    head = Text.assemble(
        (view.name, "bold"),
        f"  {view.stable} {look.glyphs.arrow} {view.canary}  ",
        (view.phase, STYLE_OF_TONE[view.tone]),
        f"  {view.headline}",
    )
    facts = columns([(Text(name, style=DIM), text) for name, text in view.facts])
    parts: list[RenderableType] = [head, Text(view.reason), Text(""), facts, Text("")]
    parts += [_metrics(view), *([Text("")] if view.rows else []), *_verdicts(view)]
    parts += [Text(line, style=DIM) for line in view.percentiles]
    parts += _before(view)
    return Group(*parts, Text(""), *(Text(note, style=DIM) for note in view.notes))


def _metrics(view: ReportView) -> RenderableType:
    if not view.rows:
        return Text("Nothing has been compared yet.")
    rows = [
        (row.title, row.stable.text, row.canary.text, row.difference.text if row.difference else "")
        for row in view.rows
    ]
    return columns(rows, ("of requests", view.stable, view.canary, "difference"))


def _verdicts(view: ReportView) -> list[RenderableType]:
    return [columns([_verdict(row) for row in view.rows])] if view.rows else []


def _verdict(row: ReportRow) -> tuple[str, Text]:
    return row.title, Text(row.told, style=STYLE_OF_TONE[row.tone])


def _before(view: ReportView) -> list[RenderableType]:
    """The earlier window, or why there is none; nothing when nobody asked."""
    if not view.before:
        return []
    rows = [
        (row.title, row.before.cell.text, row.canary.text, row.before.difference.text if row.before.difference else "")
        for row in view.rows
        if row.before is not None
    ]
    headers = ("of requests", f"{view.stable} then", f"{view.canary} now", "difference")
    table: list[RenderableType] = [indented(columns(rows, headers))] if rows else []
    return [Text(""), title("Before"), indented(Text(view.before)), *table]
