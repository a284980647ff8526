"""What does a YAML text say, and where exactly does it say it?

Text to plain data with a tree of nodes beside it, so that others can name a place or replace a few bytes and leave the
rest alone. Parsing events come from PyYAML (libyaml's parser where it is built in); composing is ours because what a
stranger wrote must not hurt: size, depth and growth by aliases are bounded, duplicate keys are mistakes, and no tag
ever makes an object. A broken document doesn't hide the others: reading goes on behind its end.

Rejected: yaml.compose, which recurses without bound and says nothing about duplicate keys.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from mesh.istio.problem import Problem
from mesh.istio.yaml_nodes import (
    BYTE_ORDER_MARK,
    LINE_BREAK,
    AliasNode,
    Lines,
    ListNode,
    MapNode,
    Node,
    Scalar,
    merged_data,
    target_of,
)
from mesh.istio.yaml_scalars import UnknownTag, resolve

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_COLLECTION_TAGS = (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a stranger's text is read.

    Units: bytes of a file, levels of nesting, nodes of a file (keys count too), nodes that all aliases of a document
    stand for, problems of a file, broken documents of a file before the rest is left unread.
    """

    max_bytes: int = 1 << 20
    max_depth: int = 64
    max_nodes: int = 50_000
    max_alias_nodes: int = 10_000
    max_problems: int = 100
    max_broken: int = 20


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One document of a file: its characters `start` to `end`, comments included, and its root."""

    start: int
    end: int
    root: Node


@dataclass(frozen=True, slots=True)
class YamlFile:
    """`documents` are without fault; `flawed` can be read, too, but say something that is wrong (a key twice), so that
    more mistakes can be looked for in them.
    """

    text: str
    lines: Lines
    documents: tuple[YamlDocument, ...]
    problems: tuple[Problem, ...]
    flawed: tuple[YamlDocument, ...] = ()


def read_yaml(file: str, raw: bytes, limits: Limits = LIMITS) -> YamlFile:
    """All documents of a file that can be read, and a problem for each mistake in the others."""
    problem = _unreadable(file, raw, limits)
    if problem:
        return YamlFile("", Lines(""), (), (problem,))
    text = raw.decode()
    lines = Lines(text)
    first = itertools.islice(_UNPRINTABLE.finditer(text), limits.max_problems)
    unprintable = tuple(_control_character(file, lines, match) for match in first)
    if unprintable:
        return YamlFile(text, lines, (), unprintable)
    return _Reader(file, text, lines, limits).read()


def _unreadable(file: str, raw: bytes, limits: Limits) -> Problem | None:
    if len(raw) > limits.max_bytes:
        message = f"the file has more than {limits.max_bytes:,} bytes, the most that is read"
        return Problem(file, 0, 0, message, "split it into several files")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        place = Lines(before).at(len(before))
        message = f"not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}"
        return Problem(file, place.line, place.column, message, "save the file as UTF-8")
    return None


def _control_character(file: str, lines: Lines, match: re.Match[str]) -> Problem:
    place = lines.at(match.start())
    return Problem(file, place.line, place.column, f"control character U+{ord(match.group()):04X}", "remove it")


@dataclass(frozen=True, slots=True)
class _Mistake:
    """Something wrong at a character of the file."""

    index: int
    message: str
    hint: str = ""


class _Broken(Exception):
    """This document can't be read any further."""

    def __init__(self, index: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.mistake = _Mistake(index, message, hint)


class _TooMuch(_Broken):
    """The file has more than is read: nothing behind this is read either."""


class _Reader:
    """Reads document after document, and goes on at the next `---` when one is broken."""

    def __init__(self, file: str, text: str, lines: Lines, limits: Limits) -> None:
        self._file, self._text, self._lines, self._limits = file, text, lines, limits
        self._starts: list[int] = []
        self._within = False
        self._free = 0
        self._broken = 0
        self._nodes = itertools.count(1)
        self._roots: list[tuple[int, Node]] = []
        self._flawed: list[tuple[int, Node]] = []
        self._mistakes: list[_Mistake] = []

    def read(self) -> YamlFile:
        begin: int | None = len(BYTE_ORDER_MARK) if self._text.startswith(BYTE_ORDER_MARK) else 0
        while begin is not None:
            begin = self._read_from(begin)
        ends = dict(zip(self._starts, [*self._starts[1:], len(self._text)], strict=False))  # none in an empty file
        documents, flawed = (
            tuple(YamlDocument(start, ends[start], root) for start, root in roots)
            for roots in (self._roots, self._flawed)
        )
        problems = [self._problem(mistake) for mistake in self._mistakes[: self._limits.max_problems]]
        return YamlFile(self._text, self._lines, documents, tuple(sorted(problems)), flawed)

    def _read_from(self, begin: int) -> int | None:
        """Reads to the end (None) or to a broken document; then the character where to go on."""
        events: Iterator[Any] = yaml.parse(self._text[begin:], Loader=_LOADER)
        try:
            for event in events:
                if isinstance(event, yaml.DocumentStartEvent):
                    composer = _Composer(begin, events, self._lines, self._limits, self._nodes)
                    self._document(begin + _index(event.start_mark), composer)
                elif isinstance(event, yaml.DocumentEndEvent):
                    self._free = self._line_from(begin + _index(event.end_mark))
        except _TooMuch as much:
            self._go_on_after(much.mistake)
        except _Broken as broken:
            return self._go_on_after(broken.mistake)
        except yaml.YAMLError as error:
            return self._go_on_after(_syntax_error(begin, error, self._limits))
        return None

    def _document(self, start: int, composer: "_Composer") -> None:
        self._starts.append(start if self._starts else 0)
        self._within = True
        root = composer.root()
        self._within = False
        self._mistakes += composer.mistakes
        if root.data is not None:
            (self._flawed if composer.mistakes else self._roots).append((self._starts[-1], root))

    def _go_on_after(self, mistake: _Mistake) -> int | None:
        self._mistakes.append(mistake)
        self._broken += 1
        if not self._within:
            self._starts.append(self._free if self._starts else 0)
        self._within = False
        behind = _SEPARATOR.search(self._text, max(mistake.index, self._starts[-1] + 1))
        if not behind:
            return None
        self._free = behind.start()
        if self._broken < self._limits.max_broken:
            return self._free
        self._starts.append(self._free)
        self._mistakes.append(_Mistake(self._free, "too many broken documents: the rest of the file isn't read"))
        return None

    def _line_from(self, index: int) -> int:
        """The beginning of the first whole line from a character on."""
        if self._text[index - 1 : index] in ("", "\n", "\r"):
            return index
        line_break = LINE_BREAK.search(self._text, index)
        return line_break.end() if line_break else len(self._text)

    def _problem(self, mistake: _Mistake) -> Problem:
        place = self._lines.at(mistake.index)
        return Problem(self._file, place.line, place.column, mistake.message, mistake.hint)


def _syntax_error(begin: int, error: yaml.YAMLError, limits: Limits) -> _Mistake:
    if not isinstance(error, yaml.MarkedYAMLError):
        return _Mistake(begin, f"not valid YAML: {error}")
    mark = error.problem_mark or error.context_mark
    message = " ".join(part for part in (error.context, error.problem) if part)
    if "maximum nesting depth" in message:  # libyaml's own bound, met by its scanner before our first event
        return _Mistake(begin, f"nested more than {limits.max_depth} levels deep")
    hint = "YAML wants spaces, not tabs, for indentation" if "start any token" in message else ""
    return _Mistake(begin + (_index(mark) if mark else 0), f"not valid YAML: {message}", hint)


def _index(mark: Any) -> int:
    return int(mark.index)


class _Composer:
    """The events of one document to nodes. Mistakes that leave the structure readable are collected, others raise."""

    def __init__(self, begin: int, events: Iterator[Any], lines: Lines, limits: Limits, nodes: Iterator[int]) -> None:
        self._begin, self._events, self._lines, self._limits = begin, events, lines, limits
        self._nodes = nodes
        self._anchors: dict[str, Node | None] = {}
        self._alias_nodes = 0
        self.mistakes: list[_Mistake] = []

    def root(self) -> Node:
        return self._compose(next(self._events), depth=0)

    def _compose(self, event: Any, depth: int) -> Node:
        start, end = self._begin + _index(event.start_mark), self._begin + _index(event.end_mark)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor, start, end)
        self._count(start, depth)
        if not event.anchor:
            return self._own(event, start, end, depth)
        self._anchors[event.anchor] = None
        node = self._anchors[event.anchor] = self._own(event, start, end, depth)
        return node

    def _count(self, start: int, depth: int) -> None:
        if depth > self._limits.max_depth:
            raise _Broken(start, f"nested more than {self._limits.max_depth} levels deep")
        if next(self._nodes) > self._limits.max_nodes:
            message = f"the file has more than {self._limits.max_nodes:,} values; from here on it is not read"
            raise _TooMuch(start, message, "split it into several files")

    def _own(self, event: Any, start: int, end: int, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, start, end)
        if event.tag not in _COLLECTION_TAGS:
            self._mistake(start, f"the tag {event.tag} isn't allowed", "remove the tag")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(ListNode(start, end, flow=bool(event.flow_style)), depth)
        return self._map(MapNode(start, end, flow=bool(event.flow_style)), depth)

    def _alias(self, anchor: Any, start: int, end: int) -> AliasNode:
        if anchor not in self._anchors:
            raise _Broken(start, f"the alias *{anchor} has no anchor &{anchor} before it")
        target = self._anchors[anchor]
        if target is None:
            raise _Broken(start, f"the alias *{anchor} stands inside its own anchor")
        self._alias_nodes += target.size
        if self._alias_nodes > self._limits.max_alias_nodes:
            message = f"the document's aliases stand for more than {self._limits.max_alias_nodes:,} nodes"
            raise _Broken(start, message, "write the values out")
        target.shared = True
        return AliasNode(start, end, target.data, size=target.size, target=target)

    def _scalar(self, event: Any, start: int, end: int) -> Scalar:
        node = Scalar(start, end, text=event.value, style=event.style or "")
        try:
            node.data = resolve(event.value, plain=not node.style, tag=event.tag)
        except UnknownTag:
            self._mistake(start, f"the tag {event.tag} isn't allowed", "remove the tag")
        except ValueError:
            self._mistake(start, f"{event.value[:40]!r} doesn't fit its tag {event.tag}", "remove the tag")
        return node

    def _list(self, node: ListNode, depth: int) -> ListNode:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            node.items.append(self._compose(event, depth + 1))
        node.end = self._begin + _index(event.end_mark)
        node.data = [item.data for item in node.items]
        node.size += sum(item.size for item in node.items)
        return node

    def _map(self, node: MapNode, depth: int) -> MapNode:
        node.bare = node.flow and node.start == node.end
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._compose(event, depth + 1)
            value = self._compose(next(self._events), depth + 1)
            node.size += key.size + value.size
            node.pairs.append((key, value))
            self._enter(node, key, value)
        node.end = self._begin + _index(event.end_mark)
        node.data = merged_data(node)
        return node

    def _enter(self, node: MapNode, key: Node, value: Node) -> None:
        if not isinstance(key, Scalar) or key.data is None:
            self._mistake(key.start, "a key must be a word", "quote it if it is meant as text")
        elif key.text == "<<" and not key.style:
            self._merge(node, key, value)
        elif key.text in node.entries:
            first = self._lines.at(node.entries[key.text][0].start)
            message = f"the key {key.text!r} appears twice, first in line {first.line}, column {first.column}"
            self._mistake(key.start, message, "remove one of the two")
        else:
            node.entries[key.text] = (key, value)

    def _merge(self, node: MapNode, key: Scalar, value: Node) -> None:
        source = target_of(value)
        sources = [target_of(item) for item in source.items] if isinstance(source, ListNode) else [source]
        maps = [item for item in sources if isinstance(item, MapNode)]
        if node.merged:
            self._mistake(key.start, "the merge key << appears twice in one mapping", "use one list: <<: [*a, *b]")
        if len(maps) < len(sources):
            self._mistake(key.start, "the merge key << takes a mapping or a list of mappings", "")
        node.merged += maps

    def _mistake(self, index: int, message: str, hint: str) -> None:
        self.mistakes.append(_Mistake(index, message, hint))
