"""A service process of this project, started and ended by a test, and what it said on stdout."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 90


@dataclass(frozen=True)
class Running:
    """A started process."""

    process: asyncio.subprocess.Process

    async def line(self) -> dict[str, Any]:
        """The next line of JSON on its stdout."""
        raw = await asyncio.wait_for(self.process.stdout.readline(), DEADLINE_S)
        assert raw, "the process ended without another line"
        return json.loads(raw)

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(number)
        return await self.exit_code()

    async def exit_code(self) -> int:
        return await asyncio.wait_for(self.process.wait(), DEADLINE_S)

    async def rest(self) -> list[dict[str, Any]]:
        """All further lines of JSON until its stdout ends."""
        raw = await asyncio.wait_for(self.process.stdout.read(), DEADLINE_S)
        return [json.loads(line) for line in raw.splitlines()]

    async def complaint(self) -> str:
        """All that it wrote to stderr until its end."""
        return (await asyncio.wait_for(self.process.stderr.read(), DEADLINE_S)).decode()


@asynccontextmanager
async def module(name: str, *arguments: str) -> AsyncIterator[Running]:
    """`python -m name arguments`; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        name,
        *arguments,
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
