"""What is done to the small cluster's processes: stopped and continued, killed and waited for."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from control.local.cluster.running import Cluster
from tests.support.mesh_wait import alive, until

PROGRAMS = {"istiod": "pilot-discovery"}
"""Programs that are called otherwise than the part of the cluster that they are."""


def pid_of(cluster: Cluster, part: str) -> int:
    """The process that is that part now: one that died was started again under another pid. 0: there is none."""
    program = PROGRAMS.get(part, part)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _is(folder, program, cluster.places.net) and alive(int(folder.name)):
            return int(folder.name)
    return 0


def _is(folder: Path, program: str, net: str) -> bool:
    try:
        words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    return Path(words[0]).name == program and any(f"{net}." in word for word in words)


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """They stand still (SIGSTOP), and go on afterwards."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


async def killed(cluster: Cluster, part: str) -> int:
    """Kills a part of the cluster (SIGKILL). Its supervisor starts it again. The pid it had."""
    pid = pid_of(cluster, part)
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not alive(pid), what=f"{part} is dead")
    return pid


async def away(cluster: Cluster, part: str, for_s: float) -> None:
    """Killed, and gone for that time: what comes up in its place is stopped before it serves anybody."""
    loop = asyncio.get_running_loop()
    end = loop.time() + for_s
    former = await killed(cluster, part)
    fresh = await until(lambda: (pid := pid_of(cluster, part)) != former and pid, within_s=60, what=f"{part} again")
    with stopped(fresh):
        await asyncio.sleep(max(0.0, end - loop.time()))
