"""What is wrong with a person's documents, where, and what could they do about it?

A problem is a value: readers collect all of them and return them together. The exceptions below are for the few places
where there is exactly one thing to say and no value to return.
"""

from dataclasses import dataclass

DocumentKey = tuple[str, str, str]
"""Kind, namespace and name: what makes two documents the same one."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands in a file; both count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake. `line` 0 means the whole file; `document` names the one to be refused, when it is known."""

    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    document: DocumentKey | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class DocumentError(Exception):
    """The base of what one document can refuse. `hint` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint


class RouteNotFound(DocumentError):
    """The document has no such route; the hint lists those that it has."""


class MissingDestination(DocumentError):
    """Stable or canary is not a destination of the route. `subsets` are missing, `lines` is the YAML to add."""

    def __init__(self, message: str, hint: str, lines: str, subsets: tuple[str, ...]) -> None:
        super().__init__(message, hint)
        self.lines = lines
        self.subsets = subsets


class WeightRefused(DocumentError):
    """The weights can't be written as asked: too coarse a sum, or bytes that belong to others too."""


class StalePatch(DocumentError):
    """The document is no longer the one that the patch was made for: read again, decide again."""
