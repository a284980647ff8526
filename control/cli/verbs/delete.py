"""`tidegate delete`: forgets a shift; its manifest says what happens to the traffic."""

from pathlib import Path

import click

from control.cli.complete import shift_names
from control.cli.connection import controller, run
from control.cli.options import UTF8, dry_run_option, examples, namespace_option, output_option, yes_option
from control.cli.printing import asks_people, confirm, emit, progress
from control.settings import state_dir_option


@click.command("delete", epilog=examples("tidegate delete translator", "tidegate delete translator --dry-run"))
@click.argument("name", type=UTF8, shell_complete=shift_names)
@yes_option
@dry_run_option
@namespace_option
@output_option
@state_dir_option
def command(name: str, yes: bool, dry_run: bool, namespace: str, output: str, state_dir: Path) -> None:
    """Delete the shift NAME. Its `onDelete` says what happens to the traffic of an unfinished one: `stable` gives all
    of it back first, `keep` leaves the weights as they are.

    On a terminal it shows what would happen and asks first (--yes does not ask).
    """
    outcome = run(_delete(state_dir, namespace, name, dry_run=dry_run, ask=not yes and asks_people()))
    emit({"outcome": outcome}, output, lambda _look: outcome)


async def _delete(state_dir: Path, namespace: str, name: str, *, dry_run: bool, ask: bool) -> str:
    async with controller(state_dir) as client:
        if ask and not dry_run:
            progress(await client.delete(namespace, name, dry_run=True))
            confirm("Do it?")
        return await client.delete(namespace, name, dry_run=dry_run)
