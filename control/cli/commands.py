"""How is a shift moved? One way for every verb: take its options, build a Command, ask if need be, send it, tell what
it does.
"""

import getpass
import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from control.api.model import CommandResult, ShiftDocument
from control.cli.connection import controller, resolve, run
from control.cli.options import (
    dry_run_option,
    expect_step_option,
    name_argument,
    namespace_option,
    output_option,
    reason_option,
)
from control.cli.printing import asks_people, confirm, emit, progress
from control.engine.command import Command, Verb
from control.settings import state_dir_option

if TYPE_CHECKING:
    from control.api.client import ShiftClient


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person said beside the verb itself. `name` is empty when the only shift is meant."""

    name: str
    expect_step: int | None
    reason: str
    dry_run: bool
    namespace: str
    output: str
    state_dir: Path


OPTIONS = (
    *(name_argument, expect_step_option, reason_option, dry_run_option),
    *(namespace_option, output_option, state_dir_option),
)


def move_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a verb the options that all verbs share; it gets them as one `Wanted`, its own ones by their names."""

    @wraps(command)
    def collected(**given: Any) -> None:
        wanted = Wanted(**{each.name: given.pop(each.name) for each in fields(Wanted)})
        command(wanted, **given)

    for option in reversed(OPTIONS):
        collected = option(collected)
    return collected


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


def move(verb: Verb, wanted: Wanted, *, ask: str = "") -> None:
    """Sends the command and prints what it does. `ask`: first shows what it would do and asks, where people sit."""
    command = new_command(verb, expect_step=wanted.expect_step, reason=wanted.reason)
    result = run(_move(wanted, command, ask))
    emit({"outcome": result.outcome, "shift": result.shift.document}, wanted.output, lambda _look: result.outcome)


async def _move(wanted: Wanted, command: Command, ask: str) -> CommandResult:
    async with controller(wanted.state_dir) as client:
        shift = await resolve(client, wanted.namespace, wanted.name)
        if ask and not wanted.dry_run and asks_people():
            command = await _asked(client, shift, command, ask)
        return await client.command(shift.namespace, shift.name, command, dry_run=wanted.dry_run)


async def _asked(client: "ShiftClient", shift: ShiftDocument, command: Command, ask: str) -> Command:
    """The command, bound to the step that was shown: a shift that moved on meanwhile is not moved. Raises Abort."""
    step = shift.status.get("step")
    if command.expect_step is None and isinstance(step, int):
        command = replace(command, expect_step=step)
    foreseen = await client.command(shift.namespace, shift.name, command, dry_run=True)
    progress(foreseen.outcome)
    confirm(ask)
    return command
