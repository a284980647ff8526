"""Into which sentences does a text fall?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.translator.segments import split_sentences
from services.translator.shield import shielded_spans


def sentences(text):
    return [piece.sentence for piece in split_sentences(text, shielded_spans(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n ", [""], id="only a gap"),
        pytest.param("One sentence.", ["One sentence."], id="one"),
        pytest.param("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"], id="four"),
        pytest.param("no capital. follows here", ["no capital. follows here"], id="a small letter begins nothing"),
        pytest.param("It cost 3.50 dollars. Cheap.", ["It cost 3.50 dollars.", "Cheap."], id="a decimal point"),
        pytest.param("Mr. Smith met Dr. Jones. They left.", ["Mr. Smith met Dr. Jones.", "They left."], id="titles"),
        pytest.param("J. R. R. Tolkien wrote. I read.", ["J. R. R. Tolkien wrote.", "I read."], id="initials"),
        pytest.param("La Sra. López vino. ¿Cuándo?", ["La Sra. López vino.", "¿Cuándo?"], id="inverted marks begin"),
        pytest.param("Él dijo «sí». Élla no.", ["Él dijo «sí».", "Élla no."], id="closing quotes stay"),
        pytest.param("He left. “¿Why?” she said.", ["He left.", "“¿Why?” she said."], id="several marks may begin"),
        pytest.param("Wait... What?", ["Wait...", "What?"], id="dots"),
        pytest.param("Title\n\nText goes on\nhere.", ["Title", "Text goes on", "here."], id="newlines end"),
        pytest.param("a\r\nb\u2028c\x0bd", ["a", "b", "c", "d"], id="every kind of newline"),
        pytest.param("これは本です。はい。", ["これは本です。", "はい。"], id="full stops without blanks"),
        pytest.param("はい。 1", ["はい。", "1"], id="and with them"),
        pytest.param("See https://a.b/c. Then go.", ["See https://a.b/c.", "Then go."], id="after a URL"),
        pytest.param('<a title="One. Two">x</a>. Yes.', ['<a title="One. Two">x</a>.', "Yes."], id="not inside a tag"),
        pytest.param("```a. B\nC```. End.", ["```a. B\nC```.", "End."], id="not inside code"),
        pytest.param("  lead. Then  ", ["", "lead.", "Then"], id="blanks around"),
        pytest.param("Hi 😀. Bye 👋!", ["Hi 😀.", "Bye 👋!"], id="emoji cut nothing off"),
    ],
)
def test_where_sentences_end(text, expected):
    assert sentences(text) == expected


def test_spans_are_counted_from_the_start_of_their_sentence():
    text = "First. Use {name} and `x`."
    piece = split_sentences(text, shielded_spans(text))[1]
    assert [piece.sentence[start:end] for start, end in piece.shielded] == ["{name}", "`x`"]


TEXTS = st.text(st.sampled_from("aB.!? \n\r\t{}<>`«»。\u2028é1😀_%@")) | st.text()


@given(TEXTS)
def test_the_pieces_put_together_are_the_text(text):
    pieces = split_sentences(text, shielded_spans(text))
    assert "".join(piece.sentence + piece.gap for piece in pieces) == text


@given(TEXTS)
def test_no_sentence_has_blanks_around_it_and_no_shield_is_cut(text):
    spans = shielded_spans(text)
    pieces = split_sentences(text, spans)
    for piece in pieces:
        assert piece.sentence == piece.sentence.strip()
    assert sum(len(piece.shielded) for piece in pieces) == len(spans)
