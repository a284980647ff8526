"""`run.json` tells of a mesh only while its supervisor lives."""

import json
import stat
from pathlib import Path

import pytest

from control.errors import Refused, Unavailable
from control.local.runfile import RunFile, is_locked, read_run_file, run_path, state_folder, write_run_file, write_token
from control.local.system import clear

RUN = RunFile(4242, "127.99.7", "127.99.7.2:8080", "127.99.7.1:1", "127.99.7.1:2", "/x/token", {"mesh": 4243})


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


def test_clear_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    (folder / "documents").mkdir(parents=True)
    (folder / "state.sqlite").write_text("x")
    assert clear(folder) == []
    assert not folder.exists()


def test_clear_never_removes_a_state_file_that_was_kept_aside(tmp_path: Path) -> None:
    kept = tmp_path / "state.sqlite.corrupted-20260101T000000.000000Z"
    kept.write_text("precious")
    (tmp_path / "run.json").write_text(json.dumps({}))
    (tmp_path / "logs").mkdir()
    assert clear(tmp_path) == [kept]
    assert sorted(tmp_path.iterdir()) == [kept]
