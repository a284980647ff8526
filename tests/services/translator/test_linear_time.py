"""Can a text of the allowed size keep the process busy? Each of these once took seconds with a careless pattern."""

import time

import pytest

from services.runtime.texts import MAX_CODE_POINTS, text_problem
from services.translator.engines.apertium.stream_format import encode, restore, strip_marks
from services.translator.segments import split_sentences
from services.translator.shield import shielded_spans

CPU_S = 1.5
RUNS = [
    "a", " ", ".", "-", "_", "`", "{", "%", "\n", "。", "a_", "a@", "a.-+", ". ", "!?", "<a", "<!--", "&a", "%(", "{{a",
    "```a", "http://", "www.", "\n ", " \t", "a'", '."', "Mr. A", "1.", "[s0]", "*a", "\\<",
]  # fmt: skip
AROUND = [("a", "b"), ("%", "x"), (".", ""), ("http://", ""), ("a@b", "@"), ("`", "")]


@pytest.mark.parametrize("run", RUNS)
def test_no_run_of_anything_takes_more_than_linear_time(run):
    repeated = run * ((MAX_CODE_POINTS - 16) // len(run))
    for before, after in AROUND:
        text = before + repeated + after
        begun = time.process_time()
        spans = shielded_spans(text)
        pieces = split_sentences(text, spans)
        encoded = encode(text, spans)
        restored = restore(strip_marks(encoded.body)[0], encoded.originals)
        assert text_problem(text) == ""
        assert time.process_time() - begun < CPU_S
        assert "".join(piece.sentence + piece.gap for piece in pieces) == text
        assert restored == text


def test_zeros_after_a_percent_sign_are_tried_once():
    begun = time.process_time()
    assert shielded_spans("%" + "0" * 30_000) == []
    assert time.process_time() - begun < CPU_S
