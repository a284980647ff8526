"""`tidegate list` and `tidegate get`: which shifts are there, and what is stored of them?"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from control.api.model import ShiftDocument
from control.cli.connection import controller, run
from control.cli.options import UTF8, Output, examples, name_argument, output_option
from control.cli.printing import emit, progress, screen
from control.settings import state_dir_option
from control.view.listing import list_row


@click.command("list", epilog=examples("tidegate list", "tidegate list -n shop -o json"))
@click.option("-n", "--namespace", type=UTF8, metavar="NAME", default="", help="Only this namespace.")
@output_option
@state_dir_option
def list_command(namespace: str, output: str, state_dir: Path) -> None:
    """List the shifts: phase, step, shares configured / acknowledged / observed, what each waits for.

    JSON and YAML hold the whole TrafficShift documents.
    """
    _print(run(_read(state_dir, namespace, "")), output, many=True)


@click.command("get", epilog=examples("tidegate get", "tidegate get translator -o yaml"))
@name_argument
@click.option("-n", "--namespace", type=UTF8, metavar="NAME", default="", help="Only this namespace.")
@output_option
@state_dir_option
def command(name: str, namespace: str, output: str, state_dir: Path) -> None:
    """Print shifts as they are stored: spec and status. NAME: only this one.

    For a screen that reads well, use `tidegate status`.
    """
    _print(run(_read(state_dir, namespace, name)), output, many=not name)


async def _read(state_dir: Path, namespace: str, name: str) -> Sequence[ShiftDocument]:
    async with controller(state_dir) as client:
        return [await client.get(namespace or "default", name)] if name else await client.list(namespace)


def _print(shifts: Sequence[ShiftDocument], output: str, *, many: bool) -> None:
    documents = [shift.document for shift in shifts]
    if output == Output.TABLE and not documents:
        progress("There is no shift. Make one: tidegate apply shift.yaml")
        return
    rows = [list_row(document, datetime.now(UTC)) for document in documents]
    emit(documents if many else documents[0], output, screen("tables:list_table", rows))
