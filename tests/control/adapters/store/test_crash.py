"""`kill -9` in the middle of writes: the next controller finds the last acknowledged value, or the next."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from control.adapters.store.sqlite import SqliteStore
from tests.support.control_time import NOON

WRITER = """
import asyncio, json, sys
from datetime import UTC, datetime
from pathlib import Path
from control.adapters.store.sqlite import SqliteStore

async def main() -> None:
    store = await SqliteStore.open(Path(sys.argv[1]), datetime.now(UTC))
    stored = await store.load("ns", "x")
    version, n = (stored.version, stored.state["n"]) if stored else (0, 0)
    while True:
        n += 1
        version = await store.save("ns", "x", spec={}, state={"n": n, "pad": "p" * 8000}, expect=version)
        await store.record("ns", "x", [{"n": n}])
        print(n, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("writes", [1, 7, 23])
async def test_a_killed_writer_loses_nothing_that_it_was_told_is_written(tmp_path: Path, writes: int) -> None:
    acknowledged = 0
    for _ in range(3):
        acknowledged = await _write_until_killed(tmp_path, writes)
        store = await SqliteStore.open(tmp_path, NOON)  # its lock died with it
        stored = await store.load("ns", "x")
        journal = [entry["n"] for entry in await store.journal("ns", "x")]
        await store.close()
        assert stored is not None
        assert stored.state["n"] in (acknowledged, acknowledged + 1)
        assert journal == sorted(set(journal))
        assert store.notices == ()


async def _write_until_killed(folder: Path, writes: int) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(writes):
        last = json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
    process.send_signal(signal.SIGKILL)
    for line in (await process.stdout.read()).splitlines():
        last = json.loads(line)
    await process.wait()
    return int(last)
