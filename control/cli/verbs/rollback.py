"""`tidegate rollback`: gives all traffic back to the stable version, at once."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples
from control.engine.command import Verb


@click.command(
    "rollback", epilog=examples("tidegate rollback", 'tidegate rollback translator --reason "odd answers in Catalan"')
)
@move_options
def command(wanted: Wanted) -> None:
    """Give all traffic back to the stable version, at once and without asking.

    It wins over everything else that the controller is doing, also while the shift is paused or suspended.
    """
    move(Verb.ROLLBACK, wanted)
