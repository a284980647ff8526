"""Tests, margins and budget come from the spec and from stable alone."""

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from control.engine.evidence import RUNGS, Prior
from control.engine.readings import Counts, Ratio, Reading, SeriesKey
from control.engine.terms import UNMEASURED_S, budget_of, edge_text, informed, terms_of, watched_of
from control.engine.watched import Watched
from control.spec import (
    BuiltIn,
    BuiltInName,
    Direction,
    EvidenceStrategy,
    GaugeQuery,
    HistogramQuery,
    Margin,
    Metric,
    RatioQuery,
    Source,
    StepStrategy,
    TrafficShift,
    Unit,
    UserMetric,
)
from tests.support.fake_ports import START
from tests.support.shifts import shift

BASE = replace(shift(), strategy=EvidenceStrategy())
LATENCY = {50.0: 600, 100.0: 950, 250.0: 990, 500.0: 1000, inf: 1000}
NONE: dict[float, int] = {}


def read(
    stable: dict[float, int] = LATENCY, canary: dict[float, int] = NONE, in_flight: int | None = 0, **more: Any
) -> Reading:
    series = {
        SeriesKey(version, "gw#1", "gw"): Counts({0: 1000}, in_flight=in_flight, latency_ms=found)
        for version, found in (("v1", stable), ("v2", canary))
    }
    return Reading(START, series, **more)


def watched(wanted: TrafficShift = BASE, reading: Reading | None = None, retries: int = 2) -> Watched:
    return watched_of(wanted, reading or read(), retries=retries, per_s=50.0)


def with_metrics(*metrics: Metric) -> TrafficShift:
    return replace(BASE, metrics=metrics)


def histogram(**query: Any) -> UserMetric:
    return UserMetric("ttft", HistogramQuery("x_bucket", **query), weight=2.0)


def first_token() -> dict[str, Any]:
    return {"histograms": {"ttft": {SeriesKey("v1", "a", "eu"): LATENCY}}}


NAMES: dict[str, tuple[Watched, list[str]]] = {
    "by default": (
        watched(), ["outcomes", "attempts", "abandoned", "latency>50ms", "latency>100ms", "latency>250ms"],
    ),
    "no attempts where no route repeats a try": (
        watched(retries=0), ["outcomes", "abandoned", "latency>50ms", "latency>100ms", "latency>250ms"],
    ),
    "no latency before 200 requests": (
        watched(reading=read({50.0: 90, inf: 199})), ["outcomes", "attempts", "abandoned"],
    ),
    "edges that the spec names": (
        watched(with_metrics(BuiltIn(BuiltInName.LATENCY, edges_ms=(500.0, 100.0)))),
        ["latency>100ms", "latency>500ms"],
    ),
    "named edges are watched though nothing was measured": (
        watched(with_metrics(BuiltIn(BuiltInName.LATENCY, edges_ms=(300.0,))), read(NONE)),
        ["latency>300ms"],
    ),
    "not those that no bucket has": (
        watched(with_metrics(BuiltIn(BuiltInName.LATENCY, edges_ms=(100.0, 300.0)))), ["latency>100ms"],
    ),
    "nor those that only one version has": (
        watched(with_metrics(BuiltIn(BuiltInName.LATENCY, edges_ms=(100.0, 250.0))), read(canary={250.0: 1, inf: 1})),
        ["latency>250ms"],
    ),
    "a ratio": (watched(with_metrics(UserMetric("misses", RatioQuery("a", "b")))), ["misses"]),
    "a gauge is no test": (watched(with_metrics(UserMetric("load", GaugeQuery("a")))), []),
    "a histogram": (
        watched(with_metrics(histogram()), read(**first_token())), ["ttft>50ms", "ttft>100ms", "ttft>250ms"],
    ),
    "a histogram of which more is better": (
        watched(with_metrics(replace(histogram(edges_ms=(50.0,)), direction=Direction.HIGHER))), ["ttft<50ms"],
    ),
    "a histogram of no time": (watched(with_metrics(histogram(unit=Unit.NONE, edges_ms=(0.5,)))), ["ttft>0.5"]),
    "a histogram of which nothing was measured": (watched(with_metrics(histogram())), []),
}  # fmt: skip


@pytest.mark.parametrize(("found", "names"), NAMES.values(), ids=NAMES.keys())
def test_what_is_compared(found: Watched, names: list[str]) -> None:
    assert [each.name for each in found.tests] == names


UNWATCHED = {
    "attempts": (watched(retries=0), {"attempts": "no route repeats a failed try"}),
    "too few requests": (
        watched(reading=read(NONE)),
        {"latency": "stable has served fewer than the 200 requests that edges are chosen from"},
    ),
    "no such bucket": (
        watched(with_metrics(BuiltIn(BuiltInName.LATENCY, edges_ms=(100.0, 300.0)))),
        {"latency": "no bucket of both versions ends at 300; those that do end at 50, 100, 250, 500"},
    ),
    "nothing": (watched(), {}),
}  # fmt: skip


@pytest.mark.parametrize(("found", "told"), UNWATCHED.values(), ids=UNWATCHED.keys())
def test_what_is_not_compared_is_told(found: Watched, told: dict[str, str]) -> None:
    assert found.unwatched == told


def test_a_tests_terms_are_those_of_its_metric() -> None:
    latency = BuiltIn(BuiltInName.LATENCY, Margin(1.2, 0.01), Margin(1.5, 0.02), weight=6.0)
    ratio = UserMetric("misses", RatioQuery("a", "b"), tolerance=Margin(1.3, 0.1), direction=Direction.HIGHER)
    found = watched(with_metrics(latency, ratio))
    assert [(each.metric, each.weight) for each in found.tests] == [("latency", 2.0)] * 3 + [("misses", 1.0)]
    assert (found.tests[0].tolerated.ratio, found.tests[0].proven.extra) == (1.2, 0.02)
    assert found.higher == ("misses",)
    assert found.edges_ms == {"latency": (50.0, 100.0, 250.0)}


def test_failed_requests_cost_budget_and_a_try_counts_as_often_as_it_may_be_repeated() -> None:
    by_name = {each.name: each for each in watched().tests}
    assert [name for name, each in by_name.items() if each.counted] == ["outcomes"]
    assert [name for name, each in by_name.items() if each.tries == 2] == ["attempts"]


def test_where_failed_tries_may_stand_in_for_retries_the_last_one_counts_too() -> None:
    found = watched(replace(BASE, source=Source.PROMETHEUS)).tests
    assert [test.tries for test in found if test.metric == "attempts"] == [3]


BUDGETS = {
    "as asked for": (replace(BASE, budget=7.0), 1000.0, 7.0),
    "50 at most": (BASE, 50.0, 50.0),
    "1 % of a month's errors": (BASE, 0.2, pytest.approx(0.01 * 0.005 * 0.2 * 2_592_000)),
    "a stricter objective": (replace(BASE, objective=0.9999), 10.0, pytest.approx(25.92)),
    "no rate known": (BASE, None, 50.0),
    "no traffic": (BASE, 0.0, 0.0),
    "a rate that is none": (BASE, inf, 50.0),
}


@pytest.mark.parametrize(("wanted", "per_s", "budget"), BUDGETS.values(), ids=BUDGETS.keys())
def test_what_it_may_cost(wanted: TrafficShift, per_s: float | None, budget: float) -> None:
    assert budget_of(wanted, per_s) == budget


LENGTHS = {
    "stable's longest requests": (read(), 0.5),
    "nothing measured, but what is in flight is known": (read(NONE), 0.0),
    "nothing measured, and nobody knows": (read(NONE, in_flight=None), UNMEASURED_S),
}


@pytest.mark.parametrize(("found", "longest_s"), LENGTHS.values(), ids=LENGTHS.keys())
def test_how_long_evidence_waits(found: Reading, longest_s: float) -> None:
    assert watched(reading=found).longest_s == longest_s


def test_terms_are_what_was_settled_and_the_spec_as_it_is_now() -> None:
    settled = watched()
    edited = replace(BASE, alpha=0.2, beta=0.2, source=Source.PROMETHEUS, metrics=(), budget=1.0)
    found = terms_of(edited, settled)
    assert (found.tests, found.alpha, found.beta, found.budget) == (settled.tests, 0.01, 0.05, 50.0)
    assert (found.poll_s, found.lag_s) == (2.0, 15.0)
    assert (found.rungs, found.bake_s, found.bake_at) == (RUNGS, 600.0, 0.2)


PLANS = {
    "a first share and a bake of their own are rungs, too": (
        EvidenceStrategy(rungs=(Fraction(1, 10),), first=Fraction(1, 50), bake_at=Fraction(1, 4)),
        (0.02, 0.1, 0.25),
        600.0,
    ),
    "steps are rungs without a bake": (StepStrategy((Fraction(1, 10), Fraction(1, 2), Fraction(1))), (0.1, 0.5), 0.0),
    "all at once": (StepStrategy((Fraction(1),)), RUNGS, 0.0),
}  # fmt: skip


@pytest.mark.parametrize(("strategy", "rungs", "bake_s"), PLANS.values(), ids=PLANS.keys())
def test_rungs(strategy: Any, rungs: tuple[float, ...], bake_s: float) -> None:
    found = terms_of(replace(BASE, strategy=strategy), watched())
    assert (found.rungs, found.bake_s) == (rungs, bake_s)


@pytest.mark.parametrize(
    ("objective", "outage"),
    [(0.995, 0.05), (0.993, 0.07), (0.99, 0.1), (0.95, 0.1), (0.9, 0.2), (0.5, 1.0), (0.9999, 0.05)],
)
def test_stable_is_failing_by_its_own_objective(objective: float, outage: float) -> None:
    assert terms_of(replace(BASE, objective=objective), watched()).outage == pytest.approx(outage)


def test_earlier_shifts_are_asked_by_test_then_by_metric_and_remembered() -> None:
    priors = {"latency": Prior(phi=3.0), "latency>50ms": Prior(phi=4.0), "outcomes": Prior(phi=5.0)}
    found = informed(watched(), priors)
    assert {each.name: each.prior.phi for each in found.tests} == {
        "outcomes": 5.0, "attempts": 2.0, "abandoned": 2.0,
        "latency>50ms": 4.0, "latency>100ms": 3.0, "latency>250ms": 3.0,
    }  # fmt: skip
    later = watched_of(BASE, read({50.0: 999, 500.0: 1000, inf: 1000}), retries=2, per_s=1.0, before=found)
    assert [(each.name, each.prior.phi) for each in later.tests][-1] == ("latency>50ms", 4.0)
    other = watched_of(BASE, read({10.0: 999, 500.0: 1000, inf: 1000}), retries=2, per_s=1.0, before=found)
    assert other.tests[-1].prior.phi == 4.0, "another edge of the same metric"


def test_a_ratio_that_was_never_read_is_a_test_all_the_same() -> None:
    wanted = with_metrics(UserMetric("misses", RatioQuery("a", "b")))
    assert watched(wanted, read(ratios={"misses": {SeriesKey("v1", "a", ""): Ratio()}})).tests == watched(wanted).tests


@pytest.mark.parametrize(("edge", "text"), [(250.0, "250"), (0.5, "0.5"), (3_600_000.0, "3600000"), (2.25, "2.25")])
def test_edges_as_people_write_them(edge: float, text: str) -> None:
    assert edge_text(edge) == text
