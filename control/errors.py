"""Which kinds of error are there, and who must act on each?

Every error has a code (stable, for machines), a sentence and a hint. Adapters translate what libraries raise into these
at their edge; the table of codes is `ERROR_CODES`, from which the docs are generated.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a text that a person wrote. Lines and columns are 1-based; 0 means the whole file."""

    source: str
    line: int
    column: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class TidegateError(Exception):
    """The base of all: `code` names the kind, `hint` says what to do next."""

    code = "internal"
    exit_code = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SpecError(TidegateError):
    """The user must act: the text is wrong. Carries all problems at once."""

    code = "spec"
    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class NotFound(TidegateError):
    """The user must act: there is no such shift, document or route; the hint lists those that exist."""

    code = "not-found"
    exit_code = 2


class Refused(TidegateError):
    """The user must act: the command does not fit the state that the shift is in."""

    code = "refused"
    exit_code = 2


class Rejected(TidegateError):
    """The mesh or API said no to a write: hold, show why, do not repeat the same write blindly."""

    code = "rejected"
    exit_code = 1


class Unavailable(TidegateError):
    """Try again later: something that is needed could not be reached."""

    code = "unavailable"
    exit_code = 5


class Conflict(TidegateError):
    """Somebody else wrote in between: read again, decide again."""

    code = "conflict"
    exit_code = 1


class TimedOut(TidegateError):
    """What was waited for did not happen in time."""

    code = "timed-out"
    exit_code = 4


class StartFailed(TidegateError):
    """Something could not be started on this machine: a port is taken, a program is missing, a process died at once."""

    code = "start-failed"
    exit_code = 1


class InvariantBroken(TidegateError):
    """Our own bug: freeze this shift, keep its traffic as it is, tell a developer."""

    code = "invariant"
    exit_code = 70


ERROR_CODES: tuple[type[TidegateError], ...] = (
    SpecError,
    NotFound,
    Refused,
    Rejected,
    Unavailable,
    Conflict,
    TimedOut,
    StartFailed,
    InvariantBroken,
)
