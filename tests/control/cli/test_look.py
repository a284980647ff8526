"""Which signs are drawn on which stream?"""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from control.cli.foresight import _mean
from control.cli.look import ASCII, UNICODE, Look, look_at
from control.cli.tables import list_table
from control.view.listing import list_row
from control.view.simulate import Spread
from tests.support.cli_documents import NOW, document

STREAM = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
WIDE, NARROW = look_at(STREAM), look_at(STREAM, ascii_only=True)


@pytest.mark.parametrize(
    ("ratio", "bar"),
    [
        pytest.param(None, "?   ", id="nobody knows"),
        pytest.param(0.0, "░░░░", id="nothing"),
        pytest.param(1.0, "████", id="all"),
        pytest.param(0.5, "██░░", id="half"),
        pytest.param(0.001, "▏░░░", id="something always shows"),
        pytest.param(0.999, "███▉"[:3] + "▉", id="nearly all is not full"),
        pytest.param(0.3125, "█▎░░", id="eighths of a cell"),
    ],
)
def test_bars(ratio: float | None, bar: str) -> None:
    assert WIDE.bar(ratio, 4) == bar


@given(st.none() | st.floats(0, 1), st.integers(1, 60), st.sampled_from([WIDE, NARROW]))
def test_a_bar_has_its_width_and_never_claims_too_much(ratio: float | None, width: int, look: Look) -> None:
    bar = look.bar(ratio, width)
    full, empty = look.glyphs.eighths[-1] * width, look.glyphs.empty * width
    assert len(bar) == width
    assert (bar == full) == (ratio == 1) or width == 1
    assert (bar == empty) == (ratio == 0) or width == 1


@pytest.mark.parametrize(
    ("values", "top", "line"),
    [([0, 0.5, 1], 1.0, "▁▅█"), ([], 1.0, ""), ([5, 10], 10.0, "▅█"), ([2], 0.0, "▁"), ([-1, 9], 1.0, "▁█")],
)
def test_sparklines(values: list[float], top: float, line: str) -> None:
    assert WIDE.spark(values, top) == line


@pytest.mark.parametrize(
    ("encoding", "wanted", "glyphs"),
    [
        ("utf-8", False, UNICODE),
        ("UTF8", False, UNICODE),
        ("utf-8", True, ASCII),
        ("ascii", False, ASCII),
        ("iso-8859-1", False, ASCII),
    ],
)
def test_signs_by_encoding(encoding: str, wanted: bool, glyphs: object) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert look_at(stream, ascii_only=wanted).glyphs is glyphs


def test_a_pipe_is_not_drawn_in_place() -> None:
    assert not WIDE.in_place


def test_what_is_piped_has_no_spaces_at_the_ends_of_lines() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8")
    look_at(stream).print("text   \nmore  ")
    assert raw.getvalue() == b"text\nmore\n"


def test_every_sign_of_ascii_is_ascii() -> None:
    signs = [ASCII.eighths, ASCII.empty, ASCII.levels, ASCII.arrow, ASCII.branch, ASCII.last, *ASCII.marks.values()]
    assert all(sign.isascii() for sign in signs)


def test_the_list_is_whole_in_80_columns() -> None:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as captured:
        console.print(list_table([list_row(document(), NOW)], Look(UNICODE, console)))
    head, row = captured.get().splitlines()
    assert head.split() == ["NAMESPACE", "NAME", "PHASE", "STEP", "WAITS", "FOR"]
    assert row.rstrip() == "default    translator  Progressing  2/5   8 more requests of v2 (7 s left)"


def test_fewer_failures_than_stable_has_are_no_failures_more() -> None:
    assert [_mean(Spread(0, 0, mean)) for mean in (-2.5, -0.01, 2.5)] == ["0", "0", "2.5"]
