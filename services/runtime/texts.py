"""Which texts does a service accept?

Refused: NUL (it is the flush mark of null-framed pipelines, so it could tear two callers' answers apart), lone
surrogates (not text in any encoding), and more than the limit. Accepted as they are: the empty text, blanks, bidi
marks, byte-order marks, emoji and every other character.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.runtime.errors import FieldViolation

MAX_TEXTS = 1_024
MAX_CODE_POINTS = 30_720
PLAIN_TEXT = "text/plain"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextLimits:
    """How much one request may carry.

    Units: `texts` in items; `code_points` over all texts of a request.
    """

    texts: int = MAX_TEXTS
    code_points: int = MAX_CODE_POINTS


def text_problem(text: str) -> str:
    """Why this text cannot be served by itself, in a sentence; empty when it can."""
    if "\0" in text:
        return f"holds a NUL character at position {text.index(chr(0))}"
    surrogate = _SURROGATE.search(text)
    if surrogate is not None:
        return f"holds a lone surrogate at position {surrogate.start()}"
    return ""


def request_violations(
    texts: Sequence[str], mime_type: str, *, field: str = "contents", limits: TextLimits | None = None
) -> list[FieldViolation]:
    """What is wrong with the request as a whole: no or too many texts, too much text, not plain text."""
    limits = limits or TextLimits()
    total = sum(map(len, texts))
    checks = (
        (not texts, field, "is empty; give at least one text"),
        (len(texts) > limits.texts, field, f"has {len(texts)} texts; at most {limits.texts:,} are allowed"),
        (
            total > limits.code_points,
            field,
            f"has {total:,} code points in all; at most {limits.code_points:,} are allowed",
        ),
        (mime_type not in ("", PLAIN_TEXT), "mime_type", f"{mime_type!r} is not supported; use {PLAIN_TEXT!r}"),
    )
    return [FieldViolation(name, description) for wrong, name, description in checks if wrong]
