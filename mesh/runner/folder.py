"""What do the files of a folder say right now, and when does that change?

A half-written file must not be taken for what a person meant: a change counts when two readings agree, and a file that
became empty or vanished is given more time (editors and copies truncate first, or remove and make anew). A folder that
is not there says nothing at all: moved away or unmounted is not the same as emptied.
"""

import asyncio
import contextlib
import os
import stat
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

from watchfiles import Change, awatch

from mesh.istio.world import Content, Unreadable

SUFFIXES = (".yaml", ".yml")
MOST_BYTES = 11 * 1024 * 1024
"""More than any document may have: what is longer is cut here and refused as too long by the reader of documents."""

LOOK_EVERY = timedelta(milliseconds=500)
"""How often the folder is looked for: nothing tells a watcher that a folder above it was moved."""

Files = Mapping[str, Content]


class FolderAway(Exception):
    """The folder isn't there, so that it says nothing about its documents."""


class Folder:
    """A folder of documents. Files are named by their path inside it."""

    def __init__(
        self,
        root: Path,
        *,
        agree_after: timedelta = timedelta(milliseconds=15),
        gone_after: timedelta = timedelta(milliseconds=300),
    ) -> None:
        self.root = root
        self._agree_s = agree_after.total_seconds()
        self._gone_s = gone_after.total_seconds()
        self._known: tuple[int, int] | None = None

    def read(self) -> dict[str, Content]:
        """What every document file holds. Never waits for a file. Raises FolderAway.

        An empty folder in the place of the one that was read before (a mount point, say) is not that folder.
        """
        here = identity(self.root)
        if here is None:
            raise FolderAway(f"the folder {self.root} is not there")
        found: dict[str, Content] = {}
        for folder, folders, files in os.walk(self.root, onerror=lambda error: self._not_listed(error, found)):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for path in (Path(folder, name) for name in (*folders, *files) if is_document_name(name)):
                found[str(path.relative_to(self.root))] = read(path)
        if not found and self._known not in (None, here):
            raise FolderAway(f"another folder without documents is in the place of {self.root}")
        self._known = here
        return dict(sorted(found.items()))

    def _not_listed(self, error: OSError, found: dict[str, Content]) -> None:
        name = Path(error.filename).relative_to(self.root)
        if not name.parts:
            raise FolderAway(f"the folder {self.root} can't be listed: {error.strerror}")
        found[str(name)] = Unreadable(f"can't be listed: {error.strerror}")

    async def settled(self, known: Files) -> dict[str, Content]:
        """The files as they are meant to be, read until two readings agree. `known` is what they were before.
        Raises FolderAway.
        """
        reading = self.read()
        while True:
            await asyncio.sleep(self._gone_s if shrunk(known, reading) else self._agree_s)
            again = self.read()
            if again == reading:
                return again
            reading = again

    async def changes(self) -> AsyncIterator[None]:
        """Yields whenever a document file may have changed, again and again while the folder is away."""
        while True:
            watched = identity(self.root)
            if watched is None:
                await asyncio.sleep(LOOK_EVERY.total_seconds())
            else:
                async with aclosing(self._changes_of(watched)) as changes:
                    async for _ in changes:
                        yield
            yield

    async def _changes_of(self, watched: tuple[int, int]) -> AsyncGenerator[None, None]:
        """Changes while it is the folder `watched`. The first is said for what changed before the watcher was ready."""
        began = False
        with contextlib.suppress(FileNotFoundError):  # gone since we looked
            async with aclosing(watcher(self.root)) as sets:
                async for changes in sets:
                    if changes or not began:
                        began = True
                        yield
                    if identity(self.root) != watched:
                        return

    def write(self, file: str, content: bytes) -> None:
        """Replaces a file in one step: a reader sees the old or the new one, whole. Its mode stays."""
        path = (self.root / file).resolve()
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                os.fchmod(stream.fileno(), path.stat().st_mode & 0o777)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def watcher(root: Path) -> AsyncGenerator[set[tuple[Change, str]], None]:
    """Sets of changes; an empty one when nothing changed for a while."""
    every_ms = LOOK_EVERY // timedelta(milliseconds=1)
    return awatch(
        root,
        watch_filter=is_document,
        debounce=50,
        step=5,
        recursive=True,
        rust_timeout=every_ms,
        yield_on_timeout=True,
    )


def identity(folder: Path) -> tuple[int, int] | None:
    """Which folder it is, whatever its name; None when there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def read(path: Path) -> Content:
    """What the file holds. Only regular files are opened, and without waiting: a pipe would block for ever."""
    try:
        if not path.is_file():
            path.stat()
            return Unreadable("not a regular file")
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            return stream.read(MOST_BYTES) if regular else Unreadable("not a regular file")
    except OSError as error:
        return Unreadable(f"can't be read: {error.strerror}")


def shrunk(known: Files, reading: Files) -> bool:
    """Has a file become empty, or gone?"""
    return any(has_text(content) and not has_text(reading.get(file, b"")) for file, content in known.items())


def has_text(content: Content) -> bool:
    return isinstance(content, bytes) and bool(content.strip())


def is_document_name(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith(".")


def is_document(_: Change, path: str) -> bool:
    return path.endswith(SUFFIXES)
