"""`tidegate pause`: stay at this share until somebody resumes."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples
from control.engine.command import Verb


@click.command(
    "pause", epilog=examples("tidegate pause", 'tidegate pause translator --reason "waiting for the morning"')
)
@move_options
def command(wanted: Wanted) -> None:
    """Stay at this share until `tidegate resume`.

    Evidence still protects while it is paused: a bad version is rolled back.
    """
    move(Verb.PAUSE, wanted)
