"""How is a shift moved? One way for every verb: build a Command, ask if need be, send it, tell what it does."""

import getpass
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from control.api.model import CommandResult, ShiftDocument
from control.cli.connection import controller, resolve, run
from control.cli.printing import asks_people, confirm, emit, progress
from control.engine.command import Command, Verb

if TYPE_CHECKING:
    from control.api.client import ShiftClient


def new_command(verb: Verb, *, expect_step: int | None = None, reason: str = "") -> Command:
    """A command of whoever runs this tool; sending it twice acts once."""
    return Command(
        id=str(uuid.uuid4()), verb=verb, actor=actor(), at=datetime.now(UTC), expect_step=expect_step, reason=reason
    )


def actor() -> str:
    """Who runs the tool, as the system names them. Claimed, not verified."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def move(
    command: Command, *, state_dir: Path, namespace: str, name: str, output: str, dry_run: bool, ask: str = ""
) -> None:
    """Sends the command and prints what it does. `ask`: first shows what it would do and asks, where people sit."""
    result = run(_move(state_dir, namespace, name, command, dry_run=dry_run, ask=ask))
    emit({"outcome": result.outcome, "shift": result.shift.document}, output, lambda _look: result.outcome)


async def _move(
    state_dir: Path, namespace: str, name: str, command: Command, *, dry_run: bool, ask: str
) -> CommandResult:
    async with controller(state_dir) as client:
        shift = await resolve(client, namespace, name)
        if ask and not dry_run and asks_people():
            command = await _asked(client, shift, command, ask)
        return await client.command(shift.namespace, shift.name, command, dry_run=dry_run)


async def _asked(client: "ShiftClient", shift: ShiftDocument, command: Command, ask: str) -> Command:
    """The command, bound to the step that was shown: a shift that moved on meanwhile is not moved. Raises Abort."""
    step = shift.status.get("step")
    if command.expect_step is None and isinstance(step, int):
        command = replace(command, expect_step=step)
    foreseen = await client.command(shift.namespace, shift.name, command, dry_run=True)
    progress(foreseen.outcome)
    confirm(ask)
    return command
