"""`tidegate ledger`: what did earlier shifts of a service leave behind? From the files alone; nothing needs to run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from control.cli.connection import run
from control.cli.options import UTF8, Output, examples, output_option
from control.cli.printing import emit, progress, screen
from control.errors import NotFound, Problem, SpecError
from control.settings import state_dir_option

if TYPE_CHECKING:
    from control.engine.ledger import LedgerEntry

    Ledgers = list[tuple[str, str, tuple[LedgerEntry, ...]]]


@click.command("ledger", epilog=examples("tidegate ledger", "tidegate ledger translator -o json"))
@click.argument("service", type=UTF8, required=False, default="")
@click.option("-n", "--namespace", type=UTF8, metavar="NAME", default="", help="Only this namespace.")
@output_option
@state_dir_option
def command(service: str, namespace: str, output: str, state_dir: Path) -> None:
    """Print what finished shifts left behind: what was tried, what was seen of each metric, the rule that came of it,
    and what the next shift takes from it. SERVICE: only this one.

    The files are in the folder `ledger` of the state folder; they may be edited, and outlive `tidegate down`. JSON and
    YAML hold the entries as they stand there.
    """
    from control.view.ledger import ledger_view

    found, problems = run(_read(state_dir, namespace, service))
    if found or output != Output.TABLE:
        views = [ledger_view(*each) for each in found]
        emit(_plain(found), output, screen("tables:ledger_screen", views))
    if problems:
        raise SpecError(problems)
    if not found:
        progress("No shift has left anything behind yet.")


async def _read(state_dir: Path, namespace: str, service: str) -> tuple["Ledgers", list[Problem]]:
    """The files that can be read, and what is wrong with the others."""
    from control.wiring import ledger

    files = ledger(state_dir)
    known = [each for each in await files.services() if namespace in ("", each[0])]
    wanted = [each for each in known if service in ("", each[1])]
    if service and not wanted:
        names = ", ".join(f"{space}/{name}" for space, name in known)
        hint = f"there are: {names}" if names else "a shift leaves one when it ends"
        raise NotFound(f"there is no ledger of {service}", hint)
    found: Ledgers = []
    problems: list[Problem] = []
    for space, name in wanted:
        try:
            found.append((space, name, await files.read(space, name)))
        except SpecError as broken:
            problems.extend(broken.problems)
    return found, problems


def _plain(found: "Ledgers") -> list[dict[str, Any]]:
    from control.engine.ledger import to_plain

    return [
        {"namespace": namespace, "service": service, "entries": [to_plain(entry) for entry in entries]}
        for namespace, service, entries in found
    ]
