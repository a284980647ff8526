"""What does a state file look like, and what happens to one that cannot be used? It is kept aside, never deleted.

A file that SQLite finds damaged, or that a newer Tidegate wrote, is renamed with a time stamp (with its write-ahead
log, which belongs to it) and a fresh one begins. Whoever opens the file gets a notice to show; nothing is lost that a
person may want back.
"""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

SCHEMA_VERSION = 1
APPLICATION_ID = 0x54474154  # "TGAT": tells our file from somebody else's SQLite file
COMPANIONS = ("", "-wal", "-shm")

TABLES = """
CREATE TABLE shift (
  namespace TEXT NOT NULL, name TEXT NOT NULL, spec TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE last_version (value INTEGER NOT NULL);
INSERT INTO last_version VALUES (0);
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, name TEXT NOT NULL, entry TEXT NOT NULL
);
CREATE INDEX journal_by_shift ON journal (namespace, name, id);
CREATE UNIQUE INDEX journal_once ON journal (namespace, name, entry);
"""


class UnusableFile(Exception):
    """Why a state file cannot be used, as a word for its new name and a sentence for people."""

    def __init__(self, word: str, sentence: str) -> None:
        super().__init__(sentence)
        self.word = word
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection ready for use, and what a person must be told about how it came to be."""

    connection: sqlite3.Connection
    notices: tuple[str, ...]


def open_file(path: Path, now: datetime) -> Opened:
    """The state file at `path`, made when it is absent, kept aside and made anew when it is unusable."""
    try:
        return Opened(_connect(path), ())
    except UnusableFile as unusable:
        kept = _keep_aside(path, unusable.word, now)
        notice = f"{path} {unusable.sentence}; it is kept as {kept.name} and a new one begins without any shift"
        return Opened(_connect(path), (notice,))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    try:
        _prepare(connection)
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT:
            raise
        raise UnusableFile("damaged", f"is damaged ({error})") from error
    except UnusableFile:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    version = _scalar(connection, "PRAGMA user_version")
    owner = _scalar(connection, "PRAGMA application_id")
    empty = not _scalar(connection, "SELECT count(*) FROM sqlite_master")
    if not empty and owner != APPLICATION_ID:
        raise UnusableFile("foreign", "is not a state file of Tidegate")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UnusableFile(
            "newer", f"was written by a newer Tidegate (schema {version}, this one knows {SCHEMA_VERSION})"
        )
    if (check := _scalar(connection, "PRAGMA quick_check(1)")) != "ok":
        raise UnusableFile("damaged", f"is damaged ({check})")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if empty:
        _create(connection)


def _create(connection: sqlite3.Connection) -> None:
    marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {marks} COMMIT;")


def _scalar(connection: sqlite3.Connection, query: str) -> object:
    return connection.execute(query).fetchone()[0]


def _keep_aside(path: Path, word: str, now: datetime) -> Path:
    kept = path.with_name(f"{path.name}.{word}-{now:%Y%m%dT%H%M%S.%fZ}")
    for suffix in COMPANIONS:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(kept.with_name(kept.name + suffix))
    return kept
