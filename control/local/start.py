"""How do processes start side by side, and what is a person told when some would not?

Nobody is cut short by the failure of another: a machine that lacks several things names all of them at once.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from control.errors import StartFailed
from mesh.process import ChildFailed, ChildSpec, Supervisor

Report = Callable[[str], None]
INSTALL = "sudo apt-get install -y"
INSTALLS = re.compile(rf"{INSTALL}((?: [a-z0-9][a-z0-9.+-]*[a-z0-9+])+)")


async def start_together(supervisor: Supervisor, specs: Iterable[ChildSpec], report: Report, *, logs: Path) -> None:
    """All of them, ready. Raises StartFailed with what everyone said that would not start."""
    async with asyncio.TaskGroup() as group:
        starts = [group.create_task(_start(supervisor, spec, report)) for spec in specs]
    failures = [failed for start in starts if (failed := start.result()) is not None]
    if failures:
        raise cannot_start(failures, logs)


async def _start(supervisor: Supervisor, spec: ChildSpec, report: Report) -> ChildFailed | None:
    try:
        await supervisor.start(spec)
    except ChildFailed as failed:
        report(f"{spec.name} did not start")
        return failed
    report(f"{spec.name} is ready")
    return None


def cannot_start(failures: Sequence[ChildFailed], logs: Path) -> StartFailed:
    """What each said, and the one line that installs whatever all of them lack."""
    texts = [str(failure) for failure in failures]
    line = install_line(texts)
    hint = f"type: {line}; the logs are in {logs}" if line else f"the logs are in {logs}"
    return StartFailed("the mesh could not be started: " + "\n".join(texts), hint)


def install_line(texts: Iterable[str]) -> str:
    """The packages of all the lines to type in these texts, as one line; empty when there are none."""
    found = (packages for text in texts for packages in INSTALLS.findall(text))
    packages = dict.fromkeys(package for words in found for package in words.split())
    return " ".join((INSTALL, *packages)) if packages else ""
