"""`tidegate retry`: start again from the first step after a rollback."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples
from control.engine.command import Verb


@click.command("retry", epilog=examples("tidegate retry", 'tidegate retry translator --reason "v2 was fixed"'))
@move_options
def command(wanted: Wanted) -> None:
    """Start again from the first step after a rollback, with new evidence only."""
    move(Verb.RETRY, wanted)
