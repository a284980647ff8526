"""What does a person's command do to a stored shift? The engine's answer, in the terms of the store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from control.engine import commands
from control.engine.command import Command
from control.engine.state import ShiftState
from control.ports import Stored
from control.spec import from_document


@dataclass(frozen=True, slots=True)
class Accepted:
    """The state to store, as JSON, and in a sentence what the command does."""

    state: Mapping[str, Any]
    sentence: str


def accept(stored: Stored, command: Command, now: datetime) -> Accepted:
    """Takes the command at `now`. Raises: Refused with what to do instead, InvariantBroken."""
    shift = from_document(stored.spec)
    taken = commands.accept(shift, ShiftState.from_json(stored.state), replace(command, at=now))
    return Accepted(taken.state.to_json(), taken.sentence)
