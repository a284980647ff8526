"""The demo's load: the open-loop generator as a process beside, its reports as they come."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from control.local.children import python_module
from control.local.leashed import leashed

AUTHORITY = "translate.example.com"
ENDS_WITHIN_S = 15.0
# Nine texts of ten have been asked for before, as in the deployment that the workload was taken from (hit rate 89 %).
MIX = {"--hot-share": "0.9", "--detect-share": "0.1", "--deadline": "10s"}


@dataclass(slots=True)
class Load:
    """`ticks` holds a report for each second, `summary` the whole once it has ended."""

    process: asyncio.subprocess.Process
    ticks: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    ended: bool = False
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def ok(self) -> int:
        """Requests that succeeded so far."""
        return int(self.ticks[-1]["total"]["ok"]) if self.ticks else 0

    async def served(self, requests: int) -> None:
        """Returns when so many requests have succeeded, or the load has ended."""
        async with self.news:
            await self.news.wait_for(lambda: self.ok >= requests or self.ended)

    async def answered_by(self, version: str) -> None:
        """Returns when the version has answered within one of the seconds to come, or the load has ended."""
        begin = len(self.ticks)
        async with self.news:
            await self.news.wait_for(
                lambda: self.ended or any(tick["versions"].get(version, {}).get("n") for tick in self.ticks[begin:])
            )

    async def follow(self) -> None:
        """Takes the reports in until the generator ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            report = json.loads(line)
            async with self.news:
                if report.get("kind") == "summary":
                    self.summary = report
                else:
                    self.ticks.append(report)
                self.news.notify_all()
        async with self.news:
            self.ended = True
            self.news.notify_all()

    async def finish(self) -> dict[str, Any]:
        """Stops sending, waits for what is on its way, and returns the summary (empty when there is none)."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        async with self.news:
            await self.news.wait_for(lambda: self.ended)
        return self.summary


@contextlib.asynccontextmanager
async def load(target: str, rate: float, log: Path) -> AsyncIterator[Load]:
    """Load on `target` (host:port of the gateway) while the context lasts. Units: `rate` is requests a second."""
    options = {"--target": target, "--authority": AUTHORITY, "--rate": f"{rate:g}", "--every": "1s", **MIX}
    words = [word for pair in options.items() for word in pair]
    process = await leashed(*python_module("services.loadgen"), *words, stderr=log)
    running = Load(process)
    following = asyncio.create_task(running.follow())
    try:
        yield running
    finally:
        await _end(process)
        following.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(ENDS_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
