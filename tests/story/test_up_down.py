"""`up` and `down`: everything is there, and nothing is left, however the supervisor ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from control.local.manifests import SHIFT
from control.local.runfile import RunFile, read_run_file

GARBAGE = b"garbage" * 1000
TIDEGATE = str(Path(sys.executable).parent / "tidegate")

pytestmark = [pytest.mark.story, pytest.mark.envoy, pytest.mark.apertium, pytest.mark.redis]


def tidegate(*words: str, state_dir: Path, path: str = os.environ["PATH"]) -> "subprocess.CompletedProcess[str]":
    line = [TIDEGATE, *words, "--state-dir", str(state_dir)]
    environment = {**os.environ, "PATH": path}
    return subprocess.run(line, capture_output=True, text=True, timeout=150, check=False, env=environment)


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"
    tidegate("down", state_dir=tmp_path / "state")


def up(state_dir: Path, path: str = os.environ["PATH"]) -> RunFile:
    done = tidegate("up", "--detach", state_dir=state_dir, path=path)
    assert done.returncode == 0, done.stderr
    return read_run_file(state_dir)


def family(run: RunFile) -> list[psutil.Process]:
    """The supervisor and everything that it started, Envoys and pipelines included."""
    supervisor = psutil.Process(run.pid)
    return [supervisor, *supervisor.children(recursive=True)]


def eventually(condition: Callable[[], bool], within_s: float = 60.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def gone(processes: list[psutil.Process]) -> bool:
    return not [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def test_down_leaves_nothing(state_dir: Path) -> None:
    run = up(state_dir)
    processes = family(run)
    assert len([each for each in processes if "envoy" in each.name()]) == 5
    assert oct(Path(run.token_file).stat().st_mode & 0o777) == "0o600"
    again = tidegate("up", "--detach", state_dir=state_dir)
    assert (again.returncode, "already" in again.stderr) == (2, True)
    said = tidegate("translate", "Where is the library?", "--to", "es", state_dir=state_dir)
    assert "biblioteca" in said.stdout, said.stderr
    done = tidegate("down", state_dir=state_dir)
    assert done.returncode == 0, done.stderr
    assert gone(processes)
    assert not state_dir.exists()


def test_nothing_outlives_a_killed_supervisor(state_dir: Path) -> None:
    run = up(state_dir)
    processes = family(run)
    os.kill(run.pid, signal.SIGKILL)
    assert eventually(lambda: gone(processes)), [each.cmdline() for each in processes if each.is_running()]
    assert tidegate("list", state_dir=state_dir).returncode == 5
    for companion in state_dir.glob("state.sqlite-*"):
        companion.unlink()  # else SQLite mends the file from its log
    (state_dir / "state.sqlite").write_bytes(GARBAGE)
    again = tidegate("up", "--detach", state_dir=state_dir)
    assert (again.returncode, "state.sqlite is damaged" in again.stdout) == (0, True), again
    down = tidegate("down", state_dir=state_dir)
    assert "kept: " in down.stderr
    (kept,) = state_dir.iterdir()
    assert kept.read_bytes() == GARBAGE


def programs_without_redis(folder: Path) -> str:
    """A PATH with all programs of this machine but redis-server."""
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name != "redis-server":
            (folder / program.name).symlink_to(program)
    return str(folder)


def test_without_redis_it_serves_and_says_what_to_type_and_a_dead_service_comes_back(
    state_dir: Path, tmp_path: Path
) -> None:
    run = up(state_dir, programs_without_redis(tmp_path / "bin"))
    assert "redis" not in run.processes
    assert "install it: sudo apt-get install -y redis-server" in (state_dir / "up.log").read_text()
    os.kill(run.processes["lang-detector"], signal.SIGKILL)
    answer = "biblioteca"
    assert eventually(
        lambda: answer in tidegate("translate", "Where is the library?", "--to", "es", state_dir=state_dir).stdout
    )


def look(state_dir: Path) -> dict[str, Any]:
    """The shift's status."""
    done = tidegate("get", "translator", "-o", "json", state_dir=state_dir)
    return dict(json.loads(done.stdout)["status"]) if done.returncode == 0 else {}


def test_a_shift_goes_on_where_it_was_when_its_mesh_was_killed(state_dir: Path) -> None:
    run = up(state_dir)
    assert tidegate("apply", str(SHIFT), state_dir=state_dir).returncode == 0
    assert eventually(lambda: look(state_dir)["share"]["acknowledged"] == "1/20", within_s=60)
    document = state_dir / "documents" / "00-mesh.yaml"
    document.write_text(document.read_text() + "# a person's note\n")
    processes = family(run)
    os.kill(run.pid, signal.SIGKILL)
    assert eventually(lambda: gone(processes))
    begun = look_back(state_dir)
    assert up(state_dir).gateway == run.gateway, "callers need not be pointed elsewhere"
    assert document.read_text().endswith("# a person's note\n")
    assert eventually(lambda: look(state_dir).get("share", {}).get("acknowledged") == "1/20", within_s=60)
    assert look(state_dir)["phase"] == "Progressing"
    assert not {"ForeignChange", "DriftRepaired", "CanaryGone"} & set(look_back(state_dir)[len(begun) :])


def look_back(state_dir: Path) -> list[str]:
    """The reasons of the shift's journal, oldest first."""
    done = tidegate("history", "translator", "-o", "json", state_dir=state_dir)
    return [entry["reason"] for entry in json.loads(done.stdout)] if done.returncode == 0 else []


def test_doctor_looks_at_the_machine_and_at_the_shift(state_dir: Path, tmp_path: Path) -> None:
    up(state_dir)
    assert tidegate("apply", str(SHIFT), state_dir=state_dir).returncode == 0
    assert eventually(lambda: look(state_dir)["share"]["acknowledged"] == "1/20", within_s=60)
    done = tidegate("doctor", "translator", "-o", "json", state_dir=state_dir)
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert {each["code"] for each in found} >= {"LAPTOP", "ROUTE", "READY", "PROXY", "COUNT"}
    assert {each["level"] for each in found if each["code"] != "COUNT"} == {"ok"}
    without = tidegate("doctor", state_dir=state_dir, path=programs_without_redis(tmp_path / "bin"))
    assert without.returncode == 1
    assert "redis-server is not there" in without.stdout
