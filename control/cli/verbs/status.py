"""`tidegate status`: what does one shift look like, now or all the time?"""

from contextlib import aclosing
from pathlib import Path

import click

from control.cli.connection import controller, resolve, run
from control.cli.follow import Sight, follow, viewed
from control.cli.live import LiveProgress
from control.cli.options import Output, examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, out_look, screen
from control.settings import state_dir_option
from control.view.model import ShiftView
from control.view.plain import plain
from control.view.texts import json_line, yaml_text


@click.command(
    "status",
    epilog=examples(
        "tidegate status                     the only shift there is",
        "tidegate status translator -w       watch it until it ends",
        "tidegate status translator -o json  the same values for a script",
    ),
)
@name_argument
@click.option("-w", "--watch", is_flag=True, help="Follow it until it ends: in place, or a line a change when piped.")
@namespace_option
@output_option
@state_dir_option
def command(name: str, watch: bool, namespace: str, output: str, state_dir: Path) -> None:
    """Show one shift: its three weights, its steps, both versions' numbers, what it waits for and what you can do.

    NAME may be left out when there is only one. With -w, JSON is one object a line and YAML one document a change.
    """
    if watch:
        run(_watch(state_dir, namespace, name, output))
    else:
        view = run(_read(state_dir, namespace, name))
        emit(view, output, screen("screens:shift_screen", view))


async def _read(state_dir: Path, namespace: str, name: str) -> ShiftView:
    async with controller(state_dir) as client:
        return await viewed(client, await resolve(client, namespace, name))


async def _watch(state_dir: Path, namespace: str, name: str, output: str) -> None:
    """Shows the shift until it has ended."""
    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
        with LiveProgress(out_look()) as live:
            async with aclosing(follow(client, shift.namespace, shift.name)) as sights:
                async for sight in sights:
                    _show(sight, live, output)
                    if sight.view.finished:
                        return


def _show(sight: Sight, live: LiveProgress, output: str) -> None:
    if output == Output.TABLE:
        live.update(sight.view)
    elif sight.changed:
        click.echo(_record(sight.view, output), nl=output == Output.JSON)


def _record(view: ShiftView, output: str) -> str:
    return json_line(plain(view)) if output == Output.JSON else "---\n" + yaml_text(plain(view))
