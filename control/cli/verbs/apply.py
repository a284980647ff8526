"""`tidegate apply`: creates or changes shifts from the files that people write."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from control.cli.connection import controller, run
from control.cli.failure import BadText
from control.cli.inputs import read_input
from control.cli.options import dry_run_option, examples, output_option
from control.cli.printing import emit
from control.errors import SpecError
from control.settings import state_dir_option

if TYPE_CHECKING:
    from control.api.model import ApplyResult


@click.command(
    "apply",
    epilog=examples(
        "tidegate apply shift.yaml",
        "tidegate apply shifts/*.yaml --dry-run",
        "cat shift.yaml | tidegate apply -",
    ),
)
@click.argument("files", nargs=-1, required=True, type=click.File("rb"))
@dry_run_option
@output_option
@state_dir_option
def command(files: Sequence[BinaryIO], dry_run: bool, output: str, state_dir: Path) -> None:
    """Create or change shifts. FILES hold one TrafficShift each; - is standard input.

    All mistakes of a file are shown at once, each with its line. A file with a mistake changes nothing; files are
    applied one after another.
    """
    results = [run(_apply(state_dir, *read_input(file), dry_run)) for file in files]
    words = {True: "would be ", False: ""}[dry_run]

    def lines(_look: object) -> str:
        return "\n".join(f"trafficshift {r.shift.namespace}/{r.shift.name} {words}{r.outcome}" for r in results)

    emit([result.shift.document for result in results], output, lines)


async def _apply(state_dir: Path, text: bytes, source: str, dry_run: bool) -> "ApplyResult":
    async with controller(state_dir) as client:
        try:
            return await client.apply(text, source, dry_run=dry_run)
        except SpecError as mistakes:
            raise BadText(mistakes.problems, {source: text}) from None
