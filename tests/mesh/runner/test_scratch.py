"""A run that named no folder leaves none behind, unless its logs tell why it failed."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from mesh.runner.scratch import scratch_folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def left(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def failing(file: str) -> None:
    with scratch_folder() as folder:
        (folder / file).write_text("words")
        sys.exit(1)


def test_after_a_clean_end_nothing_is_left(temporary: Path) -> None:
    with scratch_folder() as folder:
        (folder / "envoy.err.log").write_text("words")
        assert folder.parent == temporary
    assert left(temporary) == []


@pytest.mark.parametrize(
    ("file", "stays"),
    [pytest.param("envoy.err.log", True, id="with logs it stays"), pytest.param("token", False, id="without it goes")],
)
def test_after_an_error(temporary: Path, capsys: pytest.CaptureFixture[str], file: str, stays: bool) -> None:
    with pytest.raises(SystemExit):
        failing(file)
    assert len(left(temporary)) == stays
    assert [f"the logs are in {folder}" for folder in left(temporary)] == capsys.readouterr().err.splitlines()


async def test_a_runner_that_is_stopped_leaves_no_folder(tmp_path: Path, temporary: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    runner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mesh.run", str(documents)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert runner.stdout is not None
    ready = json.loads(await asyncio.wait_for(runner.stdout.readline(), 60))
    assert Path(ready["tokenFile"]).parent.parent == temporary
    runner.terminate()
    assert await asyncio.wait_for(runner.wait(), 60) == 0
    assert left(temporary) == []
