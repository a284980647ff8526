"""The judgement over a model's probabilities, and the real model on real sentences."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.lang_detector.detect import Candidate, Detection, Detector, judged, model_codes
from services.lang_detector.labels import MODEL_LANGUAGES
from services.lang_detector.model import model_path, open_detector
from services.loadgen.corpus import LANGUAGES, sentences


@pytest.fixture(scope="module")
def detector() -> Detector:
    return open_detector(list(LANGUAGES))


@pytest.mark.parametrize(
    ("scores", "language", "reliable"),
    [
        pytest.param({"es": 0.9, "pt": 0.05}, "es", True, id="clear"),
        pytest.param({"es": 0.6, "pt": 0.2}, "es", True, id="clear among the configured: .75 of their mass"),
        pytest.param({"es": 0.4, "pt": 0.35}, "es", False, id="best, but too even to rely on"),
        pytest.param({"es": 0.3, "pt": 0.3, "it": 0.3}, "und", False, id="even"),
        pytest.param({"en": 0.1}, "und", False, id="most of the mass lies in languages that aren't configured"),
        pytest.param({}, "und", False, id="all of it does"),
        pytest.param({"en": 0.0}, "und", False, id="no mass at all"),
    ],
)
def test_judgement(scores: dict[str, float], language: str, reliable: bool) -> None:
    found = judged(scores)
    assert (found.language, found.reliable) == (language, reliable)


def test_candidates_are_best_first_and_ties_by_name() -> None:
    found = judged({"pt": 0.2, "es": 0.4, "ca": 0.2})
    assert [candidate.language for candidate in found.candidates] == ["es", "ca", "pt"]
    assert found.candidates[0] == Candidate("es", found.confidence)


@given(st.dictionaries(st.sampled_from(sorted(MODEL_LANGUAGES)), st.floats(0, 1), max_size=8))
def test_confidences_are_a_distribution_and_und_is_never_reliable(scores: dict[str, float]) -> None:
    found = judged(scores)
    assert not found.candidates or sum(c.confidence for c in found.candidates) == pytest.approx(1)
    assert 0 <= found.confidence <= 1
    assert not (found.reliable and found.language == "und")
    assert found.language == "und" or found.language == found.candidates[0].language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("Where is the library?", "en", id="en"),
        pytest.param("¿Dónde está la biblioteca?", "es", id="es"),
        pytest.param("Où est la bibliothèque ?", "fr", id="fr"),
        pytest.param("Onde fica a biblioteca?", "pt", id="pt"),
        pytest.param("Dov'è la biblioteca?", "it", id="it"),
        pytest.param("On és la biblioteca del poble?", "ca", id="ca"),
        pytest.param("MY FRIEND IS A BIRD", "en", id="capitals"),
        pytest.param("La tua password non è corretta", "it", id="an English word inside"),
        pytest.param("Where is\nthe library?", "en", id="two lines"),
        pytest.param("Bonjour", "fr", id="one word"),
        pytest.param("ok", "und", id="two letters"),
        pytest.param("12345 67.8 %", "und", id="digits"),
        pytest.param("https://example.com/where/is/it", "und", id="a link"),
        pytest.param("someone@example.com", "und", id="an address"),
        pytest.param("😀😀😀😀", "und", id="emoji"),
        pytest.param(" \n\t", "und", id="blanks"),
        pytest.param("", "und", id="nothing"),
        pytest.param("Все люди рождаются свободными", "und", id="a language that isn't configured"),
        pytest.param("人人生而自由", "und", id="another one"),
        pytest.param("Wo ist die Bibliothek?", "und", id="one in Latin script"),
        pytest.param("Where is the library?\ud800\0", "en", id="NUL and a lone surrogate"),
        pytest.param("\u202eWhere is the library?", "en", id="bidi mark"),
        pytest.param("x" * 30_720, "und", id="one long word"),
    ],
)
def test_the_real_model(detector: Detector, text: str, language: str) -> None:
    assert detector.detect(text).language == language


def first_words(amount: int) -> Callable[[str], str]:
    return lambda sentence: " ".join(sentence.split()[2 : 2 + amount])


@pytest.mark.parametrize(
    ("shorten", "right", "reliable_right"),
    [
        pytest.param(str, 0.98, 0.995, id="whole sentences"),
        pytest.param(first_words(8), 0.95, 0.98, id="eight words"),
        pytest.param(first_words(5), 0.91, 0.97, id="five words"),
        pytest.param(first_words(3), 0.84, 0.94, id="three words"),
    ],
)
def test_accuracy_floor_on_real_sentences(
    detector: Detector, shorten: Callable[[str], str], right: float, reliable_right: float
) -> None:
    truths = [
        (language, shorten(text)) for language in LANGUAGES for text in sentences(language) if text.count(" ") > 4
    ]
    answers = [(language, detector.detect(text)) for language, text in truths]
    reliable = [(language, answer) for language, answer in answers if answer.reliable]
    assert len(truths) > 300
    assert sum(language == answer.language for language, answer in answers) / len(truths) >= right
    assert sum(language == answer.language for language, answer in reliable) / len(reliable) >= reliable_right
    assert len(reliable) / len(truths) > 0.8


def test_a_model_is_not_asked_without_letters() -> None:
    class Unwilling:
        def predict(self, text: str, k: int = 1, threshold: float = 0.0) -> tuple[list[str], list[float]]:
            raise AssertionError(text)

    assert Detector(Unwilling(), {"en": "en"}).detect("42") == Detection("und", 0.0)


def test_a_language_keeps_the_name_that_it_was_configured_with() -> None:
    assert open_detector(["pt-BR", "en"]).detect("Onde fica a biblioteca da cidade?").language == "pt-BR"


@pytest.mark.parametrize(
    ("languages", "mistakes"),
    [
        pytest.param(["en", "xx", "yy"], ["'xx'", "'yy'"], id="unknown ones, all named"),
        pytest.param(["en", "en-GB"], ["'en-GB'", "'en'"], id="the same one twice"),
        pytest.param([], ["at least one"], id="none"),
    ],
)
def test_languages_that_cannot_be_configured(languages: list[str], mistakes: list[str]) -> None:
    with pytest.raises(ValueError, match="language") as caught:
        model_codes(languages)
    assert all(mistake in str(caught.value) for mistake in mistakes)


def test_the_weights_ship_with_a_package_and_176_languages() -> None:
    assert model_path().stat().st_size > 900_000
    assert len(MODEL_LANGUAGES) == 176
