"""What do `status -w` and `wait` show while a shift moves, and how do they end?"""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_control import Control, tidegate
from tests.support.cli_documents import document, journal, promoted, rolled_back, status

TIDEGATE = str(Path(sys.executable).parent / "tidegate")
WITHIN_S = 90.0


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        select.select([], [], [], 0.02)


@pytest.fixture
def moving(control: Control) -> Control:
    control.put(document(), journal())
    return control


class Piped:
    """The command as a process of its own whose output goes to files; it has shown the shift once when this is made."""

    def __init__(self, control: Control, *words: str) -> None:
        self._out, self._err = control.state_dir / "out.txt", control.state_dir / "err.txt"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            command = [TIDEGATE, *words, "--state-dir", str(control.state_dir)]
            self.process = subprocess.Popen(command, stdout=out, stderr=err)
        until(lambda: bool(self.out or self.err))

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    def wait(self) -> int:
        return self.process.wait(WITHIN_S)


def test_a_piped_watch_is_plain_lines_and_ends_with_the_run(moving: Control) -> None:
    watch = Piped(moving, "status", "-w")
    moving.put(promoted())
    assert watch.wait() == 0, watch.err
    assert "\x1b" not in watch.out
    lines = watch.out.splitlines()
    assert "translator: step 1: advance: No harm seen in 21 requests." in lines
    assert "translator: v2 takes 5 %, step 2 of 5: v2 has answered 12 of the 20 requests that are needed." in lines
    assert lines[-1] == "translator: v2 has all traffic: v2 passed all steps."
    assert len(lines) == len(set(lines)), "nothing is told twice"


def test_a_watch_for_machines_is_one_object_a_line(moving: Control) -> None:
    watch = Piped(moving, "status", "-w", "-o", "json")
    moving.put(rolled_back())
    assert watch.wait() == 0, watch.err
    assert [json.loads(line)["phase"] for line in watch.out.splitlines()] == ["Progressing", "RolledBack"]


def test_a_watch_of_a_shift_that_is_deleted(moving: Control) -> None:
    watch = Piped(moving, "status", "-w")
    moving.put(document(), deleted=True)
    assert watch.wait() == 2
    assert "was deleted" in watch.err


def test_ctrl_c_ends_a_watch_without_a_traceback(moving: Control) -> None:
    watch = Piped(moving, "status", "-w")
    watch.process.send_signal(signal.SIGINT)
    assert watch.wait() == 130
    assert watch.err.strip() == "interrupted"


def test_a_watch_in_a_terminal_draws_in_place(moving: Control) -> None:
    screen = Terminal([TIDEGATE, "status", "-w", "--state-dir", str(moving.state_dir)])
    until(lambda: "waits for" in screen.text())
    moving.put(promoted())
    until(lambda: "v2 has all traffic" in screen.text())
    assert screen.wait() == 0
    text = screen.text()
    assert "\x1b[" in text, "drawn over itself"
    assert "█" in text
    assert "\x1b[?25h" in text, "the cursor is back"


def test_no_color_means_no_colour(moving: Control) -> None:
    moving.put(promoted())
    plain = Terminal([TIDEGATE, "status", "--state-dir", str(moving.state_dir)], NO_COLOR="1")
    assert plain.wait() == 0
    assert "\x1b[32m" not in plain.text()
    coloured = Terminal([TIDEGATE, "status", "--state-dir", str(moving.state_dir)])
    assert coloured.wait() == 0
    assert "\x1b[1;32m" in coloured.text()


def test_a_terminal_is_asked_before_a_promotion(moving: Control) -> None:
    no = Terminal([TIDEGATE, "promote", "--state-dir", str(moving.state_dir)])
    until(lambda: "Do it? [y/N]" in no.text())
    no.type("n\n")
    assert no.wait() == 130
    assert moving.shifts.commands == []
    yes = Terminal([TIDEGATE, "promote", "--state-dir", str(moving.state_dir)])
    until(lambda: "Do it? [y/N]" in yes.text())
    yes.type("y\n")
    assert yes.wait() == 0
    assert moving.shifts.commands[0].expect_step == 2, "bound to the step that was shown"


class Terminal:
    """A program in a real terminal of 100 columns."""

    def __init__(self, words: list[str], **environment: str) -> None:
        self._main, side = pty.openpty()
        clean = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
        environment = {**clean, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", **environment}
        self._process = subprocess.Popen(words, stdin=side, stdout=side, stderr=side, env=environment)
        os.close(side)
        self._seen = b""

    def text(self) -> str:
        """Everything that it has drawn so far."""
        while select.select([self._main], [], [], 0)[0]:
            try:
                self._seen += os.read(self._main, 65536)
            except OSError:
                break
        return self._seen.decode("utf-8", "replace")

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def wait(self) -> int:
        until(lambda: bool(self.text()) and self._process.poll() is not None)
        return self._process.returncode


@pytest.mark.parametrize(
    ("goal", "whole", "code"),
    [
        ("promoted", promoted(), 0),
        ("promoted", rolled_back(), 3),
        ("promoted", document(status(phase="Failed")), 1),
        ("rolled-back", rolled_back(), 0),
        ("rolled-back", promoted(), 1),
        ("finished", promoted(), 0),
        ("finished", rolled_back(), 3),
        ("step=2", document(), 0),
        ("step=3", promoted(), 0),
        ("step=3", rolled_back(), 3),
    ],
)
def test_how_a_wait_ends(control: Control, goal: str, whole: dict[str, Any], code: int) -> None:
    control.put(whole)
    ran = tidegate("wait", "--for", goal, "--timeout", "20s", "--state-dir", str(control.state_dir))
    assert ran.code == code, ran.err
    assert ran.out.startswith("translator: ")


def test_a_wait_that_ends_short_of_its_goal_says_why(control: Control) -> None:
    control.put(document(status(phase="Failed", reason="v2 does harm")))
    ran = tidegate("wait", "--for", "promoted", "--state-dir", str(control.state_dir))
    assert (ran.code, ran.out) == (1, "translator: v2 stays at 5 %: v2 does harm\n")


def test_a_wait_hears_of_the_change_that_it_waits_for(moving: Control) -> None:
    wait = Piped(moving, "wait", "--for", "promoted", "--timeout", "20s")
    moving.put(promoted())
    assert wait.wait() == 0, wait.err
    assert wait.out == "translator: v2 has all traffic\n"
    assert "step 1: advance" in wait.err, "progress is told on standard error"


def test_a_wait_that_takes_too_long(moving: Control) -> None:
    ran = tidegate("wait", "--for", "promoted", "--timeout", "100ms", "-q", "--state-dir", str(moving.state_dir))
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith("error[timed-out]: promoted was not reached within 0.1 s")


@pytest.mark.parametrize(
    "words", [("--for", "step=x"), ("--for", "step=0"), ("--for", "done"), ("--timeout", "soon"), ("--timeout", "5")]
)
def test_a_goal_or_time_that_makes_no_sense(moving: Control, words: tuple[str, str]) -> None:
    assert tidegate("wait", *words, "--state-dir", str(moving.state_dir)).code == 2
