"""`tidegate lint`: what is wrong with mesh documents and shifts, before anything runs them?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from control.cli.options import Output, examples, output_option
from control.cli.printing import emit, progress
from control.view.format import plural

if TYPE_CHECKING:
    from control.cli.lint import Finding
    from control.cli.mesh_files import MeshFiles

BAD_INPUT = 2
NOUNS = {"error": "error", "warning": "warning", "info": "remark"}


@click.command("lint", epilog=examples("tidegate lint ./manifests", "tidegate lint shift.yaml translator.yaml -o json"))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@output_option
@click.pass_context
def command(ctx: click.Context, paths: Sequence[Path], strict: bool, output: str) -> None:
    """Check files, and all *.yaml and *.json of folders: Istio documents alone and together, TrafficShifts, and whether
    the shifts fit the documents' routes.

    Every finding is shown with file, line and column. Nothing needs to run. Exit code 2 when there is an error; what
    is only a warning or a remark does not count (--strict counts warnings).
    """
    from control.cli.lint import lint
    from control.cli.mesh_files import read_files

    files = read_files(paths)
    findings = lint(files)
    if output == Output.TABLE:
        _print(findings, files)
    else:
        emit(findings, output, lambda _look: "")
    counting = {"error", "warning"} if strict else {"error"}
    ctx.exit(BAD_INPUT if any(finding.level in counting for finding in findings) else 0)


def _print(findings: "Sequence[Finding]", files: "MeshFiles") -> None:
    """Each finding with its line on standard output, how many there are on standard error."""
    from control.cli.failure import problem_lines

    for finding in findings:
        first, *rest = problem_lines(finding.problem, files.texts.get(finding.problem.source, b""))
        click.echo("\n".join([f"{first} [{finding.level} {finding.code}]", *rest]))
    levels = [finding.level.value for finding in findings]
    counts = [plural(levels.count(level), noun) for level, noun in NOUNS.items() if level in levels]
    progress(f"{_what(files)}: {', '.join(counts) or 'nothing to remark'}")


def _what(files: "MeshFiles") -> str:
    parts = (
        plural(len(files.texts), "file"),
        plural(len(files.documents), "mesh document"),
        plural(len(files.shifts), "shift"),
    )
    return ", ".join(parts)
