"""Which texts does the load carry?

Real sentences in six languages (data/NOTICE says where they come from). A *fresh* text joins two or more sentences
of one language into a single longer sentence with that language's "and": the number `index` picks the sentences, so
that no two indices give the same text and a cache, whole-text or by sentence, can't have seen it. A *hot* text is one
of a fixed small set, repeated with Zipf's frequencies, which is what a cache lives from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

CONJUNCTIONS: Mapping[str, str] = {"ca": "i", "en": "and", "es": "y", "fr": "et", "it": "e", "pt": "e"}
LANGUAGES = tuple(CONJUNCTIONS)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of one language, in the order in which a seed shuffled them."""

    language: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.sentences) < 2 or len(set(self.sentences)) != len(self.sentences):
            raise ValueError(f"the corpus of {self.language!r} needs at least two different sentences")

    def text(self, index: int) -> str:
        """The text number `index`: one joined sentence. Different indices give different texts.

        Invariant: indices below n are the single sentences, then come the n*n pairs, then the triples, and so on.
        """
        first, *others = [self.sentences[place] for place in places(index, len(self.sentences))]
        clauses = [first.rstrip("."), *(_lower_first(sentence.rstrip(".")) for sentence in others)]
        return f" {CONJUNCTIONS[self.language]} ".join(clauses) + "."

    @property
    def first_triple(self) -> int:
        """The lowest index whose text joins three sentences."""
        return len(self.sentences) + len(self.sentences) ** 2


def places(index: int, base: int) -> list[int]:
    """Bijective numeration: 0..base-1 are one digit, the next base**2 numbers two digits, and so on.

    Example: base 3: 0 -> [0], 2 -> [2], 3 -> [0, 0], 11 -> [2, 2], 12 -> [0, 0, 0].
    """
    digits: list[int] = []
    rest = index + 1
    while rest > 0:
        rest, digit = divmod(rest - 1, base)
        digits.append(digit)
    return digits[::-1]


@cache
def sentences(language: str) -> tuple[str, ...]:
    """All sentences of `language` that ship with the load generator. Raises: KeyError for a language without data."""
    if language not in CONJUNCTIONS:
        raise KeyError(language)
    text = resources.files(__package__).joinpath("data", f"{language}.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def short_sentences(language: str, max_chars: int) -> Sequence[str]:
    """The sentences of at most `max_chars` characters, for load whose texts stay of one size."""
    return [sentence for sentence in sentences(language) if len(sentence) <= max_chars]


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
