"""Load that goes on while something changes: how many requests of each version, and every failure."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc.aio

from tests.support.backend import Client
from tests.support.mesh_wait import until


@dataclass
class Load:
    """`failures` are the statuses of failed requests in words."""

    by_version: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        return self.by_version.total()

    async def more(self, count: int) -> None:
        """Returns when that many more requests were answered."""
        wanted = self.answered + len(self.failures) + count
        await until(lambda: self.answered + len(self.failures) >= wanted, within_s=90, what=f"{count} more requests")


@asynccontextmanager
async def load(*callers: Client, workers: int = 8) -> AsyncIterator[Load]:
    """Calls without a pause, by several workers each, as long as the context lasts."""
    result = Load()
    tasks = [asyncio.create_task(work(caller, result)) for caller in callers for _ in range(workers)]
    try:
        yield result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def work(caller: Client, result: Load) -> None:
    while True:
        try:
            result.by_version[await caller.call()] += 1
        except grpc.aio.AioRpcError as error:
            result.failures.append(f"{error.code().name}: {error.details()}")
