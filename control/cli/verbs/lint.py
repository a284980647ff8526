"""`tidegate lint`: what is wrong with mesh documents and shifts, before anything runs them?"""

from collections.abc import Sequence
from pathlib import Path

import click

from control.cli.options import Output, examples, output_option
from control.cli.printing import emit, progress


@click.command("lint", epilog=examples("tidegate lint ./manifests", "tidegate lint shift.yaml translator.yaml -o json"))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@output_option
@click.pass_context
def command(ctx: click.Context, paths: Sequence[Path], output: str) -> None:
    """Check files, and all *.yaml and *.json of folders: Istio documents alone and together, TrafficShifts, and whether
    the shifts fit the documents' routes.

    Every mistake is shown with file, line and column. Nothing needs to run. Exit code 2 when there is one.
    """
    from control.cli.failure import BadText
    from control.cli.lint import lint
    from control.cli.mesh_files import read_files

    files = read_files(paths)
    problems = lint(files)
    if output != Output.TABLE:
        emit(problems, output, lambda _look: "")
        ctx.exit(2 if problems else 0)
    if problems:
        raise BadText(problems, files.texts)
    progress(_praise(len(files.texts), len(files.documents), len(files.shifts)))


def _praise(files: int, documents: int, shifts: int) -> str:
    from control.view.format import plural

    return f"{plural(files, 'file')} with {plural(documents, 'document')} and {plural(shifts, 'shift')}: no mistakes"
