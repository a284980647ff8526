"""Which documents are live, given all files of a folder as they are now and what was live before?

Every document is judged alone: one that can't be read or is refused by `check` keeps its own last good version, and
all others apply. So a broken file never stops a change to another document, and nothing is taken out of the mesh by a
typing mistake; it goes when its text goes. New text that fits together comes in together (a new subset and the rule
that uses it); when a change would break a document that did not change itself, only the files that fit are taken.

Rejected: refusing a folder as a whole (one mistake would block a rollback), and refusing file by file (the same, in
small).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from mesh.istio.document import Document, read_documents
from mesh.istio.problem import DocumentKey, Problem

Check = Callable[[Sequence[Document]], Sequence[Problem]]
Documents = Mapping[DocumentKey, Document]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is there but can't be read, or a sub-folder that can't be listed, and why."""

    why: str


Content = bytes | Unreadable


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a file holds with what was read from it; kept so that an unchanged file is not read again."""

    raw: Content = field(repr=False)
    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class World:
    """The live documents, in the order of their files, and why others are not live in their newest form."""

    documents: tuple[Document, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, FileReading] = field(default_factory=dict)

    def by_key(self) -> dict[DocumentKey, Document]:
        return {document.key: document for document in self.documents}


EMPTY = World()


def merge(previous: World, files: Mapping[str, Content], check: Check) -> World:
    """The world of these files; what can't be used keeps the version that `previous` has.

    Invariant: `check` has nothing to say about the documents of the result, unless it had about those of `previous`.
    """
    readings = {file: _read(previous, file, raw) for file, raw in sorted(files.items())}
    before = previous.by_key()
    offered, problems = _offered(readings, before)
    kept = _kept(readings, offered, before)
    found = [problem for reading in readings.values() for problem in reading.problems] + problems
    live, refused = _accepted(before, {**kept, **offered}, check)
    return World(tuple(_ordered(live)), tuple(sorted({*found, *refused}, key=_by_place)), readings)


def _by_place(problem: Problem) -> tuple[str, int, int, str]:
    return (problem.file, problem.line, problem.column, problem.message)


def changed(previous: World, now: World) -> tuple[DocumentKey, ...]:
    """The documents that came, went or have another text."""
    before, after = previous.by_key(), now.by_key()
    return tuple(sorted(key for key in before.keys() | after.keys() if _revision(before, key) != _revision(after, key)))


def _revision(documents: Documents, key: DocumentKey) -> str | None:
    document = documents.get(key)
    return document.revision if document else None


def _read(previous: World, file: str, raw: Content) -> FileReading:
    known = previous.files.get(file)
    if known and known.raw == raw:
        return known
    if isinstance(raw, Unreadable):
        return FileReading(raw, (), (Problem(file, 0, 0, raw.why, "its documents stay as they were"),))
    documents, problems = read_documents(file, raw)
    return FileReading(raw, tuple(documents), tuple(problems))


def _offered(
    readings: Mapping[str, FileReading], before: Documents
) -> tuple[dict[DocumentKey, Document], list[Problem]]:
    """One document for each key. Of several, the one in the file where it lives already stays; else the first."""
    offered: dict[DocumentKey, Document] = {}
    problems: list[Problem] = []
    candidates = [document for reading in readings.values() for document in reading.documents]
    for document in sorted(candidates, key=lambda document: not _lives_in_its_file(document, before)):
        first = offered.setdefault(document.key, document)
        if first is not document:
            place = first.place()
            message = f"{document} is already in {first.file}:{place.line}"
            problems.append(document.problem((), message, "remove one of the two, or give it another name"))
    return offered, problems


def _lives_in_its_file(document: Document, before: Documents) -> bool:
    known = before.get(document.key)
    return known is not None and known.file == document.file


def _kept(readings: Mapping[str, FileReading], offered: Documents, before: Documents) -> dict[DocumentKey, Document]:
    """Live documents that their file, which has mistakes now, no longer gives: they may be the broken ones. What stands
    in a sub-folder that can't be listed is kept, too.
    """
    flawed = {file for file, reading in readings.items() if reading.problems}
    return {
        key: document
        for key, document in before.items()
        if key not in offered and not flawed.isdisjoint(_file_and_folders(document.file))
    }


def _file_and_folders(file: str) -> list[str]:
    path = PurePosixPath(file)
    return [str(each) for each in (path, *path.parents)]


def _accepted(before: Documents, wanted: Documents, check: Check) -> tuple[Documents, list[Problem]]:
    """The wanted documents, each that `check` blames replaced by its last good version until nothing is blamed."""
    live = dict(wanted)
    problems: list[Problem] = []
    while found := check(_ordered(live)):
        blamed = {key for problem in found for key in _blamed(problem, live.values())}
        refused = sorted(key for key in blamed if not _same(live[key], before.get(key)))
        if not refused:
            fitting, held_back = _fitting_files(before, live, check)
            return fitting, [*problems, *held_back]
        problems += [problem for problem in found if not _blamed(problem, live.values()).isdisjoint(refused)]
        for key in refused:
            _fall_back(live, before, key)
    return live, problems


def _ordered(documents: Documents) -> list[Document]:
    return sorted(documents.values(), key=lambda document: (document.file, document.offset, document.key))


def _same(left: Document | None, right: Document | None) -> bool:
    return left is not None and right is not None and left.text == right.text


def _fall_back(live: dict[DocumentKey, Document], before: Documents, key: DocumentKey) -> None:
    del live[key]
    if key in before:
        live[key] = before[key]


def _blamed(problem: Problem, documents: Iterable[Document]) -> set[DocumentKey]:
    """The documents that a problem is about: the one it names, else those that stand on its line."""
    if problem.document:
        return {document.key for document in documents if document.key == problem.document}
    return {
        document.key
        for document in documents
        if document.file == problem.file and (not problem.line or _stands_on(document, problem.line))
    }


def _stands_on(document: Document, line: int) -> bool:
    return document.line_offset < line <= document.line_offset + max(1, document.text.count(b"\n"))


def _fitting_files(before: Documents, wanted: Documents, check: Check) -> tuple[Documents, list[Problem]]:
    """The world of before with the changes of each file whose changes break nothing that lives."""
    pending = _changes(before, wanted)
    live: Documents = {key: wanted[key] if _same(wanted.get(key), old) else old for key, old in before.items()}
    known = set(check(_ordered(live)))
    refusals: dict[str, Problem] = {}
    progress = True
    while pending and progress:
        progress = False
        for file in sorted(pending):
            trial = _with(live, pending[file])
            broken = [problem for problem in check(_ordered(trial)) if problem not in known]
            if broken:
                refusals[file] = _held_back(file, broken[0])
                continue
            live, progress = trial, True
            del pending[file]
    return live, [*known, *(refusals[file] for file in pending)]


def _changes(before: Documents, wanted: Documents) -> dict[str, dict[DocumentKey, Document | None]]:
    """For each file the documents that it would change; None for those that would go."""
    changes: dict[str, dict[DocumentKey, Document | None]] = {}
    for key in before.keys() | wanted.keys():
        old, new = before.get(key), wanted.get(key)
        owner = new or old
        if owner and not _same(old, new):
            changes.setdefault(owner.file, {})[key] = new
    return changes


def _with(live: Documents, changes: Mapping[DocumentKey, Document | None]) -> dict[DocumentKey, Document]:
    return {key: document for key, document in {**live, **changes}.items() if document}


def _held_back(file: str, broken: Problem) -> Problem:
    return Problem(file, 0, 0, f"its changes are not applied, because then: {broken}", "change both together")
