"""How is laid out what has not happened yet? The ends that a shift may come to, and where its runs would stand."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from math import ceil

from rich.console import Group, RenderableType
from rich.text import Text

from control.cli.look import STYLE_OF_TONE, Look
from control.cli.screens import DIM, columns, indented, title
from control.view import format as words
from control.view.plan import PlanNeed, PlanStep, PlanView
from control.view.simulate import EndRow, Plot, SimulationView, Spread

TICKS = 4


def plan_screen(plan: PlanView, look: Look) -> RenderableType:
    """The steps as a table, what is needed for them as sentences."""
    head = Text.assemble(
        (plan.name, "bold"),
        f"  {plan.stable} {look.glyphs.arrow} {plan.canary} of {plan.host}, ",
        plan.headline,
    )
    routes = [Text(f"route: {route}", style=DIM) for route in plan.routes]
    steps = columns(
        [_plan_row(step, plan) for step in plan.steps], ("STEP", plan.canary.upper(), "BEGINS", "TAKES", "REQUESTS")
    )
    needs = columns([_need_row(each) for each in plan.needs], ("TO BE PROVEN", "MARGIN", "STABLE", "REQUESTS", "TAKES"))
    parts = [indented(each) for each, wanted in ((steps, plan.steps), (needs, plan.needs)) if wanted]
    spaced = [line for part in parts for line in (Text(""), part)]
    notes = [Text(f"{look.glyphs.arrow} {note}") for note in (*plan.notes, f"On failure {plan.on_failure}.")]
    helps: list[RenderableType] = [
        "",
        title("What would help, each by itself"),
        *(indented(Text(each)) for each in plan.remedies),
    ]
    return Group(head, *routes, *spaced, Text(""), *notes, *(helps if plan.remedies else []))


def _plan_row(step: PlanStep, plan: PlanView) -> tuple[str | Text, ...]:
    takes = Text(step.hold, style="default" if step.enough else "yellow")
    requests = f"{step.canary_requests}" + (f" ({step.note})" if step.note else "")
    return f"{step.number} of {len(plan.steps)}", step.share, step.starts, takes, requests


def _need_row(need: PlanNeed) -> tuple[str, ...]:
    return need.test, need.proven, need.stable_rate, need.requests, need.time


def simulate_screen(view: SimulationView, look: Look) -> RenderableType:
    """Ends as a table, time and share as a plot, what is assumed below."""
    head = Text.assemble(
        (view.name, "bold"),
        f"  {view.stable} {look.glyphs.arrow} {view.canary} of {view.host}, by {view.strategy}\n",
        (view.headline, STYLE_OF_TONE[view.tone]),
    )
    headers = ("END", "CHANCE", "TIME", "9 OF 10", "REQUESTS", "FAILED", "EXTRA")
    parts: list[RenderableType] = [head, Text(""), columns([_row(row) for row in view.ends if row.runs], headers)]
    if view.blamed:
        parts += [Text(""), Text("named first: " + ", ".join(_blamed(view)))]
    parts += [Text(""), title(f"Share of {view.canary} over time"), indented(_plot(view.plot, look)), Text("")]
    notes = (*view.notes, f"Assumed: {'; '.join(view.assumed)}.", _of_runs(view))
    return Group(*parts, *(Text(f"{look.glyphs.arrow} {note}", style=DIM) for note in notes))


def _row(row: EndRow) -> tuple[str | Text, ...]:
    return (
        Text(row.sentence, style=STYLE_OF_TONE[row.tone]),
        f"{words.percent(row.chance)} ({row.low * 100:.0f}-{row.high * 100:.0f})",
        *(("", "") if row.seconds is None else (_time(row.seconds.median), _time(row.seconds.p90))),
        *(_mean(each) for each in (row.canary_requests, row.canary_failures, row.excess_failures)),
    )


def _mean(spread: Spread | None) -> str:
    """Fewer failures than stable would have had are luck: no failure more is 0."""
    return "" if spread is None else words.amount(max(0.0, spread.mean))


def _time(seconds: float) -> str:
    return words.duration(timedelta(seconds=seconds))


def _blamed(view: SimulationView) -> Iterator[str]:
    """Example: "outcomes (99 %)"."""
    return (f"{each.test} ({words.percent(each.part)})" for each in view.blamed)


def _of_runs(view: SimulationView) -> str:
    runs = f"{words.plural(view.runs, 'run')} of {_time(view.within_seconds)} at most, seed {view.seed}"
    means = f"REQUESTS, FAILED and EXTRA (beyond {view.stable}'s rate) are {view.canary}'s, on average"
    return f"{runs}; a budget of {words.amount_of(view.budget, 'failed request')}. TIME is the median; {means}."


def _plot(plot: Plot, look: Look) -> Text:
    """A line a share; the darker a cell, the more runs stand there at that time."""
    width = max(len(share) for share in plot.shares)
    lines = [
        f"{share:>{width}} {''.join(_shade(part, look.glyphs.shades) for part in parts)}"
        for share, parts in zip(plot.shares, plot.parts, strict=True)
    ]
    return Text("\n".join([*lines, f"{'':>{width}} {_axis(plot.seconds)}"]))


def _shade(part: float, shades: str) -> str:
    """Something is never drawn as nothing, nor most as all."""
    if part >= 1:
        return shades[-1]
    return shades[min(ceil(part * (len(shades) - 1)), len(shades) - 1)]


def _axis(seconds: Sequence[float]) -> str:
    """Times below the columns that they belong to."""
    marks = [round(number * (len(seconds) - 1) / TICKS) for number in range(TICKS)]
    line = "".join(f"{_time(seconds[mark]):<{marks[1]}}" for mark in marks)
    return line + _time(seconds[-1])
