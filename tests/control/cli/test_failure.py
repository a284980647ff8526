"""How does every kind of error end a command?"""

import asyncio
import sys
import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from control.cli.failure import BadText, problem_lines, report
from control.errors import (
    ERROR_CODES,
    Conflict,
    InvariantBroken,
    NotFound,
    Problem,
    Rejected,
    SpecError,
    StartFailed,
    TidegateError,
    TimedOut,
    Unavailable,
)


def reported(error: BaseException) -> tuple[int, str]:
    with CliRunner().isolation() as streams:
        code = report(error)
        return code, streams[1].getvalue().decode()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (NotFound("no shift", "make one"), 2, "error[not-found]: no shift\n  hint: make one\n"),
        (Unavailable("nothing answers"), 5, "error[unavailable]: nothing answers\n"),
        (StartFailed("no port", "free one"), 1, "error[start-failed]: no port\n  hint: free one\n"),
        (TimedOut("too long"), 4, "error[timed-out]: too long\n"),
        (Conflict("written by another"), 1, "error[conflict]: written by another\n"),
        (Rejected("the mesh said no"), 1, "error[rejected]: the mesh said no\n"),
        (InvariantBroken("oops", "look"), 70, "error[invariant]: oops\n  hint: look\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (click.UsageError("no such option"), 2, "error[usage]: no such option\n  hint: see: tidegate --help\n"),
        (click.exceptions.Exit(3), 3, ""),
        (SystemExit(3), 3, ""),
        (SystemExit("words"), 1, ""),
        (ExceptionGroup("of one", [ExceptionGroup("of one", [Conflict("deep")])]), 1, "error[conflict]: deep\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_code_sentence_and_hint(error: BaseException, code: int, said: str) -> None:
    assert reported(error) == (code, said)


@pytest.mark.parametrize("kind", ERROR_CODES)
def test_every_error_of_ours_has_an_exit_code(kind: type[TidegateError]) -> None:
    error = SpecError([]) if kind is SpecError else kind("sentence", "hint")
    code, said = reported(error)
    assert code == kind.exit_code
    assert f"error[{kind.code}]" in said


@pytest.mark.parametrize(
    "bug", [ValueError("odd"), ExceptionGroup("two", [ValueError(), KeyError()]), asyncio.CancelledError()]
)
def test_a_bug_asks_to_be_reported_with_a_file(
    bug: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["tidegate", "a word that is not UTF-8: \udcff"])
    code, said = reported(bug)
    assert code == 70
    assert "Traceback" not in said
    (log,) = tmp_path.iterdir()
    assert str(log) in said
    assert type(bug).__name__ in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("problem", "lines"),
    [
        (
            Problem("a.yaml", 2, 3, "no such field", "did you mean steps?"),
            ["a.yaml:2:3: no such field", "    2 |   stepz: 1", "      |   ^", "  hint: did you mean steps?"],
        ),
        (Problem("a.yaml", 0, 0, "too long"), ["a.yaml: too long"]),
        (Problem("a.yaml", 99, 1, "beyond the end"), ["a.yaml:99:1: beyond the end"]),
        (Problem("a.yaml", 3, 50, "column beyond"), ["a.yaml:3:50: column beyond", "    3 |  x", "      |   ^"]),
    ],
    ids=["a place", "the whole file", "a line that is not there", "a tab, and a column beyond the line"],
)
def test_a_mistake_with_its_line(problem: Problem, lines: list[str]) -> None:
    assert problem_lines(problem, b"spec:\n  stepz: 1\n\tx\n") == lines


def test_all_mistakes_at_once() -> None:
    mistakes = [Problem("a.yaml", 1, 1, "first"), Problem("a.yaml", 2, 1, "second")]
    code, said = reported(BadText(mistakes, {"a.yaml": b"x\ny\n"}))
    assert code == 2
    assert said.splitlines()[-1] == "error[spec]: 2 problems"
    assert said.count("^") == 2
