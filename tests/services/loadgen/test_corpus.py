"""The texts of the load: real, and distinct."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.loadgen.corpus import LANGUAGES, Corpus, sentences, short_sentences

THREE = Corpus("en", ("Ann sings.", "Bob reads.", "Cats sleep."))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_clean_sentences(language: str) -> None:
    found = sentences(language)
    assert len(found) >= 50
    assert len(set(found)) == len(found)
    assert all(line == line.strip() and line.endswith(".") and 15 <= len(line) <= 241 for line in found)
    assert len(short_sentences(language, 110)) >= 25


def test_a_language_without_data_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        sentences("../en")


@pytest.mark.parametrize(
    ("index", "text"),
    [
        pytest.param(0, "Ann sings.", id="the first sentence alone"),
        pytest.param(2, "Cats sleep.", id="the last alone"),
        pytest.param(3, "In case 1, ann sings.", id="then with a case number"),
        pytest.param(14, "In case 4, cats sleep.", id="and the next number"),
        pytest.param(THREE.index_of_case(4711), "In case 4711, ann sings.", id="the first of a number"),
    ],
)
def test_text_by_index(index: int, text: str) -> None:
    assert THREE.text(index) == text


@given(st.sampled_from(LANGUAGES), st.sets(st.integers(0, 10_000_000), min_size=2, max_size=2))
def test_two_indices_are_two_texts(language: str, indices: set[int]) -> None:
    corpus = Corpus(language, sentences(language))
    assert len({corpus.text(index) for index in indices}) == 2


@pytest.mark.parametrize("few", [(), ("One.", "One.")], ids=["none", "twice the same"])
def test_a_corpus_without_different_sentences_is_refused(few: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="different sentences"):
        Corpus("en", few)
