"""`tidegate promote`: to the next step now, or all the way."""

from pathlib import Path

import click

from control.cli.commands import move, new_command
from control.cli.options import (
    dry_run_option,
    examples,
    expect_step_option,
    name_argument,
    namespace_option,
    output_option,
    reason_option,
    yes_option,
)
from control.engine.command import Verb
from control.settings import state_dir_option


@click.command(
    "promote",
    epilog=examples(
        "tidegate promote                    to the next step, without waiting for more evidence",
        "tidegate promote --full             all traffic to the new version now",
        "tidegate promote --expect-step 2    only if it is still at step 2",
        "tidegate promote --dry-run          what it would do",
    ),
)
@name_argument
@click.option("--full", is_flag=True, help="Give the new version all traffic now.")
@expect_step_option
@yes_option
@reason_option
@dry_run_option
@namespace_option
@output_option
@state_dir_option
def command(
    name: str,
    full: bool,
    expect_step: int | None,
    yes: bool,
    reason: str,
    dry_run: bool,
    namespace: str,
    output: str,
    state_dir: Path,
) -> None:
    """Go to the next step now instead of waiting for it.

    On a terminal it shows what would change and asks first (--yes does not ask); a shift that moved on while you read
    is left alone. Evidence still protects: a bad version is rolled back at the new step too.
    """
    verb = Verb.PROMOTE_FULL if full else Verb.PROMOTE
    wanted = new_command(verb, expect_step=expect_step, reason=reason)
    ask = "" if yes else "Do it?"
    move(wanted, state_dir=state_dir, namespace=namespace, name=name, output=output, dry_run=dry_run, ask=ask)
