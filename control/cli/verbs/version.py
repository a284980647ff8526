"""`tidegate version`: which tool is this, and which controller answers?"""

from importlib.metadata import version
from pathlib import Path

import click

from control.cli.connection import controller, run
from control.cli.options import examples, output_option
from control.cli.printing import emit
from control.errors import Unavailable
from control.settings import state_dir_option


@click.command("version", epilog=examples("tidegate version", "tidegate version -o json"))
@output_option
@state_dir_option
def command(output: str, state_dir: Path) -> None:
    """Print the version of this tool, and of the controller when one runs."""
    versions = {"tidegate": version("tidegate"), "controller": run(_controller_version(state_dir))}
    shown = {name: found or "not running" for name, found in versions.items()}
    emit(versions, output, lambda _look: "\n".join(f"{name} {found}" for name, found in shown.items()))


async def _controller_version(state_dir: Path) -> str | None:
    try:
        async with controller(state_dir) as client:
            return await client.version()
    except Unavailable:
        return None
