"""How far have the counters been used up? The marks that the next reading is differenced against.

A cursor is stored in one write with the evidence that used it up, and is opaque to everyone but `increments`. It lies
in the store column by column and names each proxy once, so that a hundred proxies take a few kilobytes when packed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, pairwise

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
    """Marks of one kind: texts with one number a row each.

    `keys` are the places of version, process and stratum among the cursor's names, each as the step from the row
    before, since proxies in order have names in order.
    """

    keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


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
        if table not in self.tables:
            return {}
        found = self.tables[table]
        steps = (accumulate(numbers(each)) for each in found.keys)
        keys = zip(*([self.names[place] for place in places] for places in steps), strict=True)
        return dict(zip(keys, zip(*map(numbers, found.columns), strict=True), strict=True))


def tables_of(tables: Mapping[str, Rows]) -> tuple[tuple[str, ...], dict[str, Table]]:
    """All names that occur, once each, and the tables that refer to them; the same for the same rows in any order."""
    names = sorted({name for rows in tables.values() for key in rows for name in key})
    index = {name: number for number, name in enumerate(names)}
    return tuple(names), {table: _table(rows, index) for table, rows in sorted(tables.items()) if rows}


def _table(rows: Rows, index: Mapping[str, int]) -> Table:
    keys = sorted(rows)
    places: Iterable[Row] = zip(*([index[name] for name in key] for key in keys), strict=True)
    columns: Iterable[Row] = zip(*(rows[key] for key in keys), strict=True)
    return Table(tuple(text(_steps(each)) for each in places), tuple(map(text, columns)))


def _steps(places: Row) -> Row:
    return (places[0], *(here - before for before, here in pairwise(places)))


@lru_cache(maxsize=256)
def text(column: Row) -> str:
    """A column of numbers as their least one and the bytes of what each has beyond it, all lowest bytes first: the
    high ones are alike and pack well.

    Example: (7, 8, 300) is "7:3:000125000001": three numbers, beyond 7 are 0, 1 and 293, which is 0x0125.
    """
    least, most = min(column), max(column)
    width = ((most - least).bit_length() + 7) // 8
    by_row = b"".join((each - least).to_bytes(width, "little") for each in column)
    return f"{least}:{len(column)}:{b''.join(by_row[place::width] for place in range(width)).hex()}"


@lru_cache(maxsize=256)
def numbers(text: str) -> Row:
    """Raises: ValueError for text that is no column."""
    least, length, planes = text.split(":")
    start, rows, by_place = int(least), int(length), bytes.fromhex(planes)
    return tuple(start + int.from_bytes(by_place[row::rows], "little") for row in range(rows))
