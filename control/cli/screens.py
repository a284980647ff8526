"""How is a view laid out on a terminal? rich renderables only; every word and number comes from `control.view`."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from control.cli.look import STYLE_OF_MARK, STYLE_OF_TONE, Look
from control.view.format import UNKNOWN, resample
from control.view.model import (
    LoadVersion,
    LoadView,
    MetricRow,
    ShareView,
    ShiftView,
    StepMark,
    StepRow,
    SummaryView,
)
from control.view.shift import untold_refusals

BAR_CELLS = 24
SUMMARY_WIDTH = 100
NAME_CELLS = 14
DIM = "bright_black"


def columns(rows: Iterable[Sequence[str | Text]], headers: Sequence[str] = ()) -> Table:
    """A table without lines: two spaces between columns, as wide as its content."""
    table = Table(box=None, show_header=bool(headers), header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    rows = list(rows)
    for index in range(max((len(row) for row in rows), default=len(headers))):
        table.add_column(headers[index] if index < len(headers) else "", no_wrap=index == 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def indented(part: RenderableType, by: int = 2) -> Padding:
    """The part, moved to the right."""
    return Padding(part, (0, 0, 0, by), expand=False)


def title(text: str) -> Text:
    """A heading."""
    return Text(text, style="bold")


def shift_screen(view: ShiftView, look: Look, load: LoadView | None = None) -> Group:
    """One shift at one moment: title, the three weights, steps, both versions' numbers, what it waits for."""
    parts: list[RenderableType] = [_title_line(view, look), Text("")]
    parts += [_bar_line(share, view, look) for share in view.shares]
    if any(view.share_over_time):
        parts.append(
            Text.assemble(("over time".ljust(NAME_CELLS), DIM), look.spark(resample(view.share_over_time, BAR_CELLS)))
        )
    parts += [Text(""), _step_tree(view, look)]
    if view.metrics:
        parts += [Text(""), _metric_table(view.metrics, view)]
    if load is not None:
        parts += [
            Text(""),
            _label("callers saw", "; ".join(p for p in (load.text, _quantile_text(load.quantiles)) if p)),
        ]
    parts += [Text(""), *_why(view)]
    return Group(*parts)


def _title_line(view: ShiftView, look: Look) -> Text:
    style = STYLE_OF_TONE[view.tone]
    return Text.assemble(
        (view.name, "bold"),
        f"  {view.stable} {look.glyphs.arrow} {view.canary}  ",
        (view.phase, style),
        f"  {view.headline}",
        (f"  {view.took}", DIM),
    )


def _bar_line(share: ShareView, view: ShiftView, look: Look) -> Text:
    return Text.assemble(
        (share.name.ljust(NAME_CELLS), DIM),
        (look.bar(share.ratio, BAR_CELLS), STYLE_OF_TONE[view.tone]),
        f"  {share.text}",
    )


def _step_tree(view: ShiftView, look: Look) -> Group:
    """Steps that were taken, and those ahead: one by one, or in one line where evidence may leave some out."""
    ahead = [step for step in view.steps if step.mark in (StepMark.AHEAD, StepMark.STOPPED)] if view.by_evidence else []
    shown = [step for step in view.steps if step not in ahead]
    lines = [_step_line(step, not ahead and step is shown[-1], look) for step in shown]
    return Group(*lines, *([_ahead_line(ahead, look)] if ahead else []))


def _ahead_line(steps: Sequence[StepRow], look: Look) -> Text:
    style, sign = STYLE_OF_MARK[steps[0].mark], look.glyphs.marks[steps[0].mark]
    shares = ", ".join(step.share.text for step in steps)
    return Text.assemble((f"{look.glyphs.last} ", DIM), (f"{sign} {shares}", style))


def _step_line(step: StepRow, last: bool, look: Look) -> Text:
    glyphs, style = look.glyphs, STYLE_OF_MARK[step.mark]
    line = Text.assemble(
        (f"{glyphs.last if last else glyphs.branch} ", DIM),
        (f"{glyphs.marks[step.mark]} ", style),
        (f"{step.share.text:<7}", style),
    )
    if step.mark in (StepMark.AHEAD, StepMark.STOPPED):
        return line
    observed = step.shares[2].text
    line.append(f"observed {observed:<8} {step.took:>9}  {step.canary.short}", style="default")
    if step.decision:
        line.append(f"  {step.decision.replace('_', ' ')}", style=style)
    return line


def _metric_table(metrics: Sequence[MetricRow], view: ShiftView) -> Table:
    rows = [
        (row.title, row.stable.short, row.canary.short, row.evidence, Text(row.verdict, style=STYLE_OF_TONE[row.tone]))
        for row in metrics
    ]
    return columns(rows, ("of requests", view.stable, view.canary, "evidence", "verdict"))


def _why(view: ShiftView) -> list[RenderableType]:
    rows = [("why", view.reason), ("waits for", " ".join(p for p in (view.waiting.sentence, _left(view)) if p))]
    rows += [("budget", view.budget.text if view.budget and not view.finished else "")]
    rows += [("bake", view.bake.text if view.bake and not view.finished else ""), ("at 100 %", view.guard)]
    rows += [("late", f"{row.route}: {', '.join(row.late)}") for row in view.proxies if row.late]
    rows += [("refused", rejection) for rejection in untold_refusals(view)]
    rows += [("note", note) for note in (*view.conditions, *view.unwatched)]
    rows.append(("you can", view.next_command))
    return [_label(name, text) for name, text in rows if text]


def _left(view: ShiftView) -> str:
    return f"({view.waiting.left})" if view.waiting.left else ""


def _label(name: str, text: str, *, width: int = NAME_CELLS, style: str = "default") -> Table:
    """A name and a text beside it whose further lines begin below its first."""
    table = Table.grid(padding=(0, 0))
    table.add_column(width=width, style=DIM)
    table.add_column(overflow="fold", style=style)
    table.add_row(name, Text(text))
    return table


def summary_screen(summary: SummaryView, load: LoadView | None, look: Look) -> Constrain:
    """A finished run, at most 100 columns wide."""
    style = STYLE_OF_TONE[summary.tone]
    head = Text.assemble(
        (summary.name, "bold"),
        f"  {summary.stable} {look.glyphs.arrow} {summary.canary}  ",
        (summary.phase, style),
        f" in {summary.took}" if summary.took else "",
        f": {summary.headline}",
    )
    parts: list[RenderableType] = [head, Text("")]
    for step in summary.steps:
        parts += [*_summary_step(step, summary, look), Text("")]
    parts += [*_totals(summary), *_compared(summary)]
    if load is not None:
        parts += [Text(""), *_load_part(load)]
    return Constrain(Group(*parts), SUMMARY_WIDTH)


def _summary_step(step: StepRow, summary: SummaryView, look: Look) -> list[RenderableType]:
    style = STYLE_OF_MARK[step.mark]
    configured, acknowledged, observed = (share.text for share in step.shares)
    head = Text.assemble(
        (f"{look.glyphs.marks[step.mark]} step {step.number}  ", style),
        look.bar(step.share.ratio, BAR_CELLS),
        (f"  {step.share.text:<6}", "bold"),
        (f" {step.took}", DIM),
    )
    weights = f"configured {configured}, acknowledged {acknowledged}, observed {observed}"
    after = f" (every proxy ran it after {step.acknowledged_after})" if step.acknowledged_after else ""
    rows = ((summary.stable, step.stable.text), (summary.canary, step.canary.text))
    decision = [indented(_label(look.glyphs.arrow, step.told, width=3, style=style), 4)] if step.told else []
    return [head, indented(Text(weights + after), 4), indented(columns(rows), 4), *decision]


def _totals(summary: SummaryView) -> list[RenderableType]:
    told = {step.sentence for step in summary.steps}
    rows = [
        ("weights now", ", ".join(f"{share.name} {share.text}" for share in summary.shares)),
        (f"{summary.stable} in all", summary.stable_total.text),
        (f"{summary.canary} in all", summary.canary_total.text),
        ("why", "" if summary.reason in told else summary.reason),
        ("budget", summary.budget.text if summary.budget else ""),
        ("reaction", f"{summary.since_first_bad} from the first bad try to the end" if summary.since_first_bad else ""),
    ]
    return [_label(name, text) for name, text in rows if text]


def _compared(summary: SummaryView) -> list[RenderableType]:
    """What was seen of each metric in the whole run, and by how much the versions differ."""
    rows = [
        (
            *(row.title, row.stable.short, row.canary.short, row.difference.text if row.difference else ""),
            Text(row.verdict, style=STYLE_OF_TONE[row.tone]),
        )
        for row in summary.metrics
    ]
    headers = ("of requests", summary.stable, summary.canary, "difference (95 %, at every look)", "verdict")
    return [Text(""), columns(rows, headers)] if rows else []


def _load_part(load: LoadView) -> list[RenderableType]:
    head = Text.assemble(("What callers saw: ", "bold"), (load.text, "bold green" if load.failed == 0 else "bold red"))
    rows = [row for version in load.versions for row in _load_rows(version)]
    return [head, indented(Text(_quantile_text(load.quantiles))), indented(columns(rows))]


def _load_rows(version: LoadVersion) -> list[tuple[str, str, str]]:
    numbers = (version.version, version.text, _quantile_text(version.quantiles))
    return [numbers, ("", version.attempts, "")] if version.attempts else [numbers]


def _quantile_text(quantiles: tuple[str, str, str]) -> str:
    p50, p95, p99 = quantiles
    if set(quantiles) == {UNKNOWN}:
        return ""
    return f"latency p50 {p50}, p95 {p95}, p99 {p99}"
