"""Which language is this text written in, and is the answer worth anything?

A model gives each of its 176 languages a probability; only the configured ones count, their mass scaled to 1. Then
come the honest ways out: no answer (`und`) for a text of fewer than three letters, for one whose likelihood lies
mostly outside of the configured languages, and for one that is too even among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from services.lang_detector.labels import MODEL_LANGUAGES
from services.lang_detector.letters import letter_count, plain_words

UNDETERMINED: Final = "und"
MIN_LETTERS: Final = 3
MIN_MASS: Final = 0.15
MIN_CONFIDENCE: Final = 0.5
RELIABLE_CONFIDENCE: Final = 0.7
LABEL_PREFIX: Final = "__label__"


class Model(Protocol):
    """A language model: probabilities of all its languages for one line of text."""

    def predict(self, text: str, k: int = ..., threshold: float = ...) -> tuple[Sequence[str], Sequence[float]]: ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A language and its probability, 0 to 1, over the configured languages."""

    language: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Detection:
    """The answer for one text. `candidates` are best first; `language` is theirs or `und`.

    Invariant: `reliable` is never true for `und`.
    """

    language: str
    confidence: float
    candidates: tuple[Candidate, ...] = ()
    reliable: bool = False


@dataclass(frozen=True, slots=True)
class Detector:
    """A model limited to the configured languages."""

    model: Model
    codes: Mapping[str, str]  # the model's code -> the configured one ("pt" -> "pt-BR")

    def detect(self, text: str) -> Detection:
        """The language of one text; never raises, whatever the text."""
        words = plain_words(text)
        if letter_count(words) < MIN_LETTERS:
            return Detection(UNDETERMINED, 0.0)
        labels, scores = self.model.predict(words, k=-1, threshold=0.0)
        found = {label.removeprefix(LABEL_PREFIX): score for label, score in zip(labels, scores, strict=True)}
        configured = {own: found[code] for code, own in self.codes.items() if code in found}
        return judged(configured)


def judged(scores: Mapping[str, float]) -> Detection:
    """The answer for the model's probabilities of the configured languages.

    Example: {"es": .6, "pt": .2} -> es .75, reliable;  {"en": .01} -> und: it is written in another language
    Example: {"es": .45, "pt": .44} -> es .506, unreliable
    """
    mass = sum(scores.values())
    if mass < MIN_MASS:
        return Detection(UNDETERMINED, 0.0)
    candidates = tuple(
        Candidate(language, min(1.0, score / mass))
        for language, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    )
    best = candidates[0]
    if best.confidence < MIN_CONFIDENCE:
        return Detection(UNDETERMINED, best.confidence, candidates)
    return Detection(best.language, best.confidence, candidates, reliable=best.confidence >= RELIABLE_CONFIDENCE)


def model_codes(languages: Iterable[str]) -> dict[str, str]:
    """The model's code of each configured BCP-47 language.

    Raises: ValueError listing every language that the model does not know or that is there twice.
    """
    codes: dict[str, str] = {}
    mistakes: list[str] = []
    for language in languages:
        code = language.partition("-")[0].lower()
        if code not in MODEL_LANGUAGES:
            mistakes.append(f"the model knows no language {language!r}")
        elif code in codes:
            mistakes.append(f"{language!r} and {codes[code]!r} are one language to the model")
        else:
            codes[code] = language
    if mistakes or not codes:
        raise ValueError("; ".join(mistakes) or "there must be at least one language")
    return codes
