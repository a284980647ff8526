"""How are a caller's characters kept apart from the engine's marks?"""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.translator.engines.apertium.stream_format import encode, restore, strip_marks
from services.translator.shield import shielded_spans

TEXTS = st.text(st.sampled_from("ab [](){}^$/\\@<>*#~%+=_|&\n\r\0\x01.é{}")) | st.text()


@pytest.mark.parametrize(
    ("text", "body", "originals", "words"),
    [
        ("plain words", "plain words", (), 2),
        ("", "", (), 0),
        ("[x] ^a<n>$", "[s0]x[s1] [s2]a[s3]", ("[", "]", "^", "<n>$"), 2),
        ("Hi {name}!", "Hi [s0]!", ("{name}",), 1),
        ("{a}{b}", "[s0]", ("{a}{b}",), 0),
        ("5*3 #1 @x", "5[s0]3 [s1]1 [s2]x", ("*", "#", "@"), 1),
        ("and/or C++", "and[s0]or C[s1]", ("/", "++"), 3),
        ("a\tb\nc", "a\tb[s0]c", ("\n",), 3),
        ("cafe\u0301", "café", (), 1),
        ("don't well-known l’eau", "don't well-known l’eau", (), 3),
        ("42 3.5", "42 3.5", (), 0),
    ],
)
def test_special_characters_become_blanks(text, body, originals, words):
    encoded = encode(text, shielded_spans(text))
    assert (encoded.body, encoded.originals, encoded.words) == (body, originals, words)


@given(TEXTS)
def test_nothing_special_gets_in_and_all_of_it_comes_back(text):
    encoded = encode(text, shielded_spans(text))
    outside = re.sub(r"\[s\d+\]", "", encoded.body)
    assert not set(outside) & set("[]{}^$/\\@<>*#~%+=_|&\0\n\r")
    assert unicodedata.normalize("NFC", restore(encoded.body, encoded.originals)) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("output", "body", "unknown"),
    [
        ("la casa", "la casa", 0),
        ("la *casa #ir @gone", "la casa ir gone", 3),
        ("*a[s0]*b", "a[s0]b", 2),
        ("#take# out", "take out", 1),
        ("l'*eau", "l'eau", 1),
        ("#- b", "- b", 0),
        (r"#\<prn\> b", " b", 1),
        (r"#ir\<vblex\>\<inf\>", "ir", 1),
        ("[s12]", "[s12]", 0),
    ],
)
def test_marks_are_counted_and_taken_away(output, body, unknown):
    assert strip_marks(output) == (body, unknown)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("b [s1] a [s0]", "b Y a X"),
        ("[s0]", None),
        ("[s0][s0][s1]", None),
        ("[s0][s1][s2]", None),
        (r"[s0]\/[s1]", "X/Y"),
    ],
    ids=["moved", "one lost", "one twice", "one too many", "escaped by the engine"],
)
def test_every_original_comes_back_exactly_once_or_not_at_all(body, text):
    assert restore(body, ("X", "Y")) == text
