"""Which mesh documents and shifts do a person's files hold? Read from files and folders, with every mistake in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from control.errors import NotFound, Problem
from mesh.istio.document import Document, read_documents
from mesh.istio.problem import Problem as MeshProblem

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
SHIFT_MARK = b"TrafficShift"
MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class MeshFiles:
    """What was read. `texts` is by file as it is named in problems; `shifts` are the files that hold a TrafficShift."""

    documents: tuple[Document, ...]
    shifts: tuple[str, ...]
    problems: tuple[Problem, ...]
    texts: Mapping[str, bytes]


def read_files(paths: Sequence[Path]) -> MeshFiles:
    """The documents of files and folders. Raises NotFound when there is no file to read."""
    documents: list[Document] = []
    problems: list[Problem] = []
    texts = {str(file): _bytes(file) for file in _files(paths)}
    if not texts:
        raise NotFound(f"no YAML file in {', '.join(str(path) for path in paths)}", "name a file or a folder of *.yaml")
    shifts = tuple(name for name, raw in texts.items() if is_shift(raw))
    for name, raw in texts.items():
        if name not in shifts:
            found, mistakes = read_documents(name, raw)
            documents += found
            problems += map(as_problem, mistakes)
    return MeshFiles(tuple(documents), shifts, tuple(problems), texts)


def is_shift(raw: bytes) -> bool:
    """Whether a text means to be a TrafficShift: it says so on a line of its own."""
    return any(line.split(b"#")[0].split() in ([b"kind:", SHIFT_MARK],) for line in raw.splitlines())


def as_problem(found: MeshProblem) -> Problem:
    """The mesh's problem as ours: the same fields."""
    return Problem(found.file, found.line, found.column, found.message, found.hint)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        else:
            yield path


def _bytes(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(MAX_BYTES)
