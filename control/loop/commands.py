"""What does a person's command do to a stored shift? The engine's answer, in the terms of the store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from control.engine import commands
from control.engine.command import Command
from control.engine.state_json import StateJson, state_of
from control.ports import Stored
from control.spec import stored_shift


@dataclass(frozen=True, slots=True)
class Accepted:
    """The state to store, as JSON, and in a sentence what the command does."""

    state: Mapping[str, Any]
    sentence: str


def accept(stored: Stored, command: Command, now: datetime) -> Accepted:
    """Takes the command at `now`. Raises: Refused with what to do instead, InvariantBroken."""
    shift = stored_shift(stored.spec)
    taken = commands.accept(shift, state_of(stored.state), replace(command, at=now))
    return Accepted(StateJson(taken.state), taken.sentence)
