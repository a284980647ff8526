"""How far have the counters been used up? The marks that the next reading is differenced against.

A cursor is stored in one write with the evidence that used it up, and is opaque to everyone but `increments`. It lies
in the store column by column and names each proxy once, so that a hundred proxies take a few kilobytes when packed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

Key = tuple[str, str, str]
"""Whose counts: version, process, stratum."""
Row = tuple[int, ...]
Rows = Mapping[Key, Row]

UNKNOWN = -1
"""A count that the source did not give."""
REQUESTS, PODS = "#requests", "#pods"
"""The tables of the built-in counters and of the serving processes; all others are named for a metric."""


@dataclass(frozen=True, slots=True)
class Place:
    """One process of a version, by its position among those that are told apart.

    `served`: it has had traffic. `windows` counts the warm-up windows that this place has been given, whichever
    processes it was held by; `opened` is when its present process was first seen to serve, None where it gets no
    window.
    """

    process: str
    served: bool = False
    windows: int = 0
    opened: datetime | None = None


Places = tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Marks of one kind. `keys` are indices of the cursor's names, three a row; `columns` has one number a row each."""

    keys: tuple[int, ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Cursor:
    """The counters were used up to `at`. Nothing that is not newer is ever learned.

    A row of a table starts with the number of readings in a row that missed it. `edges_ms` are the edges that a
    histogram's counts are of; `senders` stands for all proxies that a pod's counts were summed over; `places` tell
    processes apart, by metric and version; `waiting` are counts that a comparison has not used yet (`polls`).
    `troubles` is what of the last reading could not be used, for people to read.
    """

    at: datetime | None = None
    names: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict)
    edges_ms: dict[str, tuple[float, ...]] = field(default_factory=dict)
    senders: int = 0
    places: dict[str, dict[str, Places]] = field(default_factory=dict)
    waiting: tuple[float, ...] = ()
    troubles: tuple[str, ...] = ()

    def rows(self, table: str) -> dict[Key, Row]:
        found = self.tables.get(table, Table())
        names = [self.names[each] for each in found.keys]
        keys = zip(names[::3], names[1::3], names[2::3], strict=True)
        return dict(zip(keys, zip(*found.columns, strict=True), strict=True))


def tables_of(tables: Mapping[str, Rows]) -> tuple[tuple[str, ...], dict[str, Table]]:
    """All names that occur, once each, and the tables that refer to them; the same for the same rows in any order."""
    names = sorted({name for rows in tables.values() for key in rows for name in key})
    index = {name: number for number, name in enumerate(names)}
    return tuple(names), {table: _table(rows, index) for table, rows in sorted(tables.items()) if rows}


def _table(rows: Rows, index: Mapping[str, int]) -> Table:
    keys = sorted(rows)
    columns: Iterable[Row] = zip(*(rows[key] for key in keys), strict=True)
    return Table(tuple(index[name] for key in keys for name in key), tuple(columns))
