"""A folder of documents: what counts as one, when a change is believed, and how a file is replaced."""

import asyncio
from datetime import timedelta
from pathlib import Path

from mesh.runner.folder import Folder
from tests.support.mesh_wait import until


def test_only_yaml_files_count_also_in_sub_folders_but_not_hidden_ones(tmp_path: Path) -> None:
    for name in ("a.yaml", "sub/b.yml", ".hidden.yaml", ".git/c.yaml", "notes.txt", "d.yaml~"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert Folder(tmp_path).read() == {"a.yaml": b"a.yaml", "sub/b.yml": b"sub/b.yml"}


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
