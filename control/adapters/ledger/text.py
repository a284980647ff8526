"""How does a ledger look as text? YAML that people read and edit: a few lines a run, one a test.

What stands in a file is never written anew: an entry is added below, so that comments and hand-made changes stay. The
text is read by the reader of mesh documents, which bounds what a stranger's text may do and knows every place.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from control.engine.ledger import LedgerEntry, Misfit, from_plain, to_plain
from control.errors import Problem, SpecError
from control.view.texts import yaml_text
from mesh.istio.yaml_nodes import Lines, Node, nearest_value
from mesh.istio.yaml_text import Limits, YamlDocument, read_yaml

HEAD = """\
# What the shifts of this service left behind, newest last. Tidegate adds an entry when one ends, and takes the next
# one's priors from here. Entries may be changed or removed and comments added: what stands here stays as it is.
entries:
"""
LIMITS = Limits(max_bytes=8 << 20, max_nodes=400_000)
INDENTS = ("  ", "")
EMPTIED = re.compile(r"(?m)^entries:[ \t]*(?:\[[ \t]*\]|null|~)([ \t]*(?:#.*)?)$")
"""All entries were removed by hand: the key stays, and new ones come below it."""
KEPT = "the file is left as it is, and nothing is added to it"


def read_entries(raw: bytes, source: str) -> tuple[LedgerEntry, ...]:
    """Raises: SpecError with the place of each mistake."""
    read = read_yaml(source, raw, LIMITS)
    if read.problems:
        raise SpecError([Problem(source, each.line, each.column, each.message, KEPT) for each in read.problems])
    if len(read.documents) > 1:
        place = read.lines.at(read.documents[1].start)
        raise SpecError([Problem(source, place.line, place.column, "a second document begins here", KEPT)])
    return tuple(entry for document in read.documents for entry in _entries(document, read.lines, source))


def _entries(document: YamlDocument, lines: Lines, source: str) -> Iterator[LedgerEntry]:
    data = document.root.data
    if not isinstance(data, Mapping) or set(data) - {"entries"}:
        raise _misfit(document.root, lines, source, (), "expected the one key entries")
    listed = data.get("entries") or []
    if not isinstance(listed, list):
        raise _misfit(document.root, lines, source, ("entries",), "expected a list")
    for number, each in enumerate(listed):
        try:
            yield from_plain(each)
        except Misfit as misfit:
            where = ("entries", number, *misfit.path)
            raise _misfit(document.root, lines, source, where, misfit.message) from None


def _misfit(root: Node, lines: Lines, source: str, path: tuple[str | int, ...], message: str) -> SpecError:
    place = lines.at(nearest_value(root, path))
    named = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
    said = f"{named}: {message}" if named else message
    return SpecError([Problem(source, place.line, place.column, said, KEPT)])


def with_entry(raw: bytes, entry: LedgerEntry, source: str) -> bytes:
    """The text with one more entry at its end, or as it is when it has that entry.

    Raises: SpecError for a text that can't be read, or that no entry can be added to as it is laid out.
    """
    before = read_entries(raw, source)
    if entry.key in {each.key for each in before}:
        return raw
    wanted = (*before, from_plain(to_plain(entry)))
    for text in _begun(raw.decode()):
        for indent in INDENTS:
            longer = (text + entry_text(entry, indent)).encode()
            if _says(longer, wanted, source):
                return longer
    last = raw.count(b"\n") + 1
    raise SpecError([Problem(source, last, 1, "no entry can be added here", "let entries be a list in block style")])


def _begun(text: str) -> tuple[str, ...]:
    """What an entry may be added to: the text, or the text with the key that it lacks."""
    if not text.strip():
        return (HEAD,)
    ended = text if text.endswith("\n") else text + "\n"
    return ended, ended + "entries:\n", EMPTIED.sub(r"entries:\1", ended)


def _says(raw: bytes, wanted: tuple[LedgerEntry, ...], source: str) -> bool:
    try:
        return read_entries(raw, source) == wanted
    except SpecError:
        return False


def entry_text(entry: LedgerEntry, indent: str) -> str:
    """One item of the list, each test on a line of its own."""
    plain = to_plain(entry)
    tests = plain.pop("tests", [])
    block = [f"{key}: {flow(value)}" for key, value in plain.items()]
    if tests:
        block += ["tests:", *(f"  - {flow(test)}" for test in tests)]
    return "".join(f"{indent}{'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(block))


def flow(value: Any) -> str:
    """A value on one line. Example: {"requests": 410, "bad": 14} is {requests: 410, bad: 14}."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, value)) + "]"
        case _:
            return yaml_text(value).strip()
