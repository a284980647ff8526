"""A helper process that can't outlive us: started on the supervisor's leash, without being supervised."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from mesh.process.launch import LEASH


async def leashed(*command: str, stderr: Path) -> asyncio.subprocess.Process:
    """The process, its stdout a pipe, its stderr in a file. It gets SIGTERM when this process dies, however that is."""
    leash = (sys.executable, "-I", "-S", LEASH, str(os.getpid()), str(int(signal.SIGTERM)))
    with stderr.open("wb") as log:
        return await asyncio.create_subprocess_exec(
            *leash,
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            limit=1 << 20,
            start_new_session=True,
        )
