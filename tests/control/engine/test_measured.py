"""Serving processes, histograms and people's own metrics are counted once or never, too."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, nan

import pytest

from control.engine.cursor import PODS, UNKNOWN, Cursor
from control.engine.increments import LATENCY, increments
from control.engine.readings import Reading
from tests.support.readings import measured, one, own, reading, served

Row_ = tuple[int, ...]


POD_HISTORIES: dict[str, tuple[list[Reading], list[dict[int, Row_]]]] = {
    "the first reading is neutral": ([served(("a", "gw#1", 50, 1))], [{0: (0, 0)}]),
    "tries by every sender are added up": (
        [served(("a", "gw#1", 50, 1), ("a", "sc#1", 5, 0)), served(("a", "gw#1", 60, 2), ("a", "sc#1", 7, 0))],
        [{0: (0, 0)}, {0: (12, 1)}],
    ),
    "a new process counts from 0": (
        [served(("a", "gw#1", 50, 1)), served(("a", "gw#1", 51, 1), ("b", "gw#1", 7, 3))],
        [{0: (0, 0)}, {0: (1, 0), 1: (7, 3)}],
    ),
    "between other senders nothing is known": (
        [served(("a", "gw#1", 50, 1)), served(("a", "gw#2", 9, 0)), served(("a", "gw#2", 12, 1))],
        [{0: (0, 0)}, {}, {0: (3, 1)}],
    ),
    "a process that appears while senders change is counted at the next look": (
        [served(("a", "gw#1", 50, 1)), served(("a", "gw#2", 9, 0), ("b", "gw#2", 4, 0)),
         served(("a", "gw#2", 9, 0), ("b", "gw#2", 6, 0))],
        [{0: (0, 0)}, {}, {0: (0, 0), 1: (6, 0)}],
    ),
    "a process that counts itself and began anew is neutral once": (
        [served(("a", "", 50, 1)), served(("a", "", 9, 0)), served(("a", "", 11, 1))],
        [{0: (0, 0)}, {0: (0, 0)}, {0: (2, 1)}],
    ),
    "one that takes another's place": (
        [served(("a", "", 50, 1)), served(("b", "", 4, 1)), served(("b", "", 6, 1))],
        [{0: (0, 0)}, {0: (4, 1)}, {0: (2, 0)}],
    ),
    "one that is away for a look is not counted twice": (
        [served(("a", "", 50, 1), ("b", "", 5, 0)), served(("b", "", 6, 0)), served(("a", "", 58, 1), ("b", "", 6, 0))],
        [{0: (0, 0), 1: (0, 0)}, {1: (1, 0)}, {0: (8, 0), 1: (0, 0)}],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("readings", "expected"), POD_HISTORIES.values(), ids=POD_HISTORIES.keys())
def test_what_serving_processes_did(readings: list[Reading], expected: list[dict[int, Row_]]) -> None:
    cursor, found = Cursor(), []
    for each in readings:
        new, cursor = one(cursor, each)
        found.append({slot: row for (_, slot), row in new.served[PODS].items()})
    assert found == expected


def test_more_than_eight_processes_are_folded() -> None:
    _, cursor = one(Cursor(), served(*((f"pod-{n}", "", 0, 0) for n in range(10))))
    new, _ = one(cursor, served(*((f"pod-{n}", "", 1, 0) for n in range(10))))
    assert [new.served[PODS]["v2", slot][0] for slot in range(8)] == [2, 2, 1, 1, 1, 1, 1, 1]


EDGES = (100.0, 250.0)
BUCKETS = {
    "growth above each edge": (
        [{100: 6, 250: 9, inf: 10}, {100: 16, 250: 28, inf: 30}], [(0, 0, 0), (20, 10, 1)],
    ),
    "an edge that is missing is not known, and neutral when it is back": (
        [{100: 6, 250: 9, inf: 10}, {100: 7, inf: 12}, {100: 8, 250: 13, inf: 14}, {100: 9, 250: 14, inf: 15}],
        [(0, 0, 0), (2, 1, UNKNOWN), (2, 1, UNKNOWN), (1, 0, 0)],
    ),
    "other edges say nothing": ([{90: 6, inf: 10}, {90: 7, inf: 12}], [(0, 0, 0), (2, UNKNOWN, UNKNOWN)]),
    "nothing measured yet may have any edges": ([{}, {100: 1, 250: 1, inf: 2}], [(0, 0, 0), (2, 1, 1)]),
    "no edge of all": ([{100: 6, 250: 9}, {100: 7, 250: 12}], [(0, 0, 0), (3, 2, 0)]),
    "buckets that fall to the right are no histogram": (
        [{100: 6, 250: 9, inf: 10}, {100: 60, 250: 9, inf: 12}, {100: 8, 250: 12, inf: 13}],
        [(0, 0, 0), None, (3, 1, 0)],
    ),
    "NaN": ([{100: 6, 250: 9, inf: 10}, {100: nan, 250: 9, inf: 12}, {100: 8, 250: 12, inf: 13}],
            [(0, 0, 0), None, (3, 1, 0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", [LATENCY, "ttft"])
@pytest.mark.parametrize(("readings", "expected"), BUCKETS.values(), ids=BUCKETS.keys())
def test_what_was_measured(name: str, readings: list[Mapping[float, float]], expected: list[Row_ | None]) -> None:
    cursor, found = Cursor(), []
    for each in readings:
        (new,), cursor = increments(cursor, measured(("gw#1", each), name=name), {name: EDGES})
        found.append(new.counts[name].get(("v2", "gw")))
    assert found == expected


def test_other_edges_begin_anew() -> None:
    first, second = ({100: 6, 250: 9, inf: 10}, {100: 60, 250: 90, inf: 100})
    _, cursor = increments(Cursor(), measured(("gw#1", first)), {"ttft": (100.0,)})
    (new,), cursor = increments(cursor, measured(("gw#1", second)), {"ttft": (250.0,)})
    assert new.counts["ttft"]["v2", "gw"] == (0, 0)
    (new,), _ = increments(cursor, measured(("gw#1", {100: 70, 250: 99, inf: 110})), {"ttft": (250.0,)})
    assert new.counts["ttft"]["v2", "gw"] == (10, 1)


def test_buckets_that_fall_are_a_restart_of_a_proxy_and_nothing_for_a_metric_of_ones_own() -> None:
    for name, expected in ((LATENCY, (3, 2, 1)), ("ttft", (0, 0, 0))):
        _, cursor = increments(Cursor(), measured(("gw#1", {100: 6, 250: 9, inf: 10}), name=name), {name: EDGES})
        (new,), _ = increments(cursor, measured(("gw#1", {100: 1, 250: 2, inf: 3}), name=name), {name: EDGES})
        assert new.counts[name]["v2", "gw"] == expected


def test_a_metric_of_ones_own_is_counted_by_stratum_and_by_process() -> None:
    _, cursor = one(Cursor(), own(("a", "eu", 10, 1), ("b", "eu", 10, 1), ("b", "us", 5, 0)))
    new, cursor = one(cursor, own(("a", "eu", 13, 1), ("b", "eu", 14, 3), ("b", "us", 6, 1)))
    assert new.counts["misses"] == {("v2", "eu"): (7, 2), ("v2", "us"): (1, 1)}
    assert new.served["misses"] == {("v2", 0): (3, 0), ("v2", 1): (5, 3)}


def test_a_metric_of_ones_own_that_could_not_be_read_is_caught_up_once() -> None:
    _, cursor = one(Cursor(), own(("a", "eu", 10, 1)))
    trouble = replace(reading(("v2", "gw#1", 0)), troubles={"misses": "several series where one was promised"})
    new, cursor = one(cursor, trouble)
    assert "misses" not in new.counts
    new, _ = one(cursor, own(("a", "eu", 15, 2)))
    assert new.counts["misses"]["v2", "eu"] == (5, 1)
