"""What does each call of the load ask for?

A pure, endless, seeded sequence of calls: same mix and same seed, same calls.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from random import Random

from services.loadgen.corpus import LANGUAGES, Corpus, short_sentences

MIN_SENTENCES = 10
FRESH_CASES = (10_000, 900_000)  # far above the cases of hot texts


class MixError(ValueError):
    """The mix can't be sent; `args` are all the mistakes, one sentence each."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A direction of translation and its weight among the pairs of the mix."""

    source: str
    target: str
    weight: float = 1.0

    def __str__(self) -> str:
        return f"{self.source}>{self.target}"


V1_PAIRS = (Pair("en", "es"), Pair("es", "en"), Pair("fr", "es"), Pair("es", "fr"))


@dataclass(frozen=True, slots=True)
class Mix:
    """The composition of the load. Shares are 0 to 1.

    `detect_share`: calls that name no source language, so that the detector is asked.
    `hot_share`: calls whose text is one of the `hot_texts` of its pair, drawn by Zipf with exponent `zipf`; the others
    carry a text that this run has not sent before.
    `stream_share`: calls of StreamTranslate, whose text is several sentences.
    `max_sentence_chars`: longest sentence used; bounds the engine's work for one text.
    """

    pairs: tuple[Pair, ...] = V1_PAIRS
    detect_share: float = 0.25
    hot_share: float = 0.7
    stream_share: float = 0.0
    hot_texts: int = 200
    zipf: float = 1.0
    stream_sentences: int = 3
    max_sentence_chars: int = 110

    def __post_init__(self) -> None:
        if mistakes := [*_share_mistakes(self), *_size_mistakes(self), *_pair_mistakes(self)]:
            raise MixError(*mistakes)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of the load. `source` is empty when the detector shall find it; `language` is the true one."""

    language: str
    source: str
    target: str
    text: str
    stream: bool
    hot: bool


def calls(mix: Mix, seed: int) -> Iterator[Call]:
    """The calls of a run, endless. Fresh texts start at a seeded place, so that the next run's are others."""
    random = Random(seed)  # noqa: S311  (a load, not a secret)
    corpora = {pair.source: _corpus(pair.source, mix, random) for pair in mix.pairs}
    fresh = {language: count(_fresh_start(corpus, random)) for language, corpus in corpora.items()}
    pair_weights = list(accumulate(pair.weight for pair in mix.pairs))
    hot_weights = list(accumulate(1 / rank**mix.zipf for rank in range(1, mix.hot_texts + 1)))
    while True:
        (pair,) = random.choices(mix.pairs, cum_weights=pair_weights)
        stream = random.random() < mix.stream_share
        hot = random.random() < mix.hot_share
        detect = random.random() < mix.detect_share
        corpus = corpora[pair.source]
        first = random.choices(range(mix.hot_texts), cum_weights=hot_weights)[0] if hot else next(fresh[pair.source])
        text = _stream_text(corpus, first, mix.stream_sentences) if stream else corpus.text(first)
        source = "" if detect else pair.source
        yield Call(language=pair.source, source=source, target=pair.target, text=text, stream=stream, hot=hot)


def parse_pairs(text: str) -> tuple[Pair, ...]:
    """Pairs from "en>es=3,fr:es": source, ">" or ":", target, optional weight.  Raises: MixError, all mistakes."""
    pairs, mistakes = [], []
    for item in filter(None, (part.strip() for part in text.split(","))):
        direction, _, weight = item.replace(":", ">").partition("=")
        source, arrow, target = (part.strip() for part in direction.partition(">"))
        try:
            pairs.append(Pair(source, target, float(weight or 1)))
        except ValueError:
            mistakes.append(f"the weight of {item!r} is not a number")
        if not (arrow and source and target):
            mistakes.append(f"{item!r} is not a pair such as en>es")
    if mistakes:
        raise MixError(*mistakes)
    return tuple(pairs)


def _corpus(language: str, mix: Mix, random: Random) -> Corpus:
    chosen = list(short_sentences(language, mix.max_sentence_chars))
    random.shuffle(chosen)
    return Corpus(language, tuple(chosen))


def _fresh_start(corpus: Corpus, random: Random) -> int:
    return corpus.index_of_case(random.randrange(*FRESH_CASES))


def _stream_text(corpus: Corpus, first: int, amount: int) -> str:
    plain = len(corpus.sentences)
    followers = (corpus.sentences[(first + offset) % plain] for offset in range(1, amount))
    return " ".join([corpus.text(first), *followers])


def _share_mistakes(mix: Mix) -> Iterator[str]:
    shares: Mapping[str, float] = {
        "detect share": mix.detect_share,
        "hot share": mix.hot_share,
        "stream share": mix.stream_share,
    }
    for name, share in shares.items():
        if not 0 <= share <= 1:
            yield f"the {name} {share} is not between 0 and 1"


def _size_mistakes(mix: Mix) -> Iterator[str]:
    if mix.hot_texts < 1:
        yield "there must be at least one hot text"
    if not 0 <= mix.zipf <= 10:
        yield f"the Zipf exponent {mix.zipf} is not between 0 and 10"
    if mix.stream_sentences < 1:
        yield "a stream needs at least one sentence"


def _pair_mistakes(mix: Mix) -> Iterator[str]:
    if not mix.pairs:
        yield "there must be at least one pair of languages"
    for pair in mix.pairs:
        if pair.source not in LANGUAGES:
            yield f"no sentences in {pair.source!r}; there are {_listed(LANGUAGES)}"
        elif len(short_sentences(pair.source, mix.max_sentence_chars)) < MIN_SENTENCES:
            yield f"fewer than {MIN_SENTENCES} sentences in {pair.source!r} have {mix.max_sentence_chars} characters"
        if not 0 < pair.weight < float("inf"):
            yield f"the weight of {pair} must be above 0"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
