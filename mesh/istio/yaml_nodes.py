"""Which characters of a text does each piece of its data stand on?

A node knows its characters in the file and the plain data that it stands for (dict, list, str, int, float, bool, None).
Nodes are built once by the composer and only read afterwards.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mesh.istio.problem import Place

Data: TypeAlias = Any
Path: TypeAlias = Sequence[str | int]
BYTE_ORDER_MARK = "\ufeff"
LINE_BREAK = re.compile(r"\r\n|\n|\r")


class Lines:
    """Lines and columns of a text's characters, as an editor shows them: a byte order mark takes no column."""

    __slots__ = ("_mark", "_starts")

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self._mark = text.startswith(BYTE_ORDER_MARK)

    def at(self, index: int) -> Place:
        line = bisect_right(self._starts, index)
        before = index - self._starts[line - 1]
        return Place(line, max(1, before) if line == 1 and self._mark else before + 1)


@dataclass(slots=True, eq=False)
class Node:
    """Characters `start` to `end` and their data.

    `shared` is True when an alias elsewhere stands for this very node. `size` counts nodes with aliases written out.
    """

    start: int
    end: int
    data: Data = None
    shared: bool = False
    size: int = 1


@dataclass(slots=True, eq=False)
class Scalar(Node):
    """`text` is what YAML reads; `style` is a quote, `|` or `>`, or empty for a plain scalar."""

    text: str = ""
    style: str = ""


@dataclass(slots=True, eq=False)
class ListNode(Node):
    items: list[Node] = field(default_factory=list)
    flow: bool = False


@dataclass(slots=True, eq=False)
class MapNode(Node):
    """`pairs` are all keys and values as written, `entries` those with a key of their own, `merged` what << brings in.

    `bare` is True for the one pair of `[key: value]`, a flow mapping that has no braces of its own.
    """

    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    entries: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    merged: list["MapNode"] = field(default_factory=list)
    flow: bool = False
    bare: bool = False


@dataclass(slots=True, eq=False)
class AliasNode(Node):
    target: Node = field(default_factory=lambda: Node(0, 0))


def target_of(node: Node) -> Node:
    """The node itself, or the one that it stands for as an alias."""
    return node.target if isinstance(node, AliasNode) else node


def merged_data(node: MapNode) -> dict[str, Data]:
    """The mapping's data: its own entries win over merged ones, earlier merged mappings over later ones."""
    data: dict[str, Data] = {}
    for source in reversed(node.merged):
        data.update(source.data)
    data.update({name: value.data for name, (_, value) in node.entries.items()})
    return data


def nearest(root: Node, path: Path) -> int:
    """The character where `path` stands, or its nearest existing ancestor: keys for entries, starts for items."""
    return _nearest(root, path)[0]


def nearest_value(root: Node, path: Path) -> int:
    """The character where the value at `path` begins, or that of its nearest existing ancestor."""
    return _nearest(root, path)[1].start


def _nearest(root: Node, path: Path) -> tuple[int, Node]:
    at, node = root.start, root
    for step in path:
        found = _step(target_of(node), step)
        if found is None:
            break
        at, node = found
    return at, node


def _step(node: Node, step: str | int) -> tuple[int, Node] | None:
    if isinstance(node, ListNode) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step].start, node.items[step]
    if isinstance(node, MapNode):
        return next(_entries(node, str(step)), None)
    return None


def _entries(node: MapNode, name: str) -> Iterator[tuple[int, Node]]:
    if name in node.entries:
        key, value = node.entries[name]
        yield key.start, value
    for source in node.merged:
        yield from _entries(source, name)
