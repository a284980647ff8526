"""What does a TrafficShift's text say, and where does it say it? One document, read as mesh documents are."""

from dataclasses import dataclass, field
from typing import Any

from control.errors import Problem
from mesh.istio.problem import Place
from mesh.istio.yaml_nodes import Lines, Node, nearest, nearest_value
from mesh.istio.yaml_text import Limits, YamlDocument, read_yaml

Path = tuple[str | int, ...]
"""Keys and indexes from the root; a trailing empty key means the key itself, not its value."""
LIMITS = Limits(max_bytes=256 * 1024, max_nodes=10_000)
NOWHERE = Place(0, 0)
"""The whole text."""


@dataclass(frozen=True, slots=True)
class Text:
    """Plain data, what was wrong with the text itself, and the nodes that know the places."""

    data: Any
    problems: tuple[Problem, ...] = ()
    root: Node | None = None
    lines: Lines = field(default_factory=lambda: Lines(""))

    def place(self, path: Path) -> Place:
        """The place of `path`, or of its nearest existing ancestor."""
        if self.root is None:
            return NOWHERE
        if path and path[-1] == "":
            return self.lines.at(nearest(self.root, path[:-1]))
        return self.lines.at(nearest_value(self.root, path))


def read_text(raw: bytes, source: str) -> Text:
    """Reads one YAML document; an unreadable one has no data and at least one problem.

    One with a mistake that leaves the rest readable (a key twice) has both, so that all mistakes can be told at once.
    """
    read = read_yaml(source, raw, LIMITS)
    problems = [Problem(source, each.line, each.column, each.message, each.hint) for each in read.problems]
    found = sorted((*read.documents, *read.flawed), key=lambda each: each.start)
    if len(found) > 1:
        problems.append(_second(found[1], read.lines, source))
    root = found[0].root if len(found) == 1 else None
    return Text(root.data if root is not None else None, tuple(problems), root, read.lines)


def _second(document: YamlDocument, lines: Lines, source: str) -> Problem:
    place = lines.at(document.start)
    return Problem(
        source, place.line, place.column, "a second document begins here", "apply one TrafficShift at a time"
    )
