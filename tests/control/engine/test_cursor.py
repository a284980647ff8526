"""Marks are stored bit for bit, and those of a hundred proxies take little room."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.codec import decode, encode, pack, unpack
from control.engine.cursor import Cursor, Key, Row, numbers, tables_of, text
from control.engine.increments import increments
from control.engine.readings import Counts, PodCounts, PodKey, Reading, SeriesKey
from tests.support.fake_ports import START
from tests.support.readings import POLL

LIMIT = 9_500
"""Bytes; a state may take 16 KiB with all else that is in it."""

COLUMNS: dict[Row, str] = {
    (7, 8, 300): "7:3:000125000001",
    (5,): "5:1:",
    (3, 3, 3): "3:3:",
    (-1, 255): "-1:2:00000001",
}


@pytest.mark.parametrize(("column", "written"), COLUMNS.items())
def test_a_column_is_its_least_number_and_what_is_beyond(column: Row, written: str) -> None:
    assert text(column) == written
    assert numbers(written) == column


@given(st.lists(st.integers(-1, 10**15), min_size=1).map(tuple))
def test_every_column_reads_back(column: Row) -> None:
    assert numbers(text(column)) == column


names = st.sampled_from(["v1", "v2", "gw", "gw#1", "gw#2", ""])


@given(
    st.dictionaries(st.tuples(names, names, names), st.tuples(st.integers(0, 10**12), st.integers(-1, 9)), min_size=1)
)
def test_every_table_reads_back_in_whatever_order_it_was_made(rows: dict[Key, Row]) -> None:
    all_names, tables = tables_of({"a": rows, "b": {}})
    backwards = dict(reversed(rows.items()))
    assert tables_of({"a": backwards}) == (all_names, tables)
    assert Cursor(names=all_names, tables=tables).rows("a") == rows
    assert Cursor(names=all_names, tables=tables).rows("b") == {}


def of_a_hundred_proxies(number: int) -> Reading:
    """Counters of a long life: two versions behind a hundred proxies, ten processes each."""
    luck = np.random.default_rng(7)
    series = {}
    for proxy in range(100):
        for version, most in (("v1", 2 * 10**9), ("v2", 2 * 10**5)):
            n = int(luck.integers(most // 2, most)) + number * 100
            key = SeriesKey(version, f"gateway-{proxy}.shop#{10**8 + proxy}", f"gateway-{proxy}.shop")
            above = (int(n * part * luck.random()) for part in (0.5, 0.1, 0.02))
            slow = {edge: n - each for edge, each in zip((50.0, 250.0, 1000.0), above, strict=True)} | {inf: n}
            bad, left, retries = (int(n * part * luck.random()) for part in (0.006, 0.002, 0.02))
            series[key] = Counts({0: n - bad, 14: bad, 1: left}, retries, 0, int(luck.integers(0, 50)), slow)
    pods = {PodKey(version, f"10.0.0.{pod}:8080", f"gateway-{proxy}.shop#{10**8 + proxy}"): PodCounts(number * 10)
            for version in ("v1", "v2") for pod in range(10) for proxy in range(100)}  # fmt: skip
    return Reading(START + number * POLL, series, pods=pods)


def test_a_hundred_proxies_fit() -> None:
    cursor = Cursor()
    for number in range(3):
        _, cursor = increments(cursor, of_a_hundred_proxies(number), {"latency": (50.0, 250.0, 1000.0)})
    packed = pack(cursor)
    assert len(packed) < LIMIT
    assert unpack(Cursor, packed) == cursor


def test_what_was_not_read_is_stored_as_nothing() -> None:
    assert encode(Cursor()) == {}
    assert decode(Cursor, {}) == Cursor()
