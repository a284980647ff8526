"""`tidegate resume`: go on after pause, suspend or a conflict."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples
from control.engine.command import Verb


@click.command("resume", epilog=examples("tidegate resume", "tidegate resume translator --expect-step 3"))
@move_options
def command(wanted: Wanted) -> None:
    """Go on where a pause, a suspension or a conflict over the weights stopped it."""
    move(Verb.RESUME, wanted)
