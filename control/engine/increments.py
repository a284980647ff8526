"""What is new since the last reading? The one function that differences counters: an increment counts once or never.

A process is one incarnation of one proxy: a restarted proxy is another process, that counts from 0 if the source was
read before (its whole count is new), and is neutral at the very first reading. What could not be read is neutral now
and caught up once. Time is only trusted to order readings: one that is not newer than the last is skipped, so that a
gap may be replayed, and even twice, without harm.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zlib import crc32

from control.engine.cursor import PODS, REQUESTS, Cursor, Key, Places, Row, Rows, tables_of
from control.engine.differences import Growth, fell, kept, neutral, of_requests, plus, restarts
from control.engine.places import seated, slots
from control.engine.readings import Reading, Tally, oldest_first
from control.engine.sound import row_of_buckets, row_of_requests, row_of_two

LATENCY = "latency"
SET_BACK = timedelta(minutes=1)
"""A look this much older than the last one comes from a clock that was set back, not from a late answer."""
MOST_NEW, MOST_NEW_PER_S = 1e9, 1e6
"""More than this in one series is no traffic, but a counter that jumped."""
MOST_TOLD = 3

Pair = tuple[str, str]
"""Version and stratum."""


@dataclass(frozen=True, slots=True)
class Increments:
    """What one reading added since the one before (None: since nobody knows when).

    `tallies` are requests that ended, `started` those that began, by version and stratum; where the source knows of a
    request only when it ends (`at_end`), they are the same ones. `counts` are by metric, of latency and of people's
    own: all, then the bad ones or those above each edge (UNKNOWN where a series has no such edge). `served` are by
    metric, version and slot of the process, PODS among the metrics. `places` are the versions' processes.
    """

    at: datetime
    since: datetime | None = None
    tallies: Mapping[Pair, Tally] = field(default_factory=dict)
    started: Mapping[Pair, int] = field(default_factory=dict)
    at_end: bool = False
    counts: Mapping[str, Mapping[Pair, Row]] = field(default_factory=dict)
    served: Mapping[str, Mapping[tuple[str, int], Row]] = field(default_factory=dict)
    places: Mapping[str, Places] = field(default_factory=dict)

    def total(self, version: str) -> Tally:
        return sum((each for (name, _), each in self.tallies.items() if name == version), Tally())


def increments(
    cursor: Cursor, reading: Reading, edges_ms: Mapping[str, tuple[float, ...]] | None = None
) -> tuple[tuple[Increments, ...], Cursor]:
    """What the reading, and each that it brings from before, added since `cursor`, oldest first; and the cursor that
    has used it up.

    Units: `edges_ms` are the edges to count above, ascending, by the name of the histogram's metric.
    """
    found: list[Increments] = []
    for each in oldest_first(reading):
        if cursor.at is not None and each.at <= cursor.at:
            cursor = _set_back(cursor, each.at) if each is reading else cursor
            continue
        new, cursor = _learned(cursor, each, edges_ms or {})
        found.append(new)
    return tuple(found), cursor


def _set_back(cursor: Cursor, at: datetime) -> Cursor:
    """A look that is not newer adds nothing. One that is much older shows that the clock was set back: its time counts
    from now on, and what happened since the last look is caught up by the next one.
    """
    assert cursor.at is not None
    if cursor.at - at <= SET_BACK:
        return cursor
    told = f"the clock was set back by {cursor.at - at}: this look only serves to start from"
    return replace(cursor, at=at, troubles=(told,))


@dataclass(slots=True)
class _Look:
    """One reading while it is being differenced. Mutable, and gone when that is done.

    `most` is the most that one series can have grown.
    """

    cursor: Cursor
    reading: Reading
    edges_ms: Mapping[str, tuple[float, ...]]
    most: float
    tables: dict[str, Rows] = field(default_factory=dict)
    places: dict[str, dict[str, Places]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    @property
    def first(self) -> bool:
        return self.cursor.at is None

    def usable(self, rows: Mapping[Key, Row | str], what: str) -> dict[Key, Row]:
        """The rows that are counts; of the others, what is wrong with them."""
        for (version, process, _), row in rows.items():
            if isinstance(row, str):
                self.troubles.append(f"{what} of {version} at {process} {row}")
        return {key: row for key, row in rows.items() if not isinstance(row, str)}


def _learned(cursor: Cursor, reading: Reading, edges_ms: Mapping[str, tuple[float, ...]]) -> tuple[Increments, Cursor]:
    passed = timedelta(0) if cursor.at is None else reading.at - cursor.at
    most = MOST_NEW + MOST_NEW_PER_S * passed.total_seconds()
    look = _Look(cursor, reading, edges_ms, most, _tables(cursor, edges_ms), dict(cursor.places))
    ended = _requests(look)
    counts, served = _measured(look)
    pods = _pods(look)
    names, tables = tables_of(look.tables)
    used = Cursor(
        at=reading.at,
        names=names,
        tables=tables,
        edges_ms=dict(edges_ms),
        senders=_senders(reading) if reading.pods else cursor.senders,
        places=look.places,
        waiting=cursor.waiting,
        troubles=tuple(look.troubles[:MOST_TOLD]),
    )
    new = Increments(
        at=reading.at,
        since=cursor.at,
        tallies={pair: Tally(*row[:4]) for pair, row in ended.items()},
        started={pair: row[4] for pair, row in ended.items()},
        at_end=any(each.in_flight is None for each in reading.series.values()),
        counts=counts,
        served={**served, PODS: pods},
        places=look.places.get(PODS, {}),
    )
    return new, used


def _tables(cursor: Cursor, edges_ms: Mapping[str, tuple[float, ...]]) -> dict[str, Rows]:
    """The marks, but those of a histogram of which other edges are watched now: it begins anew."""
    same = (name for name in cursor.tables if cursor.edges_ms.get(name, ()) == edges_ms.get(name, ()))
    return {name: cursor.rows(name) for name in same}


def _requests(look: _Look) -> dict[Pair, Row]:
    """Requests, failures, retries, abandoned and started, by version and stratum."""
    rows: dict[Key, Row | str] = {
        (key.version, key.process, key.stratum): row_of_requests(each) for key, each in look.reading.series.items()
    }
    grown = _table(look, REQUESTS, look.usable(rows, "requests"), of_requests)
    return _by_stratum(grown)


def _measured(look: _Look) -> tuple[dict[str, dict[Pair, Row]], dict[str, dict[tuple[str, int], Row]]]:
    """Latency, and people's own ratios and histograms; and the latter by process, since it is they that serve."""
    reading, edges = look.reading, look.edges_ms
    latency = {key: each.latency_ms for key, each in reading.series.items()}
    rows: dict[str, dict[Key, Row | str]] = {
        name: {(key.version, key.process, key.stratum): row_of_two(each) for key, each in series.items()}
        for name, series in reading.ratios.items()
    }
    for name, histograms in ({LATENCY: latency} | dict(reading.histograms)).items():
        if edges.get(name):
            rows[name] = {
                (key.version, key.process, key.stratum): row_of_buckets(each, edges[name])
                for key, each in histograms.items()
            }
    counts, served = {}, {}
    for name, found in rows.items():
        grown = _table(look, name, look.usable(found, name), restarts if name == LATENCY else neutral)
        counts[name] = _by_stratum(grown)
        if name != LATENCY:
            served[name] = _by_process(look, name, grown)
    return counts, served


def _pods(look: _Look) -> dict[tuple[str, int], Row]:
    """Tries and bad ones by version and slot. Nothing is known of them between looks that were summed over other
    senders; a pod that is first seen then waits to be counted by the next one.
    """
    now, before = look.usable(_over_senders(look.reading), "tries"), look.tables.get(PODS, {})
    same = not before or look.cursor.senders == _senders(look.reading)
    began_anew = {key[1] for key, row in now.items() if same and fell(before.get(key, row[:0])[1:], row)}
    _seat(look, {key[:2]: row[0] for key, row in now.items()}, began_anew)
    if not same:
        look.tables[PODS] = {**before, **{key: (0, *row) for key, row in now.items() if key in before}}
        return {}
    grown = _table(look, PODS, now, neutral, known=bool(before))
    return _by_slot(grown, {version: slots(each) for version, each in look.places.get(PODS, {}).items()})


def _over_senders(reading: Reading) -> dict[Key, Row | str]:
    """Each pod's tries by all senders, or what is wrong with one of them."""
    rows: dict[Key, Row | str] = {}
    for key, counts in reading.pods.items():
        at, row = (key.version, key.pod, ""), row_of_two(counts)
        known = rows.get(at, (0, 0))
        if isinstance(row, str) or isinstance(known, str):
            rows[at] = row if isinstance(row, str) else known
        else:
            rows[at] = known[0] + row[0], known[1] + row[1]
    return rows


def _senders(reading: Reading) -> int:
    return crc32("\n".join(sorted({key.counter for key in reading.pods})).encode())


def _seat(look: _Look, serving: Mapping[Pair, int], began_anew: set[str]) -> None:
    """Each version's processes take their places. A version of whose processes nothing is known is one process."""
    if not serving:
        for key, counts in look.reading.series.items():
            serving = {**serving, (key.version, ""): serving.get((key.version, ""), 0) + counts.n}
    places = dict(look.places.get(PODS, {}))
    for version in sorted({version for version, _ in serving}):
        of_version = {process: n for (name, process), n in serving.items() if name == version}
        before = places.get(version, ())
        places[version] = seated(before, of_version, look.reading.at, began_anew=began_anew, first=look.first)
    look.places[PODS] = places


def _by_process(look: _Look, name: str, grown: Rows) -> dict[tuple[str, int], Row]:
    places = dict(look.places.get(name, {}))
    for version in sorted({key[0] for key in grown}):
        serving = {process: 1 for of_version, process, _ in grown if of_version == version}
        places[version] = seated(places.get(version, ()), serving, look.reading.at, first=True)
    look.places[name] = places
    return _by_slot(grown, {version: slots(each) for version, each in places.items()})


def _table(look: _Look, name: str, now: Rows, growth: Growth, *, known: bool | None = None) -> dict[Key, Row]:
    """What is new in one table, series by series; its marks are moved on.

    `known`: whether a series that was never seen counts from 0; None asks whether its stratum was seen.
    """
    before = look.tables.get(name, {})
    strata = {key[2] for key in before}
    grown: dict[Key, Row] = {}
    marks: dict[Key, Row] = {}
    for key, row in now.items():
        mark = before[key][1:] if key in before else None
        new, used = growth(mark, row, key[2] in strata if known is None else known)
        if max(new) > look.most:
            what = f"{name.strip('#')} of {key[0]} at {key[1]}"
            look.troubles.append(f"{what} grew by {max(new):,} at once, which nothing can serve")
            new = (0,) * len(new)
        grown[key], marks[key] = new, (0, *used)
    if now:
        look.tables[name] = {**kept(before, marks, look.reading), **marks}
    return grown


def _by_stratum(grown: Rows) -> dict[Pair, Row]:
    found: dict[Pair, Row] = {}
    for (version, _, stratum), row in grown.items():
        pair = version, stratum
        found[pair] = plus(found[pair], row) if pair in found else row
    return found


def _by_slot(grown: Rows, seats: Mapping[str, Mapping[str, int]]) -> dict[tuple[str, int], Row]:
    found: dict[tuple[str, int], Row] = {}
    for (version, process, _), row in grown.items():
        at = version, seats[version][process]
        found[at] = plus(found[at], row) if at in found else row
    return found
