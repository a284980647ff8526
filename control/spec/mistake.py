"""What is a mistake, before it has a line and a column?"""

from dataclasses import dataclass

from control.spec.text import Path


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at a path of the document, and what to do about it."""

    path: Path
    message: str
    hint: str
