"""How does a document compare strings? Istio's exact, prefix and regex as one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class MatchKind(StrEnum):
    """How a string is compared. PRESENT: any value, and there must be one."""

    EXACT = "exact"
    PREFIX = "prefix"
    REGEX = "regex"
    PRESENT = "present"


@dataclass(frozen=True, slots=True)
class StringMatch:
    """One comparison of a string."""

    kind: MatchKind
    value: str = ""


NamedMatches = tuple[tuple[str, StringMatch], ...]


def string_match(data: Mapping[str, str] | None) -> StringMatch | None:
    """An empty block and the regex `*` ask only that the value is there."""
    if data is None:
        return None
    for kind in (MatchKind.EXACT, MatchKind.PREFIX, MatchKind.REGEX):
        if kind in data and (kind, data[kind]) != (MatchKind.REGEX, "*"):
            return StringMatch(kind, data[kind])
    return StringMatch(MatchKind.PRESENT)


def named_matches(data: Mapping[str, Mapping[str, str]]) -> NamedMatches:
    """Comparisons by name, sorted."""
    return tuple(
        (name, string_match(match or {}) or StringMatch(MatchKind.PRESENT)) for name, match in sorted(data.items())
    )
