"""An increment counts once or never."""

from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.cursor import REQUESTS, Cursor
from control.engine.increments import Increments, increments
from control.engine.readings import Counts, Reading, SeriesKey, Tally, tally
from tests.support.fake_ports import START

Row = tuple[str, str, int] | tuple[str, str, int, int, int] | tuple[str, str, int, int, int, int]


_TICKS = count(1)


def reading(*rows: Row, unread: tuple[str, ...] = (), at: datetime | None = None) -> Reading:
    """Rows of version, process as proxy#incarnation, requests, and perhaps failures, retries and abandoned ones.

    Each is newer than the last one that was made, unless its time is given.
    """
    series = {}
    for version, process, requests, *rest in rows:
        bad, retries, left = (*rest, 0, 0, 0)[:3]
        key = SeriesKey(version, process, process.partition("#")[0])
        series[key] = Counts({0: requests - bad, 1: left, 14: bad}, retries)
    return Reading(at or START + next(_TICKS) * timedelta(seconds=5), series, unread)


def one(cursor: Cursor, new: Reading) -> tuple[Increments, Cursor]:
    """What one reading added that brings nothing from before."""
    (found,), used = increments(cursor, new)
    return found, used


def after(*readings: Reading) -> list[int]:
    """The canary's new requests at each reading."""
    cursor, found = Cursor(), []
    for each in readings:
        new, cursor = one(cursor, each)
        found.append(new.total("v2").requests)
    return found


HISTORIES = {
    "the first reading is neutral": ([reading(("v2", "gw#1", 500))], [0]),
    "growth is what is new": ([reading(("v2", "gw#1", 500)), reading(("v2", "gw#1", 530))], [0, 30]),
    "no growth is nothing": ([reading(("v2", "gw#1", 5)), reading(("v2", "gw#1", 5))], [0, 0]),
    "a restarted proxy counts from 0": ([reading(("v2", "gw#1", 500)), reading(("v2", "gw#2", 7))], [0, 7]),
    "a decrease is a restart": ([reading(("v2", "gw#1", 500)), reading(("v2", "gw#1", 7))], [0, 7]),
    "a new proxy is neutral at first": (
        [reading(("v2", "gw#1", 500)), reading(("v2", "gw#1", 501), ("v2", "sc#1", 90)), reading(("v2", "sc#1", 95))],
        [0, 1, 5],
    ),
    "a version that appears at a known proxy counts from 0": (
        [reading(("v1", "gw#1", 500)), reading(("v1", "gw#1", 501), ("v2", "gw#1", 3))],
        [0, 3],
    ),
    "an unread proxy is neutral, then caught up once": (
        [
            reading(("v2", "gw#1", 10)),
            reading(unread=("gw",)),
            reading(unread=("gw",)),
            reading(("v2", "gw#1", 40)),
            reading(("v2", "gw#1", 40)),
        ],
        [0, 0, 0, 30, 0],
    ),
    "a proxy that restarted while it was unread": (
        [reading(("v2", "gw#1", 10)), reading(unread=("gw",)), reading(("v2", "gw#2", 4))],
        [0, 0, 4],
    ),
    "a series that is missing once is not counted twice": (
        [
            reading(("v1", "gw#1", 1), ("v2", "gw#1", 10)),
            reading(("v1", "gw#1", 2)),
            reading(("v1", "gw#1", 3), ("v2", "gw#1", 12)),
        ],
        [0, 0, 2],
    ),
    "a failure that goes back restarts the series": (
        [reading(("v2", "gw#1", 10, 5, 0)), reading(("v2", "gw#1", 12, 1, 0))],
        [0, 12],
    ),
}


@pytest.mark.parametrize(("readings", "expected"), HISTORIES.values(), ids=HISTORIES.keys())
def test_what_is_new(readings: list[Reading], expected: list[int]) -> None:
    assert after(*readings) == expected


def test_a_process_that_is_gone_does_not_grow_the_cursor() -> None:
    cursor = Cursor()
    for incarnation in range(50):
        _, cursor = one(cursor, reading(("v2", f"gw#{incarnation}", 1)))
    assert len(cursor.rows(REQUESTS)) == 1


def test_strata_are_kept_apart_and_versions_named() -> None:
    _, cursor = one(Cursor(), reading(("v1", "gw#1", 0), ("v2", "sc#1", 0)))
    new, _ = one(cursor, reading(("v1", "gw#1", 4), ("v2", "sc#1", 2, 1, 3, 5)))
    assert new.tallies == {("v1", "gw"): Tally(4), ("v2", "sc"): Tally(2, 1, 3, 5)}
    assert new.strata == ("gw", "sc")
    assert new.versions == {"v1", "v2"}


@pytest.mark.parametrize(
    ("code", "bad"), [(0, False), (2, True), (3, False), (4, True), (5, False), (8, True), (12, True), (13, True),
                      (14, True), (15, True), (16, False)]
)  # fmt: skip
def test_only_server_faults_are_bad(code: int, bad: bool) -> None:
    assert tally(Counts({code: 3})) == Tally(3, 3 if bad else 0)


def test_a_caller_that_hung_up_is_no_outcome_but_is_counted_beside() -> None:
    assert tally(Counts({0: 5, 1: 2, 14: 1})) == Tally(6, 1, 0, 2)


LEAVERS = {
    "the first reading is neutral": ([50], [0]),
    "growth is what is new": ([50, 53], [0, 3]),
    "a dip is neutral, and what it hid counts once": ([50, 48, 50, 51], [0, 0, 0, 1]),
    "a deeper dip": ([50, 10, 30, 55], [0, 0, 0, 5]),
}


@pytest.mark.parametrize(("counts", "expected"), LEAVERS.values(), ids=LEAVERS.keys())
def test_callers_who_left(counts: list[int], expected: list[int]) -> None:
    cursor, found = Cursor(), []
    for left in counts:
        new, cursor = one(cursor, reading(("v2", "gw#1", 500, 0, 0, left)))
        found.append((new.total("v2").requests, new.total("v2").abandoned))
    assert found == [(0, left) for left in expected]


def test_a_restart_is_seen_in_the_answers_and_takes_the_callers_who_left_along() -> None:
    _, cursor = one(Cursor(), reading(("v2", "gw#1", 500, 0, 0, 50)))
    new, cursor = one(cursor, reading(("v2", "gw#1", 7, 0, 0, 2)))
    assert new.total("v2") == Tally(7, abandoned=2)
    new, _ = one(cursor, reading(("v2", "gw#1", 7, 0, 0, 3)))
    assert new.total("v2") == Tally(abandoned=1)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_however_it_is_read_nothing_counts_twice(moves: list[tuple[int, bool, bool]]) -> None:
    """Growth, restarts and unread moments in any order: never more is counted than happened."""
    total, count, incarnation, readings = 0, 0, 1, [reading(("v2", "gw#1", 0))]
    for growth, restarts, is_read in moves:
        if restarts:
            incarnation, count = incarnation + 1, 0
        count, total = count + growth, total + growth
        readings.append(reading(("v2", f"gw#{incarnation}", count)) if is_read else reading(unread=("gw",)))
    counted = sum(after(*readings))
    assert counted <= total
    if all(is_read for _, _, is_read in moves):
        assert counted == total
