"""A folder of documents: what counts as one, when a change is believed, and how a file is replaced."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mesh.istio.world import Unreadable
from mesh.runner.folder import Folder, FolderAway
from tests.support.mesh_wait import until

NOBODY = 65534


def test_only_yaml_files_count_also_in_sub_folders_but_not_hidden_ones(tmp_path: Path) -> None:
    for name in ("a.yaml", "sub/b.yml", ".hidden.yaml", ".git/c.yaml", "notes.txt", "d.yaml~"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert Folder(tmp_path).read() == {"a.yaml": b"a.yaml", "sub/b.yml": b"sub/b.yml"}


def test_only_regular_files_are_read_and_nothing_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "folder.yaml/in.yaml").write_text("in")
    (tmp_path / "link.yaml").symlink_to("folder.yaml/in.yaml")
    (tmp_path / "nowhere.yaml").symlink_to("nothing")
    (tmp_path / "null.yaml").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.yaml"))
        assert Folder(tmp_path).read() == {
            "folder.yaml": Unreadable("not a regular file"),
            "folder.yaml/in.yaml": b"in",
            "link.yaml": b"in",
            "nowhere.yaml": Unreadable("can't be read: No such file or directory"),
            "null.yaml": Unreadable("not a regular file"),
            "pipe.yaml": Unreadable("not a regular file"),
            "socket.yaml": Unreadable("not a regular file"),
        }


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so root becomes nobody for a while; anybody else is no root anyway."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)


def test_what_may_not_be_read_is_named() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to nobody
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "a.yaml").write_text("a")
        (folder / "a.yaml").chmod(0)
        (folder / "sub").mkdir(mode=0)
        with as_nobody():
            found = Folder(folder).read()
    assert found == {
        "a.yaml": Unreadable("can't be read: Permission denied"),
        "sub": Unreadable("can't be listed: Permission denied"),
    }


def test_a_folder_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "mesh")
    with pytest.raises(FolderAway, match="mesh is not there"):
        folder.read()
    (tmp_path / "mesh").write_text("a file")
    with pytest.raises(FolderAway, match="mesh is not there"):
        folder.read()


def test_an_empty_folder_in_the_place_of_the_known_one_is_not_that_folder(tmp_path: Path) -> None:
    root = tmp_path / "mesh"
    root.mkdir()
    (root / "a.yaml").write_text("a")
    folder = Folder(root)
    folder.read()
    root.rename(tmp_path / "moved")
    root.mkdir()
    with pytest.raises(FolderAway, match="another folder without documents is in the place of"):
        folder.read()
    (root / "b.yaml").write_text("b")
    assert folder.read() == {"b.yaml": b"b"}
    (root / "b.yaml").unlink()
    assert folder.read() == {}


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("old")
    file.chmod(0o640)
    Folder(tmp_path).write("a.yaml", b"new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


async def test_a_change_is_believed_when_two_readings_agree(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("half")
    folder = Folder(tmp_path, agree_after=timedelta(milliseconds=30))
    settling = asyncio.create_task(folder.settled({}))
    await asyncio.sleep(0)
    (tmp_path / "a.yaml").write_text("half and half")
    assert await settling == {"a.yaml": b"half and half"}


async def test_a_file_that_became_empty_is_given_time_to_fill_again(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")
    folder = Folder(tmp_path, agree_after=timedelta(), gone_after=timedelta(milliseconds=40))
    settling = asyncio.create_task(folder.settled({"a.yaml": b"full"}))
    await asyncio.sleep(0)
    (tmp_path / "a.yaml").write_text("full again")
    assert await settling == {"a.yaml": b"full again"}


async def test_a_file_that_stays_away_is_gone(tmp_path: Path) -> None:
    folder = Folder(tmp_path, gone_after=timedelta(milliseconds=1))
    assert await folder.settled({"a.yaml": b"full"}) == {}


async def test_changes_are_noticed(tmp_path: Path) -> None:
    beats = []

    async def watch() -> None:
        async for _ in Folder(tmp_path).changes():
            beats.append(1)  # noqa: PERF401

    watching = asyncio.create_task(watch())

    def touched() -> bool:
        (tmp_path / "a.yaml").write_text(str(len(beats)))
        return bool(beats)

    await until(touched)
    watching.cancel()


async def test_changes_go_on_when_the_folder_was_moved_away_and_comes_back(tmp_path: Path) -> None:
    above, root = tmp_path / "above", tmp_path / "above/mesh"
    root.mkdir(parents=True)
    changes = Folder(root).changes()
    async with asyncio.timeout(10):
        await anext(changes)
        above.rename(tmp_path / "moved")
        await anext(changes)
        assert not root.exists()
        (tmp_path / "moved").rename(above)
        await anext(changes)
        (root / "a.yaml").write_text("a")
        await anext(changes)
    await changes.aclose()  # type: ignore[attr-defined]
