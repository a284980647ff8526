"""What people's own metrics may answer, and the sentence for what they may not."""

import math

import pytest

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.promises import Broken, buckets, counter, gauge
from control.adapters.prometheus.slots import Part, Slot
from control.engine.readings import SeriesKey


def series(value: float = 3, **labels: str) -> Series:
    return Series({"__name__": "my_total", "job": "shop", **labels}, ((1000, value),))


def test_one_series_a_process_and_stratum() -> None:
    found = counter(
        [series(instance=i, route=r) for i in ("a", "b") for r in ("/buy", "/see")], "v2", "mine", Part.BAD, ("route",)
    )
    assert [each.slots[0][0] for each in found] == [
        Slot(Part.BAD, SeriesKey("v2", process, f"route={route}"), metric="mine")
        for process in ("a", "b")
        for route in ("/buy", "/see")
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [series(instance="a", method="GET"), series(instance="a", method="PUT")],
            "several series where one was promised; they differ in method ('GET', 'PUT')",
        ),
        (
            [series(instance="a"), series(instance="a", job="other")],
            "several series where one was promised; they differ in job ('shop', 'other')",
        ),
        ([series(instance="a", zone="x"), series(instance="a")], "they differ in zone ('x', '')"),
        ([series(math.nan, instance="a")], "NaN from a, which no counter can be"),
        ([series(math.inf, instance="a")], "+Inf from a, which no counter can be"),
        ([series(-1, instance="a")], "-1 from a, which no counter can be"),
    ],
    ids=["a label that was not named", "a target scraped by two jobs", "a label that one has", "NaN", "Inf", "below 0"],
)
def test_a_counter_that_breaks_its_promise(given: list[Series], said: str) -> None:
    with pytest.raises(Broken) as caught:
        counter(given, "v1", "mine", Part.TOTAL, ())
    assert said in str(caught.value)


def test_no_series_is_no_data() -> None:
    assert counter([], "v1", "mine", Part.TOTAL, ()) == []
    assert buckets([], "v1", "mine", 1, ()) == []
    assert gauge([]) is None


@pytest.mark.parametrize(
    ("edge", "unit_ms", "expected"),
    [("0.07", 1000, 70), ("250", 1, 250), ("500", 0.001, 0.5), ("+Inf", 1000, math.inf)],
)
def test_edges_are_in_milliseconds(edge: str, unit_ms: float, expected: float) -> None:
    (found,) = buckets([series(instance="a", le=edge)], "v1", "mine", unit_ms, ())
    assert found.slots[0][0].at == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([series(instance="a")], "without the label le"),
        ([series(instance="a", le="wide")], "the edge 'wide', which is no number"),
        ([series(instance="a", le="1", method=m) for m in ("GET", "PUT")], "they differ in method"),
    ],
    ids=["no edges", "an edge that is none", "several"],
)
def test_a_histogram_that_breaks_its_promise(given: list[Series], said: str) -> None:
    with pytest.raises(Broken, match=said):
        buckets(given, "v1", "mine", 1, ())


def test_a_gauge_is_one_number() -> None:
    assert gauge([series(0.75)]) == 0.75


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([series(math.nan)], "NaN, which nothing can be compared with"),
        ([series(-math.inf)], "-Inf"),
        ([series(pod=p) for p in "abc"], "3 series where one was promised; they differ in pod"),
        ([series(), series()], "nothing that has a name"),
    ],
    ids=["NaN", "Inf", "several", "twins"],
)
def test_a_gauge_that_breaks_its_promise(given: list[Series], said: str) -> None:
    with pytest.raises(Broken, match=said):
        gauge(given)
