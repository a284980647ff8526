"""What changes in which document with the next step? Its fields by their paths, its lines with their numbers, and a
sentence a document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from fractions import Fraction

from control.view import format as words
from control.view.model import DiffLine, DiffView, DocumentDiff, FieldChange
from mesh.istio.diff import ABSENT, Change

CONTEXT = 2
OBSERVES = "observes: nothing is written"


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document's text before and after, and what that means for its fields. `first_line` is the line of the file that
    the text begins on.
    """

    document: str
    file: str
    first_line: int
    before: str
    after: str
    fields: tuple[Change, ...] = ()


def diff_view(
    name: str,
    *,
    from_share: Fraction | None,
    to_share: Fraction,
    changes: Sequence[DocumentChange],
    observes: bool = False,
) -> DiffView:
    documents = tuple(_document_diff(change) for change in changes)
    changed = sum(1 for document in documents if document.lines)
    old, new = words.percent(from_share), words.percent(to_share)
    headline = f"from {old} to {new}: {words.plural(changed, 'document')} would change"
    headline = f"{OBSERVES}; a step {headline}" if observes else headline
    return DiffView(name, headline, old, new, documents)


def nothing_next(name: str, first: Fraction) -> DiffView:
    """Of a shift that was rolled back. `first`: the share that another try begins at."""
    headline = f"no next step; tidegate retry would begin at {words.percent(first)}"
    return DiffView(name, headline, words.percent(Fraction(0)), words.percent(Fraction(0)), ())


def _document_diff(change: DocumentChange) -> DocumentDiff:
    lines = diff_lines(change.before, change.after, change.first_line)
    changed = sum(1 for line in lines if line.sign == "+")
    sentence = f"{words.plural(changed, 'line')} would change" if changed else "has these weights already"
    return DocumentDiff(change.document, change.file, sentence, tuple(map(_field, change.fields)), lines)


def _field(change: Change) -> FieldChange:
    before, after = (None if value is ABSENT else value for value in (change.before, change.after))
    return FieldChange(change.path, before, after, str(change))


def diff_lines(before: str, after: str, first_line: int = 1) -> tuple[DiffLine, ...]:
    """Changed lines with `CONTEXT` lines around them, numbered as in the file before (added ones: as after)."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[DiffLine] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        for tag, old_from, old_to, new_from, new_to in group:
            kept = tag == "equal"
            lines += _numbered(" " if kept else "-", old, old_from, old_to, first_line)
            lines += [] if kept else _numbered("+", new, new_from, new_to, first_line)
    return tuple(lines)


def _numbered(sign: str, lines: Sequence[str], start: int, stop: int, first_line: int) -> list[DiffLine]:
    return [DiffLine(sign, first_line + index, lines[index]) for index in range(start, stop)]
