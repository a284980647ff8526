"""How does a person follow a shift to its end? Live progress while it runs, and the summary afterwards.

On a terminal the progress is drawn in place; anywhere else it is one plain line a change. Both go to standard error;
the summary is data and belongs on standard output.

    with LiveProgress(look_at(sys.stderr)) as progress:
        progress.stage("Redis is ready")
        progress.update(view, load=latest_load_json)
    look = look_at(sys.stdout)
    look.console.print(render_summary(summary_view(document, journal, now), load_json, look))
"""

from collections.abc import Mapping
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from control.cli.look import Look
from control.view.model import LoadView, ShiftView, StepRow, SummaryView
from control.view.summary import load_view

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

HEARTBEAT = timedelta(seconds=10)
REFRESH_PER_SECOND = 8


class LiveProgress:
    """Shows each view that it is given: drawn in place on a terminal, as one line a change elsewhere."""

    def __init__(self, look: Look, *, heartbeat: timedelta = HEARTBEAT) -> None:
        self._look = look
        self._live: Live | None = None
        self._lines = _ChangeLines(heartbeat)

    def __enter__(self) -> Self:
        if self._look.in_place:
            from rich.live import Live

            self._live = Live(
                console=self._look.console, refresh_per_second=REFRESH_PER_SECOND, transient=False, auto_refresh=False
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def stage(self, text: str) -> None:
        """One line about the way there, above what is drawn in place. Example: "Redis is ready (0.2 s)"."""
        self._look.console.print(text)

    def update(self, view: ShiftView, load: Mapping[str, Any] | None = None) -> None:
        """Shows the newest view, and what callers see by the load generator's JSON if there is one."""
        if self._live is not None:
            from control.cli.screens import shift_screen

            self._live.update(shift_screen(view, self._look, load_view(load) if load else None), refresh=True)
            return
        for line in self._lines.of(view, load_view(load) if load else None):
            self._look.console.print(line, soft_wrap=True)


class _ChangeLines:
    """Which plain lines tell what is new since the last view? Nothing new: one line every `heartbeat`."""

    def __init__(self, heartbeat: timedelta) -> None:
        self._heartbeat_s = heartbeat.total_seconds()
        self._headline = ""
        self._sentences: set[str] = set()
        self._told: set[tuple[int, int]] = set()
        self._acknowledged: set[tuple[int, int]] = set()
        self._last = monotonic()

    def of(self, view: ShiftView, load: LoadView | None) -> list[str]:
        lines = [line for step in view.steps for line in self._step_lines(step, view)]
        told, self._headline = self._headline, view.headline
        if view.headline != told and (view.finished or not told or not lines):
            news = view.reason if view.reason not in self._sentences else ""
            lines.append(": ".join(part for part in (view.name, view.headline, news) if part))
            self._sentences.add(view.reason)
        if not lines and monotonic() - self._last >= self._heartbeat_s:
            lines.append(heartbeat(view, load))
        if lines:
            self._last = monotonic()
        return lines

    def _step_lines(self, step: StepRow, view: ShiftView) -> list[str]:
        lines, key = [], (view.run, step.number)
        if step.acknowledged_after and key not in self._acknowledged:
            self._acknowledged.add(key)
            where = f"step {step.number} ({step.share.text})"
            lines.append(f"{view.name}: {where}: every proxy runs it after {step.acknowledged_after}")
        if step.decision not in ("", "hold") and key not in self._told:
            self._told.add(key)
            self._sentences.add(step.sentence)
            lines.append(f"{view.name}: step {step.number}: {step.told}")
        return lines


def heartbeat(view: ShiftView, load: LoadView | None) -> str:
    """One line that says that it is alive and what it waits for."""
    parts = [f"{view.name}: {view.step_text}, observed {view.shares[2].text}"]
    if waits := ", ".join(part for part in (view.waiting.sentence, view.waiting.left) if part):
        parts.append(f"waits: {waits}")
    if load is not None:
        parts.append(load.text)
    return "; ".join(parts)


def render_summary(summary: SummaryView, load: Mapping[str, Any] | None, look: Look) -> "RenderableType":
    """The finished run: every step with its weights, counts of both versions and the sentence of its decision."""
    from control.cli.screens import summary_screen

    return summary_screen(summary, load_view(load) if load else None, look)
