"""The texts of the load: real, distinct, and joined into one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.loadgen.corpus import LANGUAGES, Corpus, places, sentences, short_sentences

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
        pytest.param(0, "Ann sings.", id="the first is a sentence alone"),
        pytest.param(2, "Cats sleep.", id="the last alone"),
        pytest.param(3, "Ann sings and ann sings.", id="then pairs"),
        pytest.param(4, "Ann sings and bob reads.", id="the second is lower case"),
        pytest.param(12, "Ann sings and ann sings and ann sings.", id="then triples"),
    ],
)
def test_text_by_index(index: int, text: str) -> None:
    assert THREE.text(index) == text


def test_first_triple_is_where_triples_begin() -> None:
    assert THREE.text(THREE.first_triple - 1).count(" and ") == 1
    assert THREE.text(THREE.first_triple).count(" and ") == 2


@given(base=st.integers(2, 50), index=st.integers(0, 100_000))
def test_places_are_a_bijection(base: int, index: int) -> None:
    value = 0
    for digit in places(index, base):
        assert 0 <= digit < base
        value = value * base + digit + 1
    assert value - 1 == index


@pytest.mark.parametrize("few", [(), ("One.",), ("One.", "One.")], ids=["none", "one", "twice the same"])
def test_too_few_sentences_are_refused(few: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="at least two"):
        Corpus("en", few)
