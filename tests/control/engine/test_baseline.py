"""How stable did in an earlier window, and how far the canary is from that."""

from datetime import UTC, datetime
from math import inf, nan
from typing import Any

import pytest
from scipy.stats import binom

from control.engine.baseline import baseline_rows, counted_before, difference
from control.engine.compared import Comparison, Counted
from control.engine.evidence import Margin
from control.engine.readings import Counts, Ratio, Reading, SeriesKey
from control.engine.watched import Watched
from tests.support.polls import one_test

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY, OTHER, CANARY = SeriesKey("v1", "a", "edge"), SeriesKey("v1", "b", "mesh"), SeriesKey("v2", "c", "edge")
MARGIN = Margin(1.1, 0.0005)


def counts(ok: int, bad: int = 0, left: int = 0, **more: Any) -> Counts:
    return Counts(ended={0: ok, 13: bad, 1: left}, **more)


def before(*names: str, reading: Reading, **watched: Any) -> list[tuple[int, int] | None]:
    tests = tuple(one_test(name, metric=name.partition(">")[0]) for name in names)
    found = counted_before(reading, "v1", Watched(tests, **watched))
    return [None if each is None else (each.requests, each.bad) for each in found]


def test_requests_are_summed_over_series_of_the_version() -> None:
    series = {KEY: counts(90, 10, 5, retries=7), OTHER: counts(9, 1, retries=1), CANARY: counts(1, 999)}
    found = before("outcomes", "attempts", "abandoned", reading=Reading(AT, series))
    assert found == [(110, 11), (110, 8), (115, 5)]


def test_slow_requests_are_counted_above_each_edge() -> None:
    buckets = {100.0: 60, 250.0: 90, inf: 100}
    reading = Reading(AT, {KEY: counts(100, latency_ms=buckets), OTHER: counts(100, latency_ms=buckets)})
    edges = {"latency": (100.0, 250.0)}
    assert before("latency>100ms", "latency>250ms", reading=reading, edges_ms=edges) == [(200, 80), (200, 20)]
    assert before("latency>100ms", "latency>500ms", reading=reading, edges_ms={"latency": (100.0, 500.0)})[1] is None


def test_metrics_of_ones_own() -> None:
    histogram = {512.0: 30, inf: 40}
    reading = Reading(
        AT,
        {},
        ratios={"misses": {KEY: Ratio(100, 9), OTHER: Ratio(50, 1), CANARY: Ratio(9, 9)}},
        histograms={"tokens": {KEY: histogram}},
    )
    edges = {"tokens": (512.0,)}
    assert before("misses", "tokens>512", reading=reading, edges_ms=edges) == [(150, 10), (40, 10)]
    assert before("tokens>512", reading=reading, edges_ms=edges, higher=("tokens",)) == [(40, 30)]


@pytest.mark.parametrize(
    "reading",
    [
        Reading(AT, {}),
        Reading(AT, {CANARY: counts(9)}),
        Reading(AT, {KEY: counts(0)}),
        Reading(AT, {}, ratios={"outcomes": {KEY: Ratio(nan, 1)}}),  # type: ignore[arg-type]
        Reading(AT, {KEY: Counts(latency_ms={100.0: 9, inf: 3})}),
    ],
    ids=["nothing", "another version", "no request", "no number", "buckets that fall"],
)
def test_what_was_not_counted_is_not_zero(reading: Reading) -> None:
    assert before("outcomes", "latency>100ms", reading=reading, edges_ms={"latency": (100.0,)}) == [None, None]


@pytest.mark.parametrize(
    ("canary", "stable", "phi", "tries", "said"),
    [
        pytest.param((4000, 9), (30000, 90), 1.0, 1, (-0.075, -0.2, 0.13), id="alike"),
        pytest.param((4000, 9), (30000, 90), 4.0, 1, (-0.075, -0.29, 0.47), id="clumps make it wider"),
        pytest.param((100, 150), (1000, 1500), 1.0, 2, (0.0, -13.4, 11.7), id="several a request"),
        pytest.param((10, 10), (10, 0), 1.0, 1, (100.0, 60.8, 100.0), id="all and none"),
    ],
)
def test_bounds_of_one_look(
    canary: tuple[int, int], stable: tuple[int, int], phi: float, tries: int, said: tuple[float, float, float]
) -> None:
    found = difference(Counted(*canary), Counted(*stable), phi=phi, tries=tries)
    assert found is not None
    told = (found.estimate * 100, found.low * 100, found.high * 100)
    assert told == pytest.approx(said, abs=0.1)


def test_nothing_is_said_without_requests() -> None:
    assert difference(Counted(0, 0), Counted(10, 1), phi=1.0) is None
    assert difference(Counted(10, 1), Counted(0, 0), phi=1.0) is None


def test_the_bounds_cover() -> None:
    """Every outcome of both binomials, weighted: 95 %, less a little as such intervals do."""
    n, m, p, q = 60, 80, 0.05, 0.1
    covered = 0.0
    for x in range(n + 1):
        for y in range(m + 1):
            chance = binom.pmf(x, n, p) * binom.pmf(y, m, q)
            if chance > 1e-9:
                found = difference(Counted(n, x), Counted(m, y), phi=1.0)
                assert found is not None
                covered += chance * (found.low <= p - q <= found.high)
    assert covered >= 0.94


def test_rows_are_of_the_tests_that_were_counted_then() -> None:
    watched = Watched((one_test("outcomes"), one_test("misses")))
    rows = [
        Comparison(name, name, Counted(100, 5), Counted(900, 9), MARGIN, MARGIN, 0.0, 0.0, 1.0)
        for name in ("outcomes", "misses")
    ]
    (only,) = baseline_rows(Reading(AT, {KEY: counts(990, 10)}), "v1", watched, rows)
    assert (only["test"], only["requests"], only["bad"]) == ("outcomes", 1000, 10)
    assert only["difference"]["estimate"] == pytest.approx(0.04)
