"""A state folder is its owner's alone, also one that was there before."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from control.adapters.store.lock import FolderLock
from control.errors import Refused
from control.folder import private_folder
from control.local.runfile import state_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def folder(path: Path, mode: int, *files: str) -> Path:
    path.mkdir()
    for name in files:
        (path / name).write_text("kept")
    path.chmod(mode)
    return path


def test_a_new_one_is_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        assert mode(private_folder(tmp_path / "deep" / "er")) == 0o700
    finally:
        os.umask(old)


@pytest.mark.parametrize(
    ("before", "files"),
    [
        pytest.param(0o755, (), id="others can look, nothing there"),
        pytest.param(0o755, ("state.sqlite",), id="others can look"),
        pytest.param(0o2750, ("state.sqlite",), id="the group can look, its bit is inherited"),
        pytest.param(0o777, (), id="others can write, nothing there yet"),
        pytest.param(0o700, ("state.sqlite",), id="private already"),
    ],
)
def test_one_that_was_open_is_closed(tmp_path: Path, before: int, files: tuple[str, ...]) -> None:
    path = private_folder(folder(tmp_path / "state", before, *files))
    assert mode(path) & 0o777 == 0o700
    assert [each.read_text() for each in path.iterdir()] == ["kept" for _ in files]


@pytest.mark.parametrize("before", [0o777, 0o775, 0o1777, 0o702], ids=oct)
def test_one_that_others_could_fill_is_refused_as_it_is(tmp_path: Path, before: int) -> None:
    path = folder(tmp_path / "state", before, "state.sqlite")
    with pytest.raises(Refused, match=f"mode {before:04o}") as caught:
        private_folder(path)
    assert f"chmod 700 {path}" in caught.value.hint
    assert mode(path) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_one_of_another_user_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path / "state", 0o700)
    os.chown(path, 12345, -1)
    with pytest.raises(Refused, match="belongs to another user"):
        private_folder(path)


def supervised(path: Path) -> None:
    with state_folder(path):
        pass


DOORS: dict[str, Callable[[Path], object]] = {
    "supervisor": supervised,
    "controller": lambda path: FolderLock.take(path).release(),
}


@pytest.mark.parametrize("door", DOORS)
def test_whoever_takes_a_state_folder_closes_it(tmp_path: Path, door: str) -> None:
    path = folder(tmp_path / "state", 0o755)
    DOORS[door](path)
    assert mode(path) == 0o700


@pytest.mark.parametrize(
    "name",
    ["file", "file/below", "dangling", "x" * 300],
    ids=["a file", "below a file", "a link to nowhere", "a name too long"],
)
def test_what_can_be_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at" / "all")
    (tmp_path / "nowhere").write_text("in the way")
    with pytest.raises(Refused, match="can't be a state folder") as caught:
        private_folder(tmp_path / name)
    assert "--state-dir" in caught.value.hint
