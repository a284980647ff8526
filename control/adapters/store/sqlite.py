"""Where do shifts survive a `kill -9`? In one SQLite file: compare-and-swap of one value a shift, and an advisory
journal.

Every write is one transaction, so a process that dies at any moment leaves the old value or the new one. `synchronous
= FULL` costs an fsync a write (a handful a second); with NORMAL a power cut could forget a `pause` that a person was
told is in force. Versions come from one counter that never repeats a number, so a shift that is deleted and created
again cannot be mistaken for its former self by a tick that still holds the old version. SQLite's calls block, so they
run in one thread of their own, which also puts them in one order.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from control.adapters.store.lock import FolderLock
from control.adapters.store.schema import open_file
from control.errors import Conflict, InvariantBroken, Refused, Unavailable
from control.ports import Stored

STATE_FILE = "state.sqlite"
MAX_VALUE_BYTES = 16 * 1024
JOURNAL_KEPT = 1000  # entries a shift
JOURNAL_KEPT_IN_ALL = 20_000  # entries of all shifts, deleted ones too

T = TypeVar("T")


class SqliteStore:
    """The Store port on `FOLDER/state.sqlite`. One writer: `open` takes the folder's lock. `notices` are for people."""

    def __init__(self, executor: ThreadPoolExecutor, lock: FolderLock) -> None:
        self._executor = executor
        self._lock = lock
        self._connection: sqlite3.Connection
        self.notices: tuple[str, ...] = ()

    @classmethod
    async def open(cls, folder: Path, now: datetime) -> "SqliteStore":
        """Raises Refused when another controller holds the folder, Unavailable when the disk can't be used."""
        lock = await asyncio.to_thread(FolderLock.take, folder)
        store = cls(ThreadPoolExecutor(1, thread_name_prefix="store"), lock)
        try:
            opened = await store._run(lambda: open_file(folder / STATE_FILE, now))
        except BaseException:
            lock.release()
            raise
        store._connection, store.notices = opened.connection, opened.notices
        return store

    async def close(self) -> None:
        await self._run(self._connection.close)
        self._executor.shutdown()
        self._lock.release()

    async def load(self, namespace: str, name: str) -> Stored | None:
        query = "SELECT namespace, name, spec, state, version FROM shift WHERE namespace = ? AND name = ?"
        rows = await self._rows(query, namespace, name)
        return _stored(rows[0]) if rows else None

    async def list(self, namespace: str | None = None) -> Sequence[Stored]:
        query = (
            "SELECT namespace, name, spec, state, version FROM shift WHERE ?1 IS NULL OR namespace = ?1 ORDER BY 1, 2"
        )
        return [_stored(row) for row in await self._rows(query, namespace)]

    async def save(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], state: Mapping[str, Any], expect: int
    ) -> int:
        texts = (_spec_text(namespace, name, spec), _state_text(namespace, name, state))

        def write(connection: sqlite3.Connection) -> int:
            _expect(connection, namespace, name, expect)
            version = _next_version(connection)
            row = (namespace, name, *texts, version)
            connection.execute("INSERT OR REPLACE INTO shift VALUES (?, ?, ?, ?, ?)", row)
            return version

        return await self._transaction(write)

    async def delete(self, namespace: str, name: str, *, expect: int) -> None:
        def remove(connection: sqlite3.Connection) -> None:
            _expect(connection, namespace, name, expect)
            connection.execute("DELETE FROM shift WHERE namespace = ? AND name = ?", (namespace, name))

        await self._transaction(remove)

    async def record(self, namespace: str, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """An entry that is kept already is the same entry: who was killed after recording it may record it again."""
        rows = [(namespace, name, _text(entry)) for entry in entries]
        if not rows:
            return

        def append(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO journal (namespace, name, entry) VALUES (?, ?, ?)", rows)
            _trim_journal(connection, namespace, name)

        await self._transaction(append)

    async def journal(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        query = "SELECT entry FROM journal WHERE namespace = ? AND name = ? ORDER BY id DESC LIMIT ?"
        rows = await self._rows(query, namespace, name, limit or JOURNAL_KEPT)
        return [json.loads(entry) for (entry,) in reversed(rows)]

    async def _rows(self, query: str, *values: object) -> Sequence[tuple[Any, ...]]:
        return await self._run(lambda: self._connection.execute(query, values).fetchall())

    async def _transaction(self, body: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(lambda: _in_transaction(self._connection, body))

    async def _run(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except sqlite3.Error as error:
            raise Unavailable(
                f"the state file can't be used: {error}", hint="is the disk full or read-only?"
            ) from error


def _in_transaction(connection: sqlite3.Connection, body: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = body(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _expect(connection: sqlite3.Connection, namespace: str, name: str, expect: int) -> None:
    query = "SELECT version FROM shift WHERE namespace = ? AND name = ?"
    row = connection.execute(query, (namespace, name)).fetchone()
    version = row[0] if row else 0
    if version != expect:
        raise Conflict(f"{namespace}/{name} is at version {version}, not {expect}", hint="read it again")


def _next_version(connection: sqlite3.Connection) -> int:
    row = connection.execute("UPDATE last_version SET value = value + 1 RETURNING value").fetchone()
    return int(row[0])


def _trim_journal(connection: sqlite3.Connection, namespace: str, name: str) -> None:
    connection.execute(
        "DELETE FROM journal WHERE namespace = ?1 AND name = ?2 AND id <= "
        "(SELECT id FROM journal WHERE namespace = ?1 AND name = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)",
        (namespace, name, JOURNAL_KEPT),
    )
    connection.execute("DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - ?", (JOURNAL_KEPT_IN_ALL,))


def _stored(row: tuple[Any, ...]) -> Stored:
    namespace, name, spec, state, version = row
    return Stored(namespace=namespace, name=name, spec=json.loads(spec), state=json.loads(state), version=version)


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _spec_text(namespace: str, name: str, spec: Mapping[str, Any]) -> str:
    text = _text(spec)
    if (size := len(text.encode())) > MAX_VALUE_BYTES:
        raise Refused(f"the spec of {namespace}/{name} has {size} bytes, {MAX_VALUE_BYTES} is the limit")
    return text


def _state_text(namespace: str, name: str, state: Mapping[str, Any]) -> str:
    text = _text(dict(state))
    if (size := len(text.encode())) > MAX_VALUE_BYTES:
        raise InvariantBroken(f"the state of {namespace}/{name} has {size} bytes, {MAX_VALUE_BYTES} is the limit")
    return text
