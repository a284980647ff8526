"""`tidegate history`: what happened to a shift, when, and who did it?"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from control.cli.connection import controller, resolve, run
from control.cli.options import examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, screen
from control.settings import state_dir_option
from control.view.shift import history_rows


@click.command("history", epilog=examples("tidegate history", "tidegate history translator --limit 20 -o json"))
@name_argument
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N entries.")
@namespace_option
@output_option
@state_dir_option
def command(name: str, limit: int | None, namespace: str, output: str, state_dir: Path) -> None:
    """Tell what happened, oldest first: each step, decision and command with its reason and who asked for it."""
    rows = history_rows(run(_read(state_dir, namespace, name, limit or 0)), datetime.now(UTC))
    emit(rows, output, screen("tables:history_table", rows))


async def _read(state_dir: Path, namespace: str, name: str, limit: int) -> Sequence[Mapping[str, Any]]:
    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
        return await client.history(shift.namespace, shift.name, limit=limit)
