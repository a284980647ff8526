"""What differs between two versions of a document, in the words of its fields?

List items are paired by what people call them (a route by its name, a destination by host and subset) and only else by
position, so that a route put in front doesn't read as a change of all routes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mesh.istio.document import Document
from mesh.istio.yaml_nodes import Data


class _Absent(StrEnum):
    """The value of a field that is not there; `null` is there."""

    ABSENT = "absent"


ABSENT = _Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Change:
    """One field: its path for people (`spec.http[primary].route[translator v2].weight`) and its value before and after.

    A value that is not there is ABSENT.
    """

    path: str
    before: Data
    after: Data

    def __str__(self) -> str:
        if self.before is ABSENT:
            return f"{self.path}: added {_short(self.after)}"
        if self.after is ABSENT:
            return f"{self.path}: removed {_short(self.before)}"
        return f"{self.path}: {_short(self.before)} -> {_short(self.after)}"


def diff(before: Document | None, after: Document | None) -> tuple[Change, ...]:
    """The changes of data from one document to the other, in the order of the newer one. None: there is no document."""
    old, new = (ABSENT if document is None else dict(document.data) for document in (before, after))
    return tuple(_changes("", old, new))


def _changes(path: str, before: Data, after: Data) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_mappings(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(path, before, after)
    elif before != after or type(before) is not type(after):
        yield Change(path or "document", before, after)


def _of_mappings(path: str, before: dict[str, Data], after: dict[str, Data]) -> Iterator[Change]:
    for name in [*after, *(name for name in before if name not in after)]:
        yield from _changes(f"{path}.{name}" if path else name, before.get(name, ABSENT), after.get(name, ABSENT))


def _of_lists(path: str, before: list[Data], after: list[Data]) -> Iterator[Change]:
    label = _common_label(before, after)
    if label is None:
        yield from _by_position(path, before, after)
        return
    old, new = ({label(item): item for item in items} for items in (before, after))
    for name in [*new, *(name for name in old if name not in new)]:
        yield from _changes(f"{path}[{name}]", old.get(name, ABSENT), new.get(name, ABSENT))
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        yield Change(f"{path} (order)", [*old], [*new])


def _by_position(path: str, before: list[Data], after: list[Data]) -> Iterator[Change]:
    for at in range(max(len(before), len(after))):
        old, new = (items[at] if at < len(items) else ABSENT for items in (before, after))
        yield from _changes(f"{path}[{at}]", old, new)


Label = Callable[[Data], str | None]


def _common_label(before: Sequence[Data], after: Sequence[Data]) -> Label | None:
    """The first way of naming items that tells all of them apart, in both lists."""
    return next((label for label in _LABELS if _tells_apart(label, before) and _tells_apart(label, after)), None)


def _tells_apart(label: Label, items: Sequence[Data]) -> bool:
    names = [label(item) for item in items]
    return None not in names and len(set(names)) == len(names)


def _name(item: Data) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


def _destination(item: Data) -> str | None:
    """Host and subset, with the port when one is given."""
    destination = item.get("destination") if isinstance(item, dict) else None
    if not isinstance(destination, dict) or "host" not in destination:
        return None
    port = destination.get("port")
    number = port.get("number") if isinstance(port, dict) else None
    return " ".join(str(part) for part in (destination["host"], destination.get("subset"), number) if part)


def _port_name(item: Data) -> str | None:
    port = item.get("port") if isinstance(item, dict) else None
    return _name(port)


def _word(item: Data) -> str | None:
    return item if isinstance(item, str) else None


_LABELS: tuple[Label, ...] = (_name, _destination, _port_name, _word)


def _short(value: Data) -> str:
    """A value on one line, as YAML writes it, cut where it gets long."""
    text = _flow(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _flow(value: Data) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(part) for part in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)
