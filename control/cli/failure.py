"""How does a command end when it could not do what it was asked? A code, a sentence, a hint and an exit code.

Exit codes: 0 done, 1 failed, 2 bad input, 3 rolled back, 4 timed out, 5 unreachable, 70 a bug of ours, 130 interrupted.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from control.errors import InvariantBroken, Problem, SpecError, TidegateError

BUG, INTERRUPTED, BAD_INPUT = 70, 130, 2
MAX_LINE = 200


class BadText(SpecError):
    """Mistakes in texts that the command has at hand, so that the lines can be shown. `texts` is by source."""

    def __init__(self, problems: Sequence[Problem], texts: Mapping[str, bytes]) -> None:
        super().__init__(problems)
        self.texts = texts


def report(error: BaseException) -> int:
    """Tells the person on standard error what went wrong. The result is the exit code."""
    match root_of(error):
        case click.exceptions.Exit() as exit_:
            return exit_.exit_code
        case SystemExit() as ended:
            return ended.code if isinstance(ended.code, int) else 1
        case click.exceptions.Abort() | KeyboardInterrupt():
            click.echo("interrupted", err=True)
            return INTERRUPTED
        case click.ClickException() as usage:
            return _report_usage(usage)
        case SpecError() as mistakes:
            return _report_mistakes(mistakes)
        case InvariantBroken() as broken:
            _say(
                broken.code, broken.message, broken.hint or "this is a bug: please report it with the controller's log"
            )
            return broken.exit_code
        case TidegateError() as known:
            _say(known.code, known.message, known.hint)
            return known.exit_code
        case bug:
            return _report_bug(bug)


def root_of(error: BaseException) -> BaseException:
    """The one error inside groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _say(code: str, message: str, hint: str) -> None:
    click.echo(f"error[{code}]: {message}", err=True)
    if hint:
        click.echo(f"  hint: {hint}", err=True)


def _report_usage(usage: click.ClickException) -> int:
    context = getattr(usage, "ctx", None)
    help_line = f"{context.command_path} --help" if context is not None else "tidegate --help"
    _say("usage", usage.format_message(), f"see: {help_line}")
    return BAD_INPUT


def _report_mistakes(mistakes: SpecError) -> int:
    texts = mistakes.texts if isinstance(mistakes, BadText) else {}
    for problem in mistakes.problems:
        click.echo("\n".join(problem_lines(problem, texts.get(problem.source, b""))), err=True)
    count = len(mistakes.problems)
    click.echo(f"error[{mistakes.code}]: {count} problem{'' if count == 1 else 's'}", err=True)
    return mistakes.exit_code


def problem_lines(problem: Problem, text: bytes) -> list[str]:
    """The mistake's place and sentence, its line with a caret below, and the hint."""
    place = f"{problem.source}:{problem.line}:{problem.column}" if problem.line else problem.source
    lines = [f"{place}: {problem.message}"]
    shown = text.decode("utf-8", "replace").splitlines()
    if 0 < problem.line <= len(shown):
        line = shown[problem.line - 1][:MAX_LINE].replace("\t", " ")
        gutter = f"{problem.line:>5} | "
        lines.append(gutter + line)
        lines.append(" " * (len(gutter) - 2) + "| " + " " * min(max(problem.column - 1, 0), len(line)) + "^")
    return lines + ([f"  hint: {problem.hint}"] if problem.hint else [])


def _report_bug(bug: BaseException) -> int:
    path = _crash_file()
    details = "".join(traceback.format_exception(bug))
    command = " ".join(sys.argv[1:])
    path.write_text(f"tidegate {command}\n{details}", encoding="utf-8", errors="backslashreplace")
    _say("internal", f"a bug in tidegate: {type(bug).__name__}: {bug}", f"please report it with the file {path}")
    return BUG


def _crash_file() -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    handle, path = tempfile.mkstemp(prefix=f"tidegate-crash-{stamp}-", suffix=".log")
    os.close(handle)
    return Path(path)
