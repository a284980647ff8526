"""Which texts does the load carry?

Real sentences in six languages (data/NOTICE says where they come from). Text number `index` is one of these sentences;
beyond the first round it opens with a case number ("In case 4711, everyone has the right to education."). So no two
indices give the same text, an engine must work through all of its words, and neither a cache of whole texts nor one of
sentences can have seen it. *Fresh* texts count on from a seeded place; *hot* ones are a fixed small set, repeated with
Zipf's frequencies, which is what a cache lives from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

OPENINGS: Mapping[str, str] = {
    "ca": "En el cas {}, ",
    "en": "In case {}, ",
    "es": "En el caso {}, ",
    "fr": "Dans le cas {}, ",
    "it": "Nel caso {}, ",
    "pt": "No caso {}, ",
}
LANGUAGES = tuple(OPENINGS)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of one language, in the order in which a seed shuffled them."""

    language: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.sentences or len(set(self.sentences)) != len(self.sentences):
            raise ValueError(f"the corpus of {self.language!r} needs different sentences")

    def text(self, index: int) -> str:
        """The text number `index`, from 0 up. Different indices give different texts.

        Example: with two sentences: "Ann sings." "Bob reads." "In case 1, ann sings." "In case 1, bob reads."
        """
        case, place = divmod(index, len(self.sentences))
        sentence = self.sentences[place]
        return OPENINGS[self.language].format(case) + _lower_first(sentence) if case else sentence

    def index_of_case(self, case: int) -> int:
        """The lowest index whose text opens with this case number."""
        return case * len(self.sentences)


@cache
def sentences(language: str) -> tuple[str, ...]:
    """All sentences of `language` that ship with the load generator. Raises: KeyError for a language without data."""
    if language not in OPENINGS:
        raise KeyError(language)
    text = resources.files(__package__).joinpath("data", f"{language}.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def short_sentences(language: str, max_chars: int) -> Sequence[str]:
    """The sentences of at most `max_chars` characters, for load whose texts stay of one size."""
    return [sentence for sentence in sentences(language) if len(sentence) <= max_chars]


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
