"""What remains of a text when everything that tells no language is taken away?

Links, e-mail addresses, digits, punctuation, symbols, emoji and control characters all look like *some* language to a
model, so they go first. The patterns are bounded: their cost is linear in the text, whatever a caller sends.
"""

import re
import unicodedata
from typing import Final

MAX_CHARS: Final = 2_000
_LINK: Final = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+", re.IGNORECASE)
_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_JOINERS: Final = frozenset("'’·-")
_LAST_CACHED: Final = 0xFFFF


class _LettersOnly(dict[int, str]):
    """A table for str.translate: letters and their marks stay, everything else becomes a blank."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = char if char in _JOINERS or unicodedata.category(char)[0] in "LM" else " "
        if code <= _LAST_CACHED:  # astral planes are not remembered: the table stays under some megabytes
            self[code] = kept
        return kept


_LETTERS_ONLY: Final = _LettersOnly()


def plain_words(text: str) -> str:
    """The words of the first 2,000 characters: NFC, in lower case, one blank between them, on one line.

    Example: "VISIT https://example.com NOW!\\n10x 😀" -> "visit now x"
    """
    start = unicodedata.normalize("NFC", text[:MAX_CHARS])
    words = _EMAIL.sub(" ", _LINK.sub(" ", start)).translate(_LETTERS_ONLY)
    return " ".join(word for word in words.lower().split() if word.strip("'’·-"))


def letter_count(words: str) -> int:
    """How many letters the words have."""
    return sum(map(str.isalpha, words))
