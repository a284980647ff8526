"""`tidegate explain`: why is a shift where it is, and which command moves it?"""

from pathlib import Path

import click

from control.cli.connection import controller, resolve, run
from control.cli.follow import viewed
from control.cli.options import examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, screen
from control.settings import state_dir_option
from control.view.explain import explain_view
from control.view.model import ShiftView


@click.command("explain", epilog=examples("tidegate explain", "tidegate explain translator -o json"))
@name_argument
@namespace_option
@output_option
@state_dir_option
def command(name: str, namespace: str, output: str, state_dir: Path) -> None:
    """Say in sentences why a shift is where it is, what the numbers say, what happens next and when, and which
    command moves it."""
    explained = explain_view(run(_read(state_dir, namespace, name)))
    emit(explained, output, screen("tables:explain_screen", explained))


async def _read(state_dir: Path, namespace: str, name: str) -> ShiftView:
    async with controller(state_dir) as client:
        return await viewed(client, await resolve(client, namespace, name))
