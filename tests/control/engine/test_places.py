"""Processes keep their places over restarts, and none warms up for ever."""

from datetime import datetime, timedelta

import pytest

from control.engine.cursor import Cursor, Place, Places
from control.engine.increments import increments
from control.engine.places import seated, slots, warm_until
from tests.support.fake_ports import START
from tests.support.readings import POLL, reading, served

MINUTE = timedelta(minutes=1)


def at(number: int) -> datetime:
    return START + number * POLL


def through(*looks: dict[str, int]) -> Places:
    """The places after looks at processes and what each has served, the first of them not the very first."""
    places: Places = ()
    for number, serving in enumerate(looks):
        places = seated(places, serving, at(number))
    return places


NAMES = {
    "in the order of first seen": ([{"b": 1}, {"b": 1, "a": 1}], ["b", "a"]),
    "one that is gone keeps its place until another takes it": ([{"a": 1, "b": 1}, {"b": 1}], ["a", "b"]),
    "a newcomer takes the first place that is free": ([{"a": 1, "b": 1}, {"b": 1, "c": 1}], ["c", "b"]),
    "one that is back takes another place": (
        [{"a": 1, "b": 1}, {"b": 1, "c": 1}, {"a": 2, "b": 1, "c": 1}], ["c", "b", "a"],
    ),
    "nothing moves when nothing changes": ([{"a": 1, "b": 1}] * 3, ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize(("looks", "names"), NAMES.values(), ids=NAMES.keys())
def test_who_sits_where(looks: list[dict[str, int]], names: list[str]) -> None:
    assert [each.process for each in through(*looks)] == names


def test_the_ninth_shares_the_first_slot() -> None:
    assert slots(through({f"pod-{number}": 0 for number in range(9)}))["pod-8"] == 0


WINDOWS = {
    "opens with the first traffic": ([{"a": 0}, {"a": 0}, {"a": 3}], (2, 1)),
    "does not open twice": ([{"a": 3}, {"a": 9}], (0, 1)),
    "a second process in the same place gets one, too": ([{"a": 3}, {"b": 1}], (1, 2)),
    "a third one does not": ([{"a": 3}, {"b": 1}, {"c": 1}], (None, 2)),
    "nor does a fourth": ([{"a": 3}, {"b": 1}, {"c": 1}, {"d": 1}], (None, 2)),
    "who never served took none": ([{"a": 0}, {"b": 0}, {"c": 1}], (2, 1)),
}


@pytest.mark.parametrize(("looks", "expected"), WINDOWS.values(), ids=WINDOWS.keys())
def test_at_most_two_windows_a_place(looks: list[dict[str, int]], expected: tuple[int | None, int]) -> None:
    (place,) = through(*looks)
    opened, windows = expected
    assert (place.opened, place.windows) == (None if opened is None else at(opened), windows)


def test_a_process_that_began_anew_warms_up_anew() -> None:
    (place,) = seated(through({"a": 9}), {"a": 2}, at(7), began_anew={"a"})
    assert (place.opened, place.windows) == (at(7), 2)


def test_who_served_before_we_looked_is_warm() -> None:
    assert seated((), {"a": 9}, START, first=True) == (Place("a", served=True),)
    (place,) = seated(seated((), {"a": 0}, START, first=True), {"a": 4}, at(1))
    assert place.opened == at(1)


WARM = {
    "in its window": (START, 30, MINUTE, 60),
    "no more": (START, 60, MINUTE, None),
    "no window of no length": (START, 0, timedelta(0), None),
    "a process that gets none": (None, 30, MINUTE, None),
    "a clock that was set back ends it": (START + timedelta(hours=1), 30, MINUTE, None),
}


@pytest.mark.parametrize(("opened", "now", "length", "until"), WARM.values(), ids=WARM.keys())
def test_until_when_it_warms_up(opened: datetime | None, now: int, length: timedelta, until: int | None) -> None:
    places = (Place("old", served=True), Place("a", opened=opened))
    expected = None if until is None else START + timedelta(seconds=until)
    assert warm_until(places, length, START + timedelta(seconds=now)) == expected


def test_where_nobody_knows_the_processes_the_version_is_one() -> None:
    _, cursor = increments(Cursor(), reading(("v2", "gw#1", 0)))
    (new,), _ = increments(cursor, reading(("v2", "gw#1", 4)))
    (place,) = new.places["v2"]
    assert (place.process, place.opened) == ("", new.at)


def test_a_crashing_process_gets_two_windows_whatever_it_is_called() -> None:
    cursor, opened = Cursor(), []
    _, cursor = increments(cursor, served(("pod-0", "", 0, 0)))
    for number in range(5):
        (new,), cursor = increments(cursor, served((f"pod-{number}", "", 3 + number, 3)))
        (place,) = new.places["v2"]
        opened.append(place.opened == new.at)
    assert opened == [True, True, False, False, False]
