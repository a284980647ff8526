"""Edges are chosen by stable, from buckets that both versions have, and waiting follows stable's longest requests."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.latency import FEWEST, chosen, latency_of, layout, longest, summed
from control.engine.readings import Counts, Reading, SeriesKey
from control.engine.sound import row_of_buckets, total
from tests.support.fake_ports import START

EDGES = (5.0, 10.0, 25.0, 50.0, 100.0)


def buckets(*above: float, n: int = 10_000) -> dict[float, int]:
    """A histogram of which these parts lie above 5, 10, 25, 50 and 100 ms."""
    return {edge: round(n * (1 - part)) for edge, part in zip(EDGES, above, strict=True)} | {inf: n}


CHOICES = {
    "three that differ": (buckets(0.9, 0.3, 0.06, 0.012, 0.0), (10.0, 25.0, 50.0)),
    "nearest by log distance": (buckets(0.5, 0.2, 0.11, 0.02, 0.001), (10.0, 25.0, 50.0)),
    "one may serve two aims": (buckets(0.97, 0.9, 0.2, 0.03, 0.0), (25.0, 50.0)),
    "everything in the lowest bucket": (buckets(0.0, 0.0, 0.0, 0.0, 0.0), (5.0,)),
    "everything above every edge": (buckets(1.0, 1.0, 1.0, 1.0, 1.0), ()),
    "the first edge that nothing exceeds": (buckets(1.0, 1.0, 0.0, 0.0, 0.0), (25.0,)),
    "too few requests": (buckets(0.9, 0.3, 0.06, 0.012, 0.0, n=FEWEST - 1), ()),
    "just enough": (buckets(0.9, 0.3, 0.06, 0.012, 0.0, n=FEWEST), (10.0, 25.0, 50.0)),
}


@pytest.mark.parametrize(("stable", "expected"), CHOICES.values(), ids=CHOICES.keys())
def test_which_edges_are_watched(stable: dict[float, int], expected: tuple[float, ...]) -> None:
    assert chosen(stable, EDGES) == expected


def test_only_edges_that_both_versions_have() -> None:
    stable = buckets(0.9, 0.3, 0.06, 0.012, 0.0)
    common = layout(stable, {5.0: 1, 25.0: 1, 100.0: 1, inf: 1})
    assert common == (5.0, 25.0, 100.0)
    assert chosen(stable, common) == (25.0,)
    assert layout(stable, {}) == EDGES
    assert layout({}, {}) == ()


LENGTHS = {
    "the highest bucket that has any": (buckets(0.9, 0.3, 0.06, 0.0, 0.0), 50.0),
    "longer than every edge": (buckets(1.0, 1.0, 1.0, 1.0, 0.5), 100.0),
    "one stray request in twenty thousand does not count": (
        {5.0: 0, 10.0: 19_999, 25.0: 20_000, inf: 20_000}, 10.0,
    ),
    "one in a thousand does": ({5.0: 0, 10.0: 999, 25.0: 1_000, inf: 1_000}, 25.0),
    "nothing measured": ({}, 0.0),
}  # fmt: skip


@pytest.mark.parametrize(("stable", "expected"), LENGTHS.values(), ids=LENGTHS.keys())
def test_how_long_requests_last(stable: dict[float, int], expected: float) -> None:
    assert longest(stable) == expected


SUMS = {
    "the same edges": ([{5: 1, inf: 2}, {5: 3, inf: 3}], {5: 4, inf: 5}),
    "common edges only": ([{5: 1, 10: 2, inf: 2}, {5: 3, 25: 3, inf: 4}], {5: 4, inf: 6}),
    "without one of all": ([{5: 1, 10: 2}, {5: 3, 10: 3}], {5: 4, 10: 5, inf: 5}),
    "what is no histogram is left out": ([{5: nan, inf: 2}, {5: 9, inf: 3}, {5: 3, inf: 4}], {5: 3, inf: 4}),
    "nothing measured says nothing of edges": ([{}, {5: 3, inf: 4}], {5: 3, inf: 4}),
    "nothing at all": ([], {inf: 0}),
}


@pytest.mark.parametrize(("histograms", "expected"), SUMS.values(), ids=SUMS.keys())
def test_all_series_of_a_version_together(histograms: list[dict[float, int]], expected: dict[float, int]) -> None:
    assert summed(histograms) == expected


def test_a_versions_latency_is_that_of_all_its_series() -> None:
    series = {
        SeriesKey(version, f"{proxy}#1", proxy): Counts(latency_ms={5.0: n, inf: n + 1})
        for n, (version, proxy) in enumerate([("v1", "gw"), ("v1", "sc"), ("v2", "gw")])
    }
    assert latency_of(Reading(START, series), "v1") == {5.0: 1, inf: 3}


numbers = st.floats(allow_nan=True) | st.integers(-5, 50)


def test_parts_of_a_request_are_cut_off_everywhere_alike() -> None:
    """Else a bucket had more than the whole, which has no logarithm."""
    found = summed([{50.0: 200, inf: 200}, {50.0: 0.5, inf: 0.5}])  # type: ignore[dict-item]
    assert found == {50.0: 200, inf: 200}
    assert chosen(found, (50.0,)) == (50.0,)


@given(st.dictionaries(st.sampled_from([*EDGES, inf]), numbers))
def test_whatever_a_histogram_holds_it_is_understood_or_told(found: dict[float, float]) -> None:
    row = row_of_buckets(found, EDGES)  # type: ignore[arg-type]
    if isinstance(row, str):
        assert row.startswith("are no histogram (")
    else:
        assert all(-1 <= above <= row[0] for above in row[1:])
        assert row[0] == int(total(found))  # type: ignore[arg-type]
