"""`tidegate suspend`: hands off: nothing is written until somebody resumes."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples
from control.engine.command import Verb


@click.command(
    "suspend", epilog=examples("tidegate suspend", 'tidegate suspend translator --reason "editing the routes by hand"')
)
@move_options
def command(wanted: Wanted) -> None:
    """Hands off: write no weight at all until `tidegate resume`.

    Nothing protects the traffic meanwhile: a bad version is not rolled back. To stop only the advance, use
    `tidegate pause`.
    """
    move(Verb.SUSPEND, wanted)
