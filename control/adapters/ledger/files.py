"""Where is what earlier shifts left behind? In one file a service, `FOLDER/<namespace>.<service>.yaml`.

A file is replaced as a whole, so that a process that dies at any moment leaves the old text or the new one. One that
can't be read is told with line and column and never written to: somebody's hand was in it, and only they know what was
meant.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from control.adapters.ledger.text import read_entries, with_entry
from control.engine.ledger import LedgerEntry
from control.errors import Refused, Unavailable
from control.folder import private_folder

SUFFIX, LOCK, NEW = ".yaml", ".lock", ".new"


class LedgerFiles:
    """The Ledger port on a folder, which is made when the first entry is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def read(self, namespace: str, service: str) -> tuple[LedgerEntry, ...]:
        path = self._path(namespace, service)
        return await asyncio.to_thread(_read, path)

    async def append(self, namespace: str, service: str, entry: LedgerEntry) -> None:
        path = self._path(namespace, service)
        await asyncio.to_thread(_append, self._folder, path, entry)

    async def services(self) -> tuple[tuple[str, str], ...]:
        return await asyncio.to_thread(_services, self._folder)

    def _path(self, namespace: str, service: str) -> Path:
        name = f"{namespace}.{service}{SUFFIX}"
        if not namespace or not service or name.startswith(".") or Path(name).name != name:
            raise Refused(f"{namespace}/{service} is no name of a service")
        return self._folder / name


def _read(path: Path) -> tuple[LedgerEntry, ...]:
    with _translated(path):
        return read_entries(path.read_bytes(), str(path)) if path.exists() else ()


def _append(folder: Path, path: Path, entry: LedgerEntry) -> None:
    """Raises: SpecError when the file can't be read; then it is left as it is."""
    private_folder(folder)
    with _translated(path), _locked(folder / LOCK):
        target = path.resolve()
        before = target.read_bytes() if target.exists() else b""
        after = with_entry(before, entry, str(path))
        if after != before:
            _replace(target, after)


def _services(folder: Path) -> tuple[tuple[str, str], ...]:
    with _translated(folder):
        names = sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))
    return tuple((namespace, service) for namespace, _, service in (name.partition(".") for name in names) if service)


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"the ledger {path} can't be used: {error.strerror}", "is the disk full or read-only?"
        ) from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time; the lock ends with the process however that dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, text: bytes) -> None:
    """The old text or the new one, whatever happens in between. The file keeps its mode."""
    new = path.with_name(path.name + NEW)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, new)
    new.replace(path)
    _keep_name(path.parent)


def _keep_name(folder: Path) -> None:
    """Makes the folder's new entry outlive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
