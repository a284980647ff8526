"""How are lists laid out on a terminal? Tables of shifts, history, plans, diffs and explanations."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from control.cli.look import STYLE_OF_TONE, Look
from control.cli.screens import DIM, columns, indented, title
from control.doctor.checks import Finding, Level
from control.view.ledger import LedgerView, RunRow
from control.view.model import DiffView, DocumentDiff, ExplainView, HistoryRow, ListRow

STYLE_OF_SIGN = {"+": "green", "-": "red", " ": "default"}


STYLE_OF_LEVEL = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red bold", Level.UNKNOWN: "cyan"}
NARROW = 100
"""Below so many columns the list leaves out the three shares and when a shift began."""


def list_table(rows: Sequence[ListRow], look: Look) -> RenderableType:
    """A row a shift. What it waits for is folded between words where the line is too short; the rest is whole."""
    if look.console.width < NARROW:
        return _narrow_list(rows)
    headers = (
        "NAMESPACE",
        "NAME",
        "PHASE",
        "STEP",
        "CONFIGURED / ACKNOWLEDGED / OBSERVED",
        "VERDICT",
        "BEGAN",
        "WAITS FOR",
    )
    lines = [
        (
            *(row.namespace, row.name, Text(row.phase, style=STYLE_OF_TONE[row.tone])),
            *(row.step, row.share, row.verdict, row.age, row.waiting),
        )
        for row in rows
    ]
    return columns(lines, headers)


def _narrow_list(rows: Sequence[ListRow]) -> RenderableType:
    lines = [
        (row.namespace, row.name, Text(row.phase, style=STYLE_OF_TONE[row.tone]), row.step, row.waiting) for row in rows
    ]
    table = columns(lines, ("NAMESPACE", "NAME", "PHASE", "STEP", "WAITS FOR"))
    for column in table.columns[:-1]:
        column.no_wrap = True
    return table


def history_table(rows: Sequence[HistoryRow], _look: Look) -> RenderableType:
    """A row an entry, oldest first."""
    lines = [
        (row.clock, Text(row.reason, style="bold"), str(row.step or ""), row.share, row.actor, row.sentence)
        for row in rows
    ]
    return columns(lines, ("TIME (UTC)", "WHAT", "STEP", "SHARE", "WHO", "WHY"))


def ledger_screen(ledgers: Sequence[LedgerView], look: Look) -> RenderableType:
    """Every service's runs, oldest first, each with its rule and what was found; then what the next shift takes."""
    return Group(*(part for number, each in enumerate(ledgers) for part in _ledger_parts(each, look, first=not number)))


def _ledger_parts(ledger: LedgerView, look: Look, *, first: bool) -> list[RenderableType]:
    head = Text.assemble((ledger.service, "bold"), (f"  {ledger.namespace}", DIM), f"  {ledger.headline}")
    parts: list[RenderableType] = [head] if first else [Text(""), head]
    parts += [part for run in ledger.runs for part in _run_parts(run, look)]
    if ledger.next:
        parts += [Text(""), title("The next shift takes from this"), *(indented(Text(line)) for line in ledger.next)]
    return parts


def _run_parts(run: RunRow, look: Look) -> list[RenderableType]:
    head = Text.assemble(
        (f"{run.day}  ", DIM),
        f"{run.stable} {look.glyphs.arrow} {run.canary}  ",
        (run.outcome, STYLE_OF_TONE[run.tone]),
        f" in {run.took}" + (f" at {run.shares}" if run.shares else ""),
    )
    tests = [
        (each.title, each.stable, each.canary, each.difference, Text(each.verdict, style=STYLE_OF_TONE[each.tone]))
        for each in run.tests
    ]
    found: list[RenderableType] = [indented(columns(tests))] if tests else []
    return [Text(""), head, indented(Text(run.rule, style="bold")), *found]


def diff_screen(diff: DiffView, _look: Look) -> RenderableType:
    """Changed fields and lines of each document."""
    head = Text.assemble((diff.name, "bold"), f"  {diff.headline}")
    return Group(head, *(part for document in diff.documents for part in _document_parts(document)))


def _document_parts(document: DocumentDiff) -> list[RenderableType]:
    head = Text.assemble("\n", (document.document, "bold"), f"  {document.file}: {document.sentence}")
    lines = [
        Text(f"{line.number:>5} {line.sign} {line.text}", style=STYLE_OF_SIGN[line.sign]) for line in document.lines
    ]
    return [head, *(Text(f"  {field.sentence}") for field in document.fields), *lines]


def explain_screen(explained: ExplainView, _look: Look) -> RenderableType:
    """Questions and their answers."""
    parts: list[RenderableType] = [
        Text.assemble((explained.name, "bold"), "  ", (explained.headline, STYLE_OF_TONE[explained.tone]))
    ]
    for question, answers in explained.answers:
        parts += [Text(""), title(question), *(indented(Text(answer)) for answer in answers)]
    return Group(*parts)


def doctor_table(found: Sequence[Finding], look: Look) -> RenderableType:
    """A row a finding: what was seen, and what to do about it."""
    lines = [
        (
            Text(each.level.value, style=STYLE_OF_LEVEL[each.level]),
            Text(each.code, style=DIM),
            each.about,
            f"{each.seen} {look.glyphs.arrow} {each.advice}" if each.advice else each.seen,
        )
        for each in found
    ]
    return columns(lines, ("", "CODE", "WHAT", "SEEN, AND WHAT TO DO"))
