"""What do the files of a folder say right now, and when does that change?

A half-written file must not be taken for what a person meant: a change counts when two readings agree, and a file that
became empty or vanished is given more time (editors and copies truncate first, or remove and make anew).
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path

from watchfiles import Change, awatch

SUFFIXES = (".yaml", ".yml")
MOST_BYTES = 11 * 1024 * 1024
"""More than any document may have: what is longer is cut here and refused as too long by the reader of documents."""

Files = Mapping[str, bytes]


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

    def read(self) -> dict[str, bytes]:
        """The bytes of every document file. One that vanishes while being read is not there."""
        found: dict[str, bytes] = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root)
            if path.suffix in SUFFIXES and not any(part.startswith(".") for part in name.parts):
                content = read(path)
                if content is not None:
                    found[str(name)] = content
        return found

    async def settled(self, known: Files) -> dict[str, bytes]:
        """The files as they are meant to be, read until two readings agree. `known` is what they were before."""
        reading = self.read()
        while True:
            await asyncio.sleep(self._gone_s if shrunk(known, reading) else self._agree_s)
            again = self.read()
            if again == reading:
                return again
            reading = again

    async def changes(self) -> AsyncIterator[None]:
        """Yields whenever a document file may have changed."""
        async for _ in awatch(self.root, watch_filter=is_document, debounce=50, step=5, recursive=True):
            yield

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


def read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES)
    except OSError:
        return None


def shrunk(known: Files, reading: Files) -> bool:
    """Has a file become empty, or gone?"""
    return any(content.strip() and not reading.get(file, b"").strip() for file, content in known.items())


def is_document(_: Change, path: str) -> bool:
    return path.endswith(SUFFIXES)
