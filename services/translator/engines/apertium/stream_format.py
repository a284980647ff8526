"""How are a caller's characters kept apart from the engine's own marks?

Apertium's stream gives meaning to brackets, `^`, `$`, `/`, `@`, `*`, `#`, `~` and more. None of a caller's ever gets
in: every special character and every shielded span becomes a superblank `[s0]`, `[s1]`, ... and is put back afterwards.
So any `*`, `#` or `@` that comes out is the engine's mark on a word that it did not know, could not generate or could
not transfer, and `\\<prn\\>` is grammar that it left in the text. A rule may drop a blank; that is noticed, since each
must come out exactly once.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_SPECIAL = re.compile(r"[\[\]{}^$/\\@<>*#~%+=_|&\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+")
_BLANK = re.compile(r"\[s(\d+)\]")
_MARKED = re.compile(r"[*#@](?=\w|\\<)")
_MARK = re.compile(r"[*#@]|\\<[^<>]*\\>")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text in the engine's format: `body` has a numbered blank for each of the `originals`."""

    body: str
    originals: tuple[str, ...]
    words: int

    def plain_parts(self) -> list[str]:
        """What stands between the blanks."""
        return _BLANK.split(self.body)[::2]


def encode(text: str, shielded: Sequence[tuple[int, int]] = ()) -> Encoded:
    """The text with all that the engine must not read put into blanks. Words are counted outside of them."""
    spans = _merged(text, shielded)
    originals = tuple(text[start:end] for start, end in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    plain = [unicodedata.normalize("NFC", text[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    body = plain[0] + "".join(f"[s{i}]{part}" for i, part in enumerate(plain[1:]))
    return Encoded(body, originals, sum(len(_WORD.findall(part)) for part in plain))


def strip_marks(output: str) -> tuple[str, int]:
    """What the engine wrote without its marks, and how many words it had marked."""
    parts = _BLANK.split(output)
    marked = sum(len(_MARKED.findall(part)) for part in parts[::2])
    body = "".join(_MARK.sub("", part) if i % 2 == 0 else f"[s{part}]" for i, part in enumerate(parts))
    return body, marked


def restore(body: str, originals: Sequence[str]) -> str | None:
    """The text with its originals back in place; None when a blank was lost or came twice."""
    parts = _BLANK.split(body)
    numbers = [int(number) for number in parts[1::2]]
    if sorted(numbers) != list(range(len(originals))):
        return None
    return "".join(originals[int(p)] if i % 2 else _ESCAPED.sub(r"\1", p) for i, p in enumerate(parts))


def _merged(text: str, shielded: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end in sorted([*shielded, *(match.span() for match in _SPECIAL.finditer(text))]):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans
