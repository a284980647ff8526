"""Await a condition with a deadline: the only way in which these tests wait."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(condition: Callable[[], T | Awaitable[T]], *, within_s: float = 10, what: str = "") -> T:
    """The first true value of `condition`. Fails when there is none within the deadline."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    while True:
        value = condition()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        if loop.time() > end:
            raise AssertionError(f"not within {within_s} s: {what or condition}")
        await asyncio.sleep(0.005)


def alive(pid: int) -> bool:
    """Does a process with this pid run (a zombie doesn't)?"""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid: int) -> list[int]:
    """Pids of the direct children of a process."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            if parent == pid:
                found.append(int(entry))
    return found
