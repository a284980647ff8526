"""What does the translator ask of an engine?

Segments (sentences) in, one outcome a segment out, in order. An engine translates truly or fails: none may return its
input or a canned text. What it cannot do for one segment is a value, what it cannot do at all is an exception.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from services.translator.languages import Pair


@dataclass(frozen=True, slots=True)
class Route:
    """How a pair is served: directly when `via` is empty, else by way of those languages."""

    pair: Pair
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence, without blanks around it. `shielded` are its spans that must come through as they are."""

    text: str
    shielded: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Translated:
    """A segment's translation; `unknown` of its `words` were not known to the engine."""

    text: str
    words: int
    unknown: int


class FailureKind(StrEnum):
    """Why one segment was not translated."""

    TOO_LONG = "too long"
    REFUSED_BY_ENGINE = "the engine died of it"
    UNAVAILABLE = "the engine is not available"


@dataclass(frozen=True, slots=True)
class Failed:
    """A segment that could not be translated; others of the same text may have been."""

    kind: FailureKind
    message: str


Outcome = Translated | Failed


class EngineMissingError(Exception):
    """The engine is not installed; the message says what to type."""


class Engine(Protocol):
    """A translation engine."""

    def routes(self) -> tuple[Route, ...]:
        """How it serves each pair that it offers in this process."""

    async def identity(self, pair: Pair) -> str:
        """What makes this pair's texts: engine, version, digest of its data. Two engines that may differ in one
        answer have different identities."""

    async def warm(self, pairs: Sequence[Pair]) -> None:
        """Makes ready what these pairs need, one after the other, so that their first callers need not wait for it."""

    async def translate_batch(self, segments: Sequence[Segment], pair: Pair) -> list[Outcome]:
        """One outcome a segment, in order. Cancelling the call frees the engine."""
