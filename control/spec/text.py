"""What does a YAML text say, and where does it say it?

Read by hand from PyYAML's nodes rather than by `safe_load`, which takes the last of two equal keys, expands aliases
without bound and forgets the lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from control.errors import Problem

Path = tuple[str | int, ...]
"""Keys and indexes from the root; a trailing empty key means the key itself, not its value."""
MOST_BYTES = 256 * 1024
MOST_NODES = 10_000
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


@dataclass(frozen=True, slots=True)
class Place:
    """1-based line and column; 0, 0 is the whole text."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Text:
    """Plain data, the place of every value and key, and what was wrong with the text itself."""

    data: Any
    places: dict[Path, Place]
    problems: tuple[Problem, ...]

    def place(self, path: Path) -> Place:
        """The place of `path`, or of its nearest existing ancestor."""
        for length in range(len(path), -1, -1):
            if found := self.places.get(path[:length]):
                return found
        return Place(0, 0)


def read_text(raw: bytes, source: str) -> Text:
    """Reads one YAML document; an unreadable one has no data and at least one problem."""
    try:
        return _read(_decoded(raw), source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(0, 0)
        return _unreadable(source, f"not readable as one YAML document: {error.problem or error.context}", place)
    except (yaml.YAMLError, ValueError) as error:
        return _unreadable(source, str(error).splitlines()[0])
    except RecursionError:
        return _unreadable(source, "nested too deeply")


def _unreadable(source: str, message: str, place: Place = Place(0, 0)) -> Text:
    return Text(None, {}, (Problem(source, place.line, place.column, message),))


def _decoded(raw: bytes) -> str:
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{len(raw)} bytes are too many for a TrafficShift (at most {MOST_BYTES})")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(f"not UTF-8: byte 0x{raw[error.start]:02x} in line {line}") from None


def _read(text: str, source: str) -> Text:
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        builder = _Builder(loader, source)
        data = builder.value(node, ()) if node is not None else None
    finally:
        loader.dispose()
    return Text(data, builder.places, tuple(builder.problems))


class _Builder:
    """Turns nodes into plain data and notes places; counts nodes as expanded, which is what bounds aliases."""

    def __init__(self, loader: yaml.SafeLoader, source: str) -> None:
        self.loader = loader
        self.source = source
        self.places: dict[Path, Place] = {}
        self.problems: list[Problem] = []
        self._nodes = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise ValueError(f"more than {MOST_NODES} values once its aliases are expanded")
        self.places.setdefault(path, _place(node))
        match node:
            case yaml.MappingNode():
                return dict(self._entries(node, path))
            case yaml.SequenceNode():
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            case _:
                return self._scalar(node)

    def _entries(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        seen: dict[str, Place] = {}
        for key_node, value_node in node.value:
            key, place = str(key_node.value), _place(key_node)
            if key in seen:
                self._problem(place, f"{key} is given twice (first in line {seen[key].line})")
                continue
            seen[key] = place
            self.places[(*path, key, "")] = place
            yield key, self.value(value_node, (*path, key))

    def _scalar(self, node: yaml.Node) -> Any:
        if node.tag == _TIMESTAMP:
            return node.value
        try:
            return self.loader.construct_object(node)
        except (yaml.YAMLError, ValueError):
            self._problem(_place(node), f"{node.value!r} can't be read as {node.tag.rpartition(':')[2]}")
            return None

    def _problem(self, place: Place, message: str) -> None:
        self.problems.append(Problem(self.source, place.line, place.column, message))


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
