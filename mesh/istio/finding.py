"""What did a rule find, and where in the document?"""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T", bound=Hashable)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_HOST = re.compile(r"(\*|(\*\.)?[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,251}[a-zA-Z0-9])?)\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one path of a document."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def duplicates(values: Iterable[T]) -> Iterator[tuple[int, T]]:
    """Index and value of each value that stood before."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            yield index, value
        seen.add(value)


def is_label(text: str) -> bool:
    """Is this a DNS label: lower case, digits, dashes inside, at most 63 characters?"""
    return bool(_LABEL.match(text))


def is_host(text: str) -> bool:
    """Is this a DNS name, or a wildcard that stands for its subdomains?"""
    return bool(_HOST.match(text)) and ".." not in text
