"""`tidegate pause`: stay at this share until somebody resumes."""

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


@click.command(
    "pause", epilog=examples("tidegate pause", 'tidegate pause translator --reason "waiting for the morning"')
)
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
    """Stay at this share until `tidegate resume`.

    Evidence still protects while it is paused: a bad version is rolled back.
    """
    wanted = new_command(Verb.PAUSE, expect_step=expect_step, reason=reason)
    move(wanted, state_dir=state_dir, namespace=namespace, name=name, output=output, dry_run=dry_run)
