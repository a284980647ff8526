"""Which programs make up a mode?"""

from pathlib import Path

import pytest

from services.translator.engines.apertium.modes import ModeError, parse_mode

TEXT = (
    "lt-proc '/usr/share/a b/x.bin' | apertium-tagger -g $2 '/d/p.prob' | apertium-pretransfer"
    "| lt-proc $1 /d/gen.bin | lt-proc -p /d/gen.bin"
)


def test_stages_flush_at_nul_and_mark_unknown_words():
    mode = parse_mode("x", TEXT)
    assert mode.stages == (
        ("lt-proc", "-z", "/usr/share/a b/x.bin"),
        ("apertium-tagger", "-z", "-g", "/d/p.prob"),
        ("apertium-pretransfer", "-z"),
        ("lt-proc", "-z", "-g", "/d/gen.bin"),
        ("lt-proc", "-z", "-p", "/d/gen.bin"),
    )
    assert mode.data_files() == [Path("/usr/share/a b/x.bin"), Path("/d/p.prob"), Path("/d/gen.bin")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("", "an empty stage", id="empty"),
        pytest.param("lt-proc a | | lt-proc b", "an empty stage", id="a stage is missing"),
        pytest.param("lt-proc a |", "an empty stage", id="the last is missing"),
        pytest.param("sh -c 'rm -rf /'", "'sh' is not one of Apertium's programs", id="a shell"),
        pytest.param("/tmp/lt-proc a", "is not one of Apertium's programs", id="a program by path"),
        pytest.param("lt-proc a; id", "would need a shell", id="two commands"),
        pytest.param("lt-proc a > /etc/passwd", "would need a shell", id="redirection"),
        pytest.param("lt-proc a && id", "would need a shell", id="and"),
        pytest.param("lt-proc $(id)", "would need a shell", id="substitution"),
        pytest.param("lt-proc `id`", "would need a shell", id="old substitution"),
        pytest.param("lt-proc $3", "would need a shell", id="an unknown parameter"),
        pytest.param("lt-proc 'a", "No closing quotation", id="an open quote"),
    ],
)
def test_anything_but_a_plain_pipeline_is_refused(text, sentence):
    with pytest.raises(ModeError, match="mode x") as refused:
        parse_mode("x", text)
    assert sentence in str(refused.value)
