"""Where in a text does a weight stand, or where would it have to stand?

Edits are replacements of characters of one document's text. They touch the digits of a weight and nothing else, or add
a `weight` key in the style of the mapping that lacks one. A piece of text that means something else too is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mesh.istio.document import Document
from mesh.istio.problem import WeightRefused
from mesh.istio.yaml_nodes import LINE_BREAK, AliasNode, ListNode, MapNode, Node, Path, Scalar

_HINT = "give each destination of this route a weight of its own"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` of the document's text become `text`."""

    start: int
    end: int
    text: str


def edited(text: str, edits: list[Edit]) -> str:
    """The text after all edits, which don't overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def weight_edits(document: Document, route: Path, weights: Mapping[int, int]) -> list[Edit]:
    """Edits that give the destinations at these positions of a route list these weights. Raises WeightRefused."""
    found: list[Edit] = []
    text = document.text.decode()
    for position, weight in weights.items():
        path = (*route, position)
        writer = _Writer(document, text, path)
        found += writer.edits(weight)
    return found


class _Writer:
    """Finds the edits for one destination's weight."""

    def __init__(self, document: Document, text: str, path: Path) -> None:
        self._document, self._text, self._path = document, text, path

    def edits(self, weight: int) -> list[Edit]:
        entry = self._own_entry()
        if "weight" in entry.entries:
            return [self._moved(self._replacement(self._own(entry, "weight"), weight))]
        if "weight" in entry.data:
            raise self._refusal("comes from a merge key (<<)")
        return [self._moved(edit) for edit in self._insertion(entry, weight)]

    def _moved(self, edit: Edit) -> Edit:
        """File characters to the document's own."""
        offset = self._document.char_offset
        return Edit(edit.start - offset, edit.end - offset, edit.text)

    def _own_entry(self) -> MapNode:
        node = self._document.root
        for step in self._path:
            node = self._own(node, step)
        assert isinstance(node, MapNode), "route_view has read a destination here"
        return node

    def _own(self, node: Node, step: str | int) -> Node:
        """The child at `step` if its bytes belong to this place alone."""
        if isinstance(node, MapNode) and str(step) not in node.entries:
            raise self._refusal("comes from a merge key (<<)")
        child = _child(node, step)
        if isinstance(child, AliasNode):
            raise self._refusal("comes from an alias (*)")
        if child.shared:
            raise self._refusal("is used by an alias elsewhere in the document too")
        return child

    def _refusal(self, why: str) -> WeightRefused:
        place = self._document.place((*self._path, "weight"))
        where = f"{self._document.file}:{place.line}:{place.column}"
        return WeightRefused(f"{where}: the weight of this destination {why}", _HINT)

    def _slice(self, start: int, end: int) -> str:
        offset = self._document.char_offset
        return self._text[start - offset : end - offset]

    def _replacement(self, node: Node, weight: int) -> Edit:
        assert isinstance(node, Scalar), "route_view has read a number here"
        quote = len(node.style)
        start, end = node.end - quote - len(node.text), node.end - quote
        if self._slice(start - quote, node.end) != f"{node.style}{node.text}{node.style}":
            raise self._refusal("is written in a way that can't be changed in place")
        return Edit(start, end, str(weight) if node.text else f" {weight}")

    def _insertion(self, entry: MapNode, weight: int) -> list[Edit]:
        last_key, last_value = entry.pairs[-1]
        end = _last_character(last_value)
        if not entry.flow:
            return [self._block_line(entry.pairs[0][0].start, end, weight)]
        name = '"weight"' if isinstance(last_key, Scalar) and last_key.style == '"' else "weight"
        at = last_value.end if end is None else end
        if entry.bare:
            return [Edit(entry.start, entry.start, "{"), Edit(at, at, f", {name}: {weight}}}")]
        return [Edit(at, at, f", {name}: {weight}")]

    def _block_line(self, first: int, end: int | None, weight: int) -> Edit:
        """A line of its own behind the last one of the mapping, or before its first when the end isn't clear."""
        indent = " " * (self._document.lines.at(first).column - 1)
        line_break = LINE_BREAK.search(self._text)
        newline = line_break.group() if line_break else "\n"
        if end is None:
            return Edit(first, first, f"weight: {weight}{newline}{indent}")
        behind = LINE_BREAK.search(self._text, end - self._document.char_offset)
        at = self._document.char_offset + (behind.start() if behind else len(self._text))
        return Edit(at, at, f"{newline}{indent}weight: {weight}")


def _child(node: Node, step: str | int) -> Node:
    if isinstance(node, ListNode) and isinstance(step, int):
        return node.items[step]
    assert isinstance(node, MapNode)
    return node.entries[str(step)][1]


def _last_character(node: Node) -> int | None:
    """Where the written value ends, or None when its marks don't say (nothing written, or a block of text)."""
    if isinstance(node, Scalar) and (node.style in ("|", ">") or node.start == node.end):
        return None
    children = list(_block_children(node))
    return _last_character(children[-1]) if children else node.end


def _block_children(node: Node) -> Iterator[Node]:
    """Children of a collection that has no closing bracket of its own."""
    if isinstance(node, ListNode) and not node.flow:
        yield from node.items
    if isinstance(node, MapNode) and (node.bare or not node.flow):
        yield from (value for _, value in node.pairs)
