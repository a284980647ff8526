"""What remains of a text is words, whatever came in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.lang_detector.letters import MAX_CHARS, letter_count, plain_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("MY FRIEND IS A BIRD", "my friend is a bird", id="capitals"),
        pytest.param("one\ntwo\r\n\tthree", "one two three", id="lines"),
        pytest.param("see https://example.com/a?b=c now", "see now", id="link"),
        pytest.param("see WWW.EXAMPLE.COM now", "see now", id="link without scheme"),
        pytest.param("write to jo.doe+x@mail.example.org please", "write to please", id="e-mail"),
        pytest.param("10 apples, 3.5 kg!", "apples kg", id="digits and punctuation"),
        pytest.param("hola 😀👍🏽 amigo", "hola amigo", id="emoji"),
        pytest.param("l'aigua fa col·lecció", "l'aigua fa col·lecció", id="joiners stay"),
        pytest.param("- ' ·", "", id="joiners alone go"),
        pytest.param("cafe\u0301", "café", id="NFC"),
        pytest.param("a\0b\u202ec\ud800d\ufeffe", "a b c d e", id="NUL, bidi mark, lone surrogate, BOM"),
        pytest.param("नमस्ते दुनिया", "नमस्ते दुनिया", id="marks belong to letters"),
        pytest.param("𐐷𐑌", unicodedata.normalize("NFC", "𐐷𐑌"), id="letters of the astral planes"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_plain_words(text: str, words: str) -> None:
    assert plain_words(text) == words


@given(st.text(st.characters(), max_size=500))
def test_words_are_one_clean_line(text: str) -> None:
    words = plain_words(text)
    assert "\n" not in words
    assert words.encode().decode() == words
    assert not any(char.isdigit() and not char.isalpha() for char in words)
    assert letter_count(words) <= len(words)


@pytest.mark.parametrize("piece", ["a@", "a.", "http://", "www.", "x", "\u0301", "aa-bb@cc."])
def test_only_the_start_of_a_hostile_text_is_read(piece: str) -> None:
    start = (piece * MAX_CHARS)[:MAX_CHARS]
    assert plain_words(piece * 500_000) == plain_words(start)
