"""`tidegate resume`: go on after pause, suspend or a conflict."""

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
)
from control.engine.command import Verb
from control.settings import state_dir_option


@click.command("resume", epilog=examples("tidegate resume", "tidegate resume translator --expect-step 3"))
@name_argument
@expect_step_option
@reason_option
@dry_run_option
@namespace_option
@output_option
@state_dir_option
def command(
    name: str, expect_step: int | None, reason: str, dry_run: bool, namespace: str, output: str, state_dir: Path
) -> None:
    """Go on where a pause, a suspension or a conflict over the weights stopped it."""
    wanted = new_command(Verb.RESUME, expect_step=expect_step, reason=reason)
    move(wanted, state_dir=state_dir, namespace=namespace, name=name, output=output, dry_run=dry_run)
