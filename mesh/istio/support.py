"""What in a document does the local mesh not support? Each field is looked up in the support table, none is ignored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any

from mesh.istio.document import Document
from mesh.istio.problem import Problem
from mesh.istio.support_table import TABLE, Field
from mesh.istio.support_types import OBJECT, Type

Path = tuple[str | int, ...]
_LIST, _MAP = "[]", "{}"
_SHOWN = 8


@dataclass(slots=True)
class _Node:
    """A place in the tree of a kind's fields. `item` is what a list or a map holds."""

    children: dict[str, "_Node"] = field(default_factory=dict)
    item: "_Node | None" = None
    shape: str = ""
    type: Type = OBJECT
    refused: str = ""
    required: bool = False


@cache
def _tree(kind: str) -> _Node:
    root = _Node()
    for row in TABLE[kind]:
        _plant(root, row)
    return root


def _plant(root: _Node, row: Field) -> None:
    node = root
    for segment in row.path.split("."):
        name = segment.removesuffix(_LIST).removesuffix(_MAP)
        node = outer = node.children.setdefault(name, _Node())
        if name != segment:
            node.shape = segment[-2:]
            node.item = node = node.item or _Node()
    outer.required = outer.required or row.required
    node.type, node.refused = row.type, row.refused


def unsupported(document: Document) -> list[Problem]:
    """Everything in the document that the table doesn't have as supported: all problems at once, in document order.

    Invariant: a document without problems has every required field, and each field has a value of its type.
    """
    found = _object(document.data, _tree(document.kind), ())
    return [document.problem(*finding) for finding in found]


_Finding = tuple[Path, str, str]


def _object(data: Any, node: _Node, path: Path) -> Iterator[_Finding]:
    if not isinstance(data, Mapping):
        yield path, f"{dotted(path)} must be an object, not {shown(data)}", ""
        return
    for name, value in data.items():
        child = node.children.get(name)
        if child is None:
            yield (*path, name), f"unknown field {name!r}{_inside(path)}", _suggestion(str(name), node.children)
        else:
            yield from _value(value, child, (*path, name))
    for name, child in node.children.items():
        if child.required and name not in data:
            yield path, f"{dotted((*path, name))} is missing", ""


def _value(value: Any, node: _Node, path: Path) -> Iterator[_Finding]:
    if node.refused:
        yield path, f"{dotted(path)} is {node.refused}", ""
    elif node.shape == _LIST and node.item is not None:
        yield from _list(value, node, path)
    elif node.shape == _MAP and node.item is not None:
        yield from _map(value, node.item, path)
    elif node.children:
        yield from _object(value, node, path)
    elif objection := node.type.objection(value):
        yield path, f"{dotted(path)} must be {objection}, not {shown(value)}", ""


def _list(value: Any, node: _Node, path: Path) -> Iterator[_Finding]:
    if not isinstance(value, list):
        yield path, f"{dotted(path)} must be a list, not {shown(value)}", ""
    elif node.required and not value:
        yield path, f"{dotted(path)} must not be empty", ""
    elif node.item is not None:
        for index, item in enumerate(value):
            yield from _value(item, node.item, (*path, index))


def _map(value: Any, item: _Node, path: Path) -> Iterator[_Finding]:
    if not isinstance(value, Mapping):
        yield path, f"{dotted(path)} must be an object, not {shown(value)}", ""
        return
    for name, entry in value.items():
        yield from _value(entry, item, (*path, name))


def dotted(path: Path) -> str:
    """A path as people write it.

    Example: dotted(("spec", "http", 0, "timeout")) == "spec.http[0].timeout"
    """
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "the document"


def shown(value: Any) -> str:
    """A value in a sentence, cut when it is long."""
    match value:
        case None:
            return "nothing (leave the field out, or write {} for an empty block)"
        case bool():
            return str(value).lower()
        case str() | int() | float():
            text = repr(value)
            return text if len(text) <= 60 else f"{text[:57]}..."
        case list():
            return "a list"
        case _:
            return "an object"


def _inside(path: Path) -> str:
    return f" in {dotted(path)}" if path else ""


def _suggestion(name: str, known: Mapping[str, _Node]) -> str:
    if close := get_close_matches(name, known, n=1, cutoff=0.6):
        return f"did you mean {close[0]!r}?"
    lower = {other.lower(): other for other in known}
    if name.lower().replace("_", "") in lower:
        return f"did you mean {lower[name.lower().replace('_', '')]!r}?"
    names = sorted(name for name, node in known.items() if not node.refused)
    more = ", ..." if len(names) > _SHOWN else ""
    return f"fields here: {', '.join(names[:_SHOWN])}{more}"
