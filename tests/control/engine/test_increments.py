"""An increment counts once or never."""

from dataclasses import replace
from datetime import timedelta
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.cursor import REQUESTS, Cursor
from control.engine.differences import GONE_AFTER, MOST_GONE
from control.engine.increments import increments
from control.engine.readings import (
    Counts,
    Ratio,
    Reading,
    SeriesKey,
    Tally,
    merged,
    oldest_first,
    tally,
)
from tests.support.fake_ports import START
from tests.support.readings import POLL, one, reading


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


def test_strata_are_kept_apart() -> None:
    _, cursor = one(Cursor(), reading(("v1", "gw#1", 0), ("v2", "sc#1", 0)))
    new, _ = one(cursor, reading(("v1", "gw#1", 4), ("v2", "sc#1", 2, 1, 3, 5)))
    assert new.tallies == {("v1", "gw"): Tally(4), ("v2", "sc"): Tally(2, 1, 3, 5)}


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


def flying(*counts: tuple[int, int | None]) -> list[int]:
    """What began between readings of (ended, in flight)."""
    cursor, found = Cursor(), []
    for ended, in_flight in counts:
        key = SeriesKey("v2", "gw#1", "gw")
        made = replace(reading(), series={key: Counts({0: ended}, in_flight=in_flight)})
        new, cursor = one(cursor, made)
        found.append(new.started["v2", "gw"])
    return found


STARTED = {
    "the first reading is neutral, and so is what was in flight then": ([(10, 3), (13, 0)], [0, 0]),
    "what began counts before it has ended": ([(10, 0), (10, 4), (14, 0)], [0, 4, 0]),
    "ended and still going": ([(10, 2), (15, 5)], [0, 8]),
    "where nobody knows what is in flight, what ended is what began": ([(10, None), (14, None)], [0, 4]),
    "the gauge comes later": ([(10, None), (14, 2), (16, 3)], [0, 4, 3]),
    "the gauge is lost for a look": ([(10, 2), (14, None), (16, 2)], [0, 4, 2]),
    "a dip of the gauge is neutral, and what it hid counts once": ([(10, 5), (11, 3), (11, 5)], [0, 0, 1]),
    "a gauge that was wrong is not waited for": ([(10, 900), (12, 0), (14, 0), (16, 0)], [0, 0, 0, 2]),
    "a gauge that is no number is not known": ([(10, 2), (12, -7), (14, 2)], [0, 2, 2]),
    "a gauge that can't be": ([(10, 2), (12, 10**12), (14, 2)], [0, 2, 2]),
}


@pytest.mark.parametrize(("counts", "expected"), STARTED.values(), ids=STARTED.keys())
def test_what_has_begun(counts: list[tuple[int, int | None]], expected: list[int]) -> None:
    assert flying(*counts) == expected


def test_a_source_that_knows_of_requests_at_their_end_says_so() -> None:
    known, unknown = (
        replace(reading(), series={SeriesKey("v2", "gw#1", "gw"): Counts({0: 1}, in_flight=each)}) for each in (0, None)
    )
    assert not one(Cursor(), known)[0].at_end
    assert one(Cursor(), unknown)[0].at_end


TICKS_OF = {
    "twice the same": ([5, 5], [10, 10], [0, None]),
    "an older one": ([5, 2, 6], [10, 4, 13], [0, None, 3]),
    "a clock that was set back starts anew, and catches up once": (
        [7200, 100, 105, 110],
        [10, 12, 15, 16],
        [0, None, 5, 1],
    ),
    "a clock that leaps": ([5, 86_400, 86_405], [10, 12, 15], [0, 2, 3]),
    "one poll a day": ([0, 86_400, 2 * 86_400], [0, 10**9, 3 * 10**9], [0, 10**9, 2 * 10**9]),
}


@pytest.mark.parametrize(("times", "counts", "expected"), TICKS_OF.values(), ids=TICKS_OF.keys())
def test_time_orders_readings(times: list[int], counts: list[int], expected: list[int | None]) -> None:
    cursor, found = Cursor(), []
    for at, requests in zip(times, counts, strict=True):
        new, cursor = increments(cursor, reading(("v2", "gw#1", requests), at=START + timedelta(seconds=at)))
        found.append(new[0].total("v2").requests if new else None)
    assert found == expected


def test_a_clock_that_was_set_back_is_told() -> None:
    _, cursor = increments(Cursor(), reading(("v2", "gw#1", 1), at=START + timedelta(hours=2)))
    _, cursor = increments(cursor, reading(("v2", "gw#1", 2), at=START))
    assert cursor.troubles == ("the clock was set back by 2:00:00: this look only serves to start from",)


def replay(now: int, *earlier: int) -> Reading:
    """A reading at `now` s that brings others along; there are 10 requests each second."""
    made = {at: reading(("v2", "gw#1", 10 * at), at=START + timedelta(seconds=at)) for at in (now, *earlier)}
    return replace(made[now], earlier=tuple(made[at] for at in earlier))


REPLAYS = {
    "nothing was missed": ([replay(0), replay(5)], [(0, 0), (5, 50)]),
    "a gap is replayed, oldest first": ([replay(0), replay(15, 10, 5)], [(0, 0), (5, 50), (10, 50), (15, 50)]),
    "what was used is not used again": (
        [replay(0), replay(10, 5), replay(15, 5, 10)],
        [(0, 0), (5, 50), (10, 50), (15, 50)],
    ),
    "what claims to be newer than the reading itself is not believed": (
        [replay(0), replay(10, 5, 99)],
        [(0, 0), (5, 50), (10, 50)],
    ),
    "the same gap twice": ([replay(0), replay(10, 5), replay(10, 5)], [(0, 0), (5, 50), (10, 50)]),
}


@pytest.mark.parametrize(("readings", "expected"), REPLAYS.values(), ids=REPLAYS.keys())
def test_a_gap_is_replayed_once(readings: list[Reading], expected: list[tuple[int, int]]) -> None:
    cursor, found = Cursor(), []
    for each in readings:
        new, cursor = increments(cursor, each)
        found += [(int((one.at - START).total_seconds()), one.total("v2").requests) for one in new]
    assert found == expected


NO_COUNTS = {
    "NaN": (nan, "nan"), "infinity": (inf, "inf"), "negative": (-3, "-3"), "beyond all counting": (1e18, "1e+18"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "told"), NO_COUNTS.values(), ids=NO_COUNTS.keys())
def test_what_is_no_count_is_told_and_caught_up_once_it_is(value: float, told: str) -> None:
    key = SeriesKey("v2", "gw#1", "gw")

    def made(requests: float, misses: float) -> Reading:
        counts, ratio = Counts({0: requests}), Ratio(misses, 0)  # type: ignore[dict-item, arg-type]
        return replace(reading(), series={key: counts}, ratios={"misses": {key: ratio}})

    _, cursor = one(Cursor(), made(10, 100))
    new, cursor = one(cursor, made(value, value))
    assert new.total("v2") == Tally()
    assert not new.counts["misses"]
    assert [each for each in cursor.troubles if told in each] == list(cursor.troubles)
    assert len(cursor.troubles) == 2
    new, cursor = one(cursor, made(17, 104))
    assert (new.total("v2").requests, new.counts["misses"]["v2", "gw"]) == (7, (4, 0))
    assert cursor.troubles == ()


def test_a_counter_that_leaps_beyond_what_anything_can_serve_is_told_and_neutral() -> None:
    _, cursor = one(Cursor(), reading(("v2", "gw#1", 10)))
    new, cursor = one(cursor, reading(("v2", "gw#1", 10 + 10**12)))
    assert new.total("v2") == Tally()
    assert "1,000,000,000,000 at once" in cursor.troubles[0]
    new, _ = one(cursor, reading(("v2", "gw#1", 15 + 10**12)))
    assert new.total("v2") == Tally(5)


def test_series_that_no_longer_answer_do_not_grow_the_cursor_for_ever() -> None:
    cursor = Cursor()
    for number in range(400):
        _, cursor = one(cursor, reading(("v1", "pod-0", number), ("v2", f"pod-{number}", 1)))
    assert len(cursor.rows(REQUESTS)) < 2 * (MOST_GONE + GONE_AFTER)


def test_a_process_that_is_away_for_long_is_not_counted_twice() -> None:
    _, cursor = one(Cursor(), reading(("v1", "a", 5), ("v2", "b", 1_000)))
    for number in range(40):
        _, cursor = one(cursor, reading(("v1", "a", 5 + number)))
    new, _ = one(cursor, reading(("v1", "a", 50), ("v2", "b", 1_007)))
    assert new.total("v2").requests == 7


def test_two_sources_readings_are_one() -> None:
    key = SeriesKey("v2", "gw#1", "gw")
    proxies = replace(reading(("v2", "gw#1", 5)), at=START)
    mine = Reading(START + POLL, {}, ("b",), ratios={"misses": {key: Ratio(4, 1)}}, gauges={"load": {"v2": 0.5}},
                   troubles={"ttft": "no answer"}, earlier=(Reading(START - POLL, {}),))  # fmt: skip
    found = merged(proxies, mine)
    assert (found.at, found.unread, found.series) == (START + POLL, ("b",), proxies.series)
    assert (found.ratios, found.gauges, found.troubles) == (mine.ratios, mine.gauges, mine.troubles)
    assert oldest_first(found) == (mine.earlier[0], found)
