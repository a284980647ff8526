"""`tidegate promote`: to the next step now, or all the way."""

import click

from control.cli.commands import Wanted, move, move_options
from control.cli.options import examples, yes_option
from control.engine.command import Verb


@click.command(
    "promote",
    epilog=examples(
        "tidegate promote                    to the next step, without waiting for more evidence",
        "tidegate promote --full             all traffic to the new version now",
        "tidegate promote --expect-step 2    only if it is still at step 2",
        "tidegate promote --dry-run          what it would do",
    ),
)
@click.option("--full", is_flag=True, help="Give the new version all traffic now.")
@yes_option
@move_options
def command(wanted: Wanted, full: bool, yes: bool) -> None:
    """Go to the next step now instead of waiting for it.

    On a terminal it shows what would change and asks first (--yes does not ask); a shift that moved on while you read
    is left alone. Evidence still protects: a bad version is rolled back at the new step too.
    """
    move(Verb.PROMOTE_FULL if full else Verb.PROMOTE, wanted, ask="" if yes else "Do it?")
