"""What did a person ask for?"""

from dataclasses import dataclass
from datetime import datetime

from control.engine.phase import Verb

__all__ = ["Command", "Verb"]


@dataclass(frozen=True, slots=True)
class Command:
    """One request of a person, idempotent by `id`.

    `expect_step` is the step that the person believes the shift to be at (None: whatever it is): two people who
    promote at once move it one step, not two. `actor` is who asked, `reason` why, both for the journal.
    """

    id: str
    verb: Verb
    actor: str
    at: datetime
    expect_step: int | None = None
    reason: str = ""
