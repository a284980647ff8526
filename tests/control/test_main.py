"""The controller as a process: it says when it serves, stops when told, and never shares a state folder."""

import asyncio
import json
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner

from control.adapters.store.sqlite import STATE_FILE
from control.api.client import GrpcShiftClient
from control.main import main
from tests.support.control_api import SHIFT

NO_MESH = "127.0.0.1:1"


def command(folder: Path, *more: str) -> tuple[str, ...]:
    listen = () if "--listen" in more else ("--listen", "127.0.0.1:0")
    return (sys.executable, "-m", "control.main", "--state-dir", str(folder), "--mesh", NO_MESH, *listen, *more)


@asynccontextmanager
async def controller(folder: Path, *more: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command(folder, *more), stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    try:
        yield process, json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def refusal(*words: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
    _, stderr = await asyncio.wait_for(process.communicate(), 20)
    return process.returncode, stderr.decode()


async def test_it_serves_with_a_token_that_it_made_and_stops_when_told(tmp_path: Path) -> None:
    async with controller(tmp_path) as (process, ready):
        token = tmp_path / "token"
        assert ready["ready"] is True
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        async with GrpcShiftClient(ready["listen"], token.read_text().strip()) as tool:
            await tool.apply(SHIFT, "shift.yaml")
            shift = await tool.get("default", "translator")
            assert shift.spec["canary"] == "v2"
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 60) == 0


async def test_an_empty_folder_that_was_open_to_all_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    async with controller(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_shifts_survive_a_kill(tmp_path: Path) -> None:
    unasked = "; the mesh does not answer now, so its routes are checked when it does"
    for outcome in ("created" + unasked, "unchanged" + unasked):
        async with controller(tmp_path) as (process, ready):
            async with GrpcShiftClient(ready["listen"], (tmp_path / "token").read_text().strip()) as tool:
                assert (await tool.apply(SHIFT, "shift.yaml")).outcome == outcome
            process.kill()
            await process.wait()


async def test_a_second_controller_is_refused_its_state_folder_and_its_port(tmp_path: Path) -> None:
    async with controller(tmp_path / "one") as (process, ready):
        same_folder, same_port = await asyncio.gather(
            refusal(*command(tmp_path / "one")), refusal(*command(tmp_path / "two", "--listen", ready["listen"]))
        )
    assert (same_folder[0], same_port[0]) == (2, 1)
    assert f"pid {process.pid}" in same_folder[1]
    assert "another state folder" in same_folder[1]
    assert ready["listen"] in same_port[1]
    assert "Traceback" not in same_folder[1] + same_port[1]


async def test_a_damaged_state_file_is_kept_and_said(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).write_bytes(b"garbage" * 1000)
    async with controller(tmp_path) as (_, ready):
        (notice,) = ready["notices"]
    assert "is damaged" in notice
    kept = tmp_path / notice.split("kept as ")[1].split()[0]
    assert kept.read_bytes() == b"garbage" * 1000


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        pytest.param("--listen", "0.0.0.0:0", "not made for a network", id="listening on a network"),
        pytest.param("--listen", "nowhere", "not an address", id="listening nowhere"),
        pytest.param("--token-file", "open", "read by others", id="a token that others can read"),
    ],
)
def test_starts_that_are_refused(tmp_path: Path, option: str, value: str, message: str) -> None:
    if value == "open":
        path = tmp_path / "open"
        path.write_text("secret")
        path.chmod(0o644)
        value = str(path)
    result = CliRunner().invoke(main, [*command(tmp_path / "state")[3:], option, value])
    assert (result.exit_code, message in result.stderr) == (2, True), result.output
    assert not (tmp_path / "state" / STATE_FILE).exists()


async def test_metrics_are_served_when_asked_for(tmp_path: Path) -> None:
    async with controller(tmp_path, "--metrics", "127.0.0.1:0") as (_, ready):
        url = f"http://{ready['metrics']}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            assert "tidegate_shifts_waiting 0.0" in await response.text()
