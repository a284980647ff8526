"""`run.json` tells of a mesh only while its supervisor lives."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from control.errors import Refused, Unavailable
from control.local import down
from control.local.children import redis_socket
from control.local.layout import Layout
from control.local.runfile import (
    RunFile,
    is_locked,
    lock_path,
    read_run_file,
    run_path,
    state_folder,
    supervisor_of,
    write_run_file,
    write_token,
)
from control.local.system import clear, refuse_foreign

RUN = RunFile(4242, "127.0.0", "127.0.0.2:8080", "127.0.0.1:1", "127.0.0.1:2", "/x/token", {"mesh": 4243})


def test_a_running_mesh_is_found(tmp_path: Path) -> None:
    with state_folder(tmp_path):
        write_run_file(tmp_path, RUN)
        assert read_run_file(tmp_path) == RUN


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pid": 1}', '"x"'], ids=["empty", "list", "torn", "half", "text"])
def test_a_broken_run_file_means_that_nothing_runs(tmp_path: Path, text: str) -> None:
    with state_folder(tmp_path):
        run_path(tmp_path).write_text(text)
        with pytest.raises(Unavailable, match="no mesh runs") as caught:
            read_run_file(tmp_path)
    assert "tidegate up" in caught.value.hint


def test_a_run_file_without_its_supervisor_is_a_leftover(tmp_path: Path) -> None:
    with state_folder(tmp_path):
        write_run_file(tmp_path, RUN)
    with pytest.raises(Unavailable, match="is gone"):
        read_run_file(tmp_path)


def test_no_folder_at_all_means_that_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no mesh runs"):
        read_run_file(tmp_path / "absent")


def test_a_second_mesh_in_one_folder_is_refused(tmp_path: Path) -> None:
    with state_folder(tmp_path), pytest.raises(Refused, match="runs in"), state_folder(tmp_path):
        pytest.fail("two owners")
    assert not is_locked(tmp_path)


def test_the_token_is_new_each_time_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    first, second = write_token(tmp_path / "token"), write_token(tmp_path / "token")
    assert first != second
    assert len(second) >= 32
    assert (tmp_path / "token").read_text() == second
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


def left_by_a_killed_supervisor(folder: Path) -> Path:
    with state_folder(folder):
        write_run_file(folder, RUN)
    (folder / "documents").mkdir()
    (folder / "documents" / "mesh.yaml").write_text("x")
    for name in ("state.sqlite", "state.sqlite-wal", "token", "up.log"):
        (folder / name).write_text("x")
    return folder


def test_clear_leaves_nothing(tmp_path: Path) -> None:
    folder = left_by_a_killed_supervisor(tmp_path / "state")
    socket = redis_socket(Layout(RUN.net, folder))
    socket.touch()
    assert clear(folder) == []
    assert not folder.exists()
    assert not socket.exists()


@pytest.mark.parametrize(
    "name",
    ["state.sqlite.damaged-20260101T000000.000000Z", "ledger", "thesis.txt"],
    ids=["kept aside", "what shifts found", "foreign"],
)
def test_clear_removes_nothing_but_its_own(tmp_path: Path, name: str) -> None:
    left_by_a_killed_supervisor(tmp_path)
    kept = tmp_path / name
    kept.write_text("precious")
    assert clear(tmp_path) == [kept]
    assert sorted(tmp_path.iterdir()) == [kept]


def test_a_folder_in_which_no_mesh_ever_ran_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    assert clear(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["documents"]
    assert clear(tmp_path / "absent") == []


def test_a_folder_that_is_in_use_is_not_cleared(tmp_path: Path) -> None:
    with state_folder(tmp_path), pytest.raises(Refused, match="runs in"):
        clear(tmp_path)
    assert lock_path(tmp_path).exists()


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        pytest.param([], False, id="empty"),
        pytest.param(["thesis.txt"], True, id="somebody else's"),
        pytest.param(["thesis.txt", "lock"], False, id="ours since before"),
        pytest.param(["state.sqlite", "token", "controller.lock"], False, id="a controller's"),
        pytest.param(["state.sqlite.newer-20260101T000000.000000Z"], False, id="kept aside"),
        pytest.param(["ledger"], False, id="what earlier shifts found"),
    ],
)
def test_which_folders_a_mesh_may_use(tmp_path: Path, names: list[str], refused: bool) -> None:
    for name in names:
        (tmp_path / name).write_text("x")
    if refused:
        with pytest.raises(Refused, match=r"holds thesis\.txt"):
            refuse_foreign(tmp_path)
    else:
        refuse_foreign(tmp_path)
    refuse_foreign(tmp_path / "absent")


def test_a_mesh_that_is_still_starting_can_be_stopped(tmp_path: Path) -> None:
    waits = "import sys, time; from pathlib import Path; from control.local.runfile import state_folder\n"
    waits += "with state_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    state_dir = tmp_path / "state"
    assert supervisor_of(state_dir) is None
    with subprocess.Popen([sys.executable, "-c", waits, str(state_dir)], stdout=subprocess.PIPE) as starting:
        assert starting.stdout is not None
        starting.stdout.readline()
        assert supervisor_of(state_dir) == starting.pid
        ran = CliRunner().invoke(down.command, ["--state-dir", str(state_dir), "--dry-run"])
        assert (ran.exit_code, f"process {starting.pid}" in ran.stderr) == (0, True)
        assert starting.poll() is None
        assert CliRunner().invoke(down.command, ["--state-dir", str(state_dir)]).exit_code == 0
        assert supervisor_of(state_dir) is None
    assert not state_dir.exists()
    ran = CliRunner().invoke(down.command, ["--state-dir", str(state_dir)])
    assert (ran.exit_code, "nothing to stop" in ran.stderr) == (0, True)
