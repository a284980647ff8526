"""What a person types against the controller's own process, whose mesh is not there."""

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from control.api.shifts import UNASKED
from control.cli.commands import actor
from control.local.manifests import SHIFT
from control.local.runfile import RunFile, state_folder, write_run_file, write_token
from tests.support.cli_control import Ran, tidegate

READY_WITHIN_S = 30.0


@contextmanager
def controller(state_dir: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """`python -m control.main` on a free port, named in a run file as `tidegate up` writes it."""
    token = state_dir / "token"
    words = ["--state-dir", state_dir, "--listen", "127.0.0.1:0", "--mesh", "127.0.0.1:1", "--token-file", token]
    with state_folder(state_dir), (state_dir / "log").open("wb") as log:
        write_token(token)
        process = subprocess.Popen(
            [sys.executable, "-m", "control.main", *map(str, words)], stdout=subprocess.PIPE, stderr=log
        )
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], READY_WITHIN_S)[0], "it did not get ready"
            address = json.loads(process.stdout.readline())["listen"]
            run = RunFile(process.pid, "127.0.0", "127.0.0.1:1", address, "127.0.0.1:1", str(token), {})
            write_run_file(state_dir, run)
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def running(tmp_path: Path) -> "Iterator[tuple[Any, subprocess.Popen[bytes]]]":
    with controller(tmp_path / "state") as process:

        def ask(*words: object) -> Ran:
            return tidegate(*map(str, words), "--state-dir", str(tmp_path / "state"))

        yield ask, process


def phase(ask: Any) -> str:
    ran = ask("status", "-o", "json")
    assert ran.code == 0, ran.err
    return str(json.loads(ran.out)["phase"])


def applied(ask: Any, folder: Path) -> None:
    """The demo's shift, in all ways of applying it. There is no mesh that could say whether its routes exist."""
    said = f"{UNASKED}\n"
    assert ask("apply", SHIFT, "--dry-run").out == f"trafficshift default/translator would be created; {said}"
    assert ask("list").out == ""
    assert ask("apply", SHIFT).out == f"trafficshift default/translator created; {said}"
    assert ask("apply", SHIFT).out == f"trafficshift default/translator unchanged; {said}"

    other = folder / "other.yaml"
    other.write_text(SHIFT.read_text().replace("name: translator,", "name: another,"))
    second = ask("apply", other)
    assert (second.code, second.err[:14]) == (2, "error[refused]"), "two shifts on one route"


def test_what_a_person_types(running: Any, tmp_path: Path) -> None:
    ask, process = running
    applied(ask, tmp_path)
    assert phase(ask) == "Pending"
    stale = ask("promote", "--expect-step", "4")
    assert (stale.code, stale.err.splitlines()[0]) == (2, "error[refused]: translator is at step 0, not 4")
    assert ask("promote").code == 2, "it has not begun"

    assert ask("pause", "--reason", "lunch").code == 0
    assert phase(ask) == "Paused"
    before = ask("history", "-o", "json").out
    again = ask("pause")
    assert (again.code, again.out, ask("history", "-o", "json").out) == (0, "already paused\n", before)
    assert ask("resume").code == 0
    assert ask("suspend").code == 0
    assert phase(ask) == "Suspended"
    said = f"all traffic goes back to v1 (asked for by {actor()}: odd answers)\n"
    assert ask("rollback", "--reason", "odd answers", "--dry-run").out == f"would: {said}"
    assert phase(ask) == "Suspended"
    assert ask("rollback", "--reason", "odd answers").out == said
    assert ask("rollback").out == "already going back: v1 is being given all traffic\n"
    assert phase(ask) == "RollingBack"
    assert ask("retry").code == 2, "only when it is back"

    explained = ask("explain").out
    assert "odd answers" in explained
    told = json.loads(ask("history", "-o", "json").out)
    assert {"Paused", "Resumed", "Suspended", "Commanded"} <= {row["reason"] for row in told}
    assert {row["actor"] for row in told if row["reason"] == "Paused"} == {actor()}
    assert all(reason in ask("history").out.replace("\n", " ") for reason in ("lunch", "odd answers"))
    waited = ask("wait", "--for", "rolled-back", "--timeout", "100ms", "-q")
    assert waited.code == 4
    assert "traffic" in ask("delete", "translator", "--dry-run").out

    process.kill()
    process.wait()
    gone = ask("status")
    assert (gone.code, gone.out) == (5, "")
    assert gone.err.startswith("error[unavailable]")
