"""Into which sentences does a text fall?

A text is a row of pieces: sentences, which go to an engine, and the gaps between them (blanks, newlines), which stay as
they are. A boundary is a newline, or a full stop (or the like) before a blank and something that begins a sentence.
Abbreviations, initials and shielded spans (tags, code, placeholders) hold no boundary.

Invariants: the pieces put together are the text; the time is linear in its length (each run of stops and of blanks is
read once: possessive, and begun only where it begins).
"""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLANKS = re.compile(r"\s++")
_NEWLINE = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_STOP = re.compile(
    r"""(?<![.!?…])[.!?…]++["'”’»)\]]*+(?P<gap>\s++)(?=["'“‘«(\[¿¡]*+[^\W_a-zß-öø-ÿ])"""
    r"""|[。！？]["'”’」』]*+(?P<none>\s*+)"""
)
_LAST_WORD = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)\.$")
_ENGLISH = ("mr", "mrs", "ms", "dr", "prof", "st", "mt", "vs", "approx", "dept", "fig", "no", "vol", "e.g", "i.e")
_SPANISH = ("sr", "sra", "srta", "dra", "d", "dña", "ud", "uds", "avda", "núm", "pág", "p.ej")
_FRENCH = ("mme", "mlle", "mgr", "cf", "art", "p.ex")
ABBREVIATIONS = frozenset((*_ENGLISH, *_SPANISH, *_FRENCH))


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence and the gap that follows it. The first piece of a text may have an empty sentence.

    `shielded`: the spans of the sentence that hold no boundary and must stay as they are, counted from its start.
    """

    sentence: str
    gap: str
    shielded: tuple[tuple[int, int], ...] = ()


def split_sentences(text: str, shielded: Sequence[tuple[int, int]] = ()) -> list[Piece]:
    """The pieces of `text`. `shielded` spans are sorted, do not overlap, and are never cut."""
    pieces: list[Piece] = []
    start = 0
    for gap_start, gap_end in [*_gaps(text), (len(text), len(text))]:
        if gap_start < start or _inside(shielded, gap_start, gap_end):
            continue
        if gap_end > start:
            spans = tuple((a - start, b - start) for a, b in shielded if start <= a and b <= gap_start)
            pieces.append(Piece(text[start:gap_start], text[gap_start:gap_end], spans))
        start = gap_end
    return pieces


def _gaps(text: str) -> list[tuple[int, int]]:
    lead, tail = len(text) - len(text.lstrip()), len(text.rstrip())
    if tail == 0:
        return [(0, len(text))] if text else []
    found = [(0, lead), (tail, len(text))] if lead else [(tail, len(text))]
    found += [match.span() for match in _BLANKS.finditer(text, lead, tail) if _NEWLINE.search(match[0])]
    for match in _STOP.finditer(text, lead, tail):
        name = "none" if match["gap"] is None else "gap"
        if name == "none" or not _abbreviated(text[max(0, match.start() - 24) : match.start() + 1]):
            found.append(match.span(name))
    return sorted(span for span in found if span[1] > span[0] or 0 < span[0] < tail)


def _abbreviated(before_blank: str) -> bool:
    match = _LAST_WORD.search(before_blank)
    if not match:
        return False
    word = match[1].casefold()
    return word in ABBREVIATIONS or (len(word) == 1 and match[1].isupper())


def _inside(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    last = bisect.bisect_left(spans, (end, 0)) - 1
    return last >= 0 and spans[last][1] > start
