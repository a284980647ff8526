"""`tidegate wait`: has a shift got somewhere? The exit code answers, for scripts and pipelines."""

import asyncio
import re
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from control.cli.connection import controller, resolve, run
from control.cli.follow import follow
from control.cli.live import LiveProgress
from control.cli.options import examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, err_look
from control.cli.values import DURATION
from control.errors import TimedOut
from control.settings import state_dir_option
from control.view.format import duration
from control.view.model import ShiftView

DONE, FAILED, ROLLED_BACK = 0, 1, 3
END_CODES = {
    "promoted": {"Promoted": DONE, "RolledBack": ROLLED_BACK, "Failed": FAILED},
    "rolled-back": {"RolledBack": DONE, "Promoted": FAILED},
    "finished": {"Promoted": DONE, "RolledBack": ROLLED_BACK, "Failed": FAILED},
}
STEP_CODES = {"Promoted": DONE, "RolledBack": ROLLED_BACK, "RollingBack": ROLLED_BACK, "Failed": FAILED}


@dataclass(frozen=True, slots=True)
class Goal:
    """Where to get: an end, or a step."""

    text: str
    step: int | None = None

    def exit_code(self, view: ShiftView) -> int | None:
        """How the wait ends with this view, or None to go on waiting."""
        if self.step is None:
            return END_CODES[self.text].get(view.phase)
        ended = STEP_CODES.get(view.phase)
        return DONE if ended is None and view.step >= self.step else ended


class GoalType(click.ParamType[Goal]):
    """promoted, rolled-back, finished or step=N."""

    name = "goal"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Goal:
        if isinstance(value, Goal):
            return value
        text = str(value)
        if text in END_CODES:
            return Goal(text)
        if found := re.fullmatch(r"step=([1-9]\d{0,3})", text):
            return Goal(text, int(found[1]))
        return self.fail(f"{text!r} is none of promoted, rolled-back, finished, step=N (from 1 on)", param, ctx)


@click.command(
    "wait",
    epilog=examples(
        "tidegate wait --for promoted --timeout 10m && ./announce.sh",
        "tidegate wait translator --for step=3",
    ),
)
@name_argument
@click.option(
    "--for",
    "goal",
    type=GoalType(),
    default="finished",
    show_default=True,
    metavar="GOAL",
    help="promoted, rolled-back, finished or step=N.",
)
@click.option("--timeout", type=DURATION, metavar="DURATION", help="Give up after this time (90s, 5m); else never.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@namespace_option
@output_option
@state_dir_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str,
    goal: Goal,
    timeout: timedelta | None,
    quiet: bool,
    namespace: str,
    output: str,
    state_dir: Path,
) -> None:
    """Wait until a shift gets to a goal, with progress on standard error.

    \b
    Exit codes: 0 it got there; 1 it ended otherwise; 3 it was rolled back; 4 the time was up; 5 the controller went.
    """
    code, view = run(_wait(state_dir, namespace, name, goal, timeout, quiet))
    emit(view, output, lambda _look: ": ".join(part for part in _parts(view) if part))
    ctx.exit(code)


def _parts(view: ShiftView) -> tuple[str, ...]:
    """One that stopped short says why."""
    return view.name, view.headline, "" if view.finished else view.reason


async def _wait(
    state_dir: Path, namespace: str, name: str, goal: Goal, timeout: timedelta | None, quiet: bool
) -> tuple[int, ShiftView]:
    """The exit code, and the view that decided it. Raises TimedOut."""
    try:
        async with asyncio.timeout(timeout.total_seconds() if timeout is not None else None):
            return await _reached(state_dir, namespace, name, goal, quiet)
    except TimeoutError:
        limit = duration(timeout or timedelta())
        raise TimedOut(
            f"{goal.text} was not reached within {limit}", "tidegate explain says what it waits for"
        ) from None


async def _reached(state_dir: Path, namespace: str, name: str, goal: Goal, quiet: bool) -> tuple[int, ShiftView]:
    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
        with LiveProgress(err_look()) as live:
            async with aclosing(follow(client, shift.namespace, shift.name)) as sights:
                async for sight in sights:
                    if not quiet:
                        live.update(sight.view)
                    if (code := goal.exit_code(sight.view)) is not None:
                        return code, sight.view
    raise AssertionError("a watch ends only by an error")
