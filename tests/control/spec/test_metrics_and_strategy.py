"""What is watched, and by which plan the share grows: what is understood, and what stands where nothing is given."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from control.spec import (
    BuiltInName,
    Change,
    Direction,
    EvidenceStrategy,
    GaugeQuery,
    HistogramQuery,
    Margin,
    Metric,
    Mode,
    OnBreach,
    RatioQuery,
    Source,
    StepStrategy,
    TrafficShift,
    Unit,
    UserMetric,
    Window,
)
from control.spec.metric import BUILT_IN
from control.spec.strategy import RUNGS
from tests.support.spec_shifts import parsed

LATENCY = BUILT_IN[BuiltInName.LATENCY]
V = '{version="{{ version }}"}'


def test_nothing_but_target_and_versions_is_needed() -> None:
    found = parsed("")
    assert found == TrafficShift(found.name, found.namespace, found.target, "v1", "v2")
    assert found.strategy == EvidenceStrategy(RUNGS, timedelta(minutes=10), Fraction(1, 5), None, True)
    assert [each.name for each in found.metrics] == ["outcomes", "attempts", "abandoned", "latency"]
    assert (found.mode, found.source, found.alpha, found.beta) == (Mode.CONTROL, Source.MESH, 0.01, 0.05)
    assert (found.budget, found.objective) == (None, 0.995)


def test_every_field_is_understood() -> None:
    found = parsed(
        """\
mode: observe
source: prometheus
alpha: 5%
beta: 1/10
budget: 20
objective: 99.9%
warmUp: 1m
blindFor: 30s
rollbackWindow: 1h
return: {over: 2m}
changes: [retries, timeout, retries]
baseline: {from: 2026-05-01T10:00:00Z, to: 2026-05-01T13:00:00+02:00}
strategy: {kind: evidence, rungs: [1%, 10%, 1/2], bake: {for: 0s, at: 95%}, first: 2%, capacity: none}
"""
    )
    plain = parsed("")
    assert found == replace(
        plain,
        mode=Mode.OBSERVE,
        source=Source.PROMETHEUS,
        alpha=0.05,
        beta=0.1,
        budget=20.0,
        objective=0.999,
        warm_up=timedelta(minutes=1),
        blind_for=timedelta(seconds=30),
        rollback_window=timedelta(hours=1),
        return_over=timedelta(minutes=2),
        changes=(Change.TIMEOUT, Change.RETRIES),
        baseline=Window(datetime(2026, 5, 1, 10, tzinfo=UTC), datetime(2026, 5, 1, 11, tzinfo=UTC)),
        strategy=EvidenceStrategy(
            (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)), timedelta(0), Fraction(19, 20), Fraction(1, 50), False
        ),
    )


METRICS: dict[str, tuple[str, Metric]] = {
    "a built-in one as it is": ("{name: outcomes}", BUILT_IN[BuiltInName.OUTCOMES]),
    "half a margin, the rest as usual": (
        "{name: latency, tolerance: {extra: 0.3%}, proof: {ratio: 2}, weight: 1}",
        replace(LATENCY, tolerance=Margin(1.1, 0.003), proof=Margin(2.0, 0.01), weight=1.0),
    ),
    "edges, finer than a millisecond too": (
        "{name: latency, edges: [0.5ms, 250ms, 1m30s]}",
        replace(LATENCY, edges_ms=(0.5, 250.0, 90_000.0)),
    ),
    "edges that are found by themselves": (
        "{name: latency, edges: auto}",
        LATENCY,
    ),
    "the highest tolerance below the proof": (
        "{name: outcomes, tolerance: {ratio: 1.25, extra: 0.5%}}",
        replace(BUILT_IN[BuiltInName.OUTCOMES], tolerance=Margin(1.25, 0.005)),
    ),
    "no tolerance at all, and a proof": (
        "{name: outcomes, tolerance: {ratio: 1, extra: 0%}, proof: {ratio: 1, extra: 1%}}",
        replace(BUILT_IN[BuiltInName.OUTCOMES], tolerance=Margin(1.0, 0.0), proof=Margin(1.0, 0.01)),
    ),
    "a ratio of counters": (
        f"{{name: mine, direction: higher, prometheus: {{kind: ratio, bad: 'h{V}', total: 't{V}', by: [zone]}}}}",
        UserMetric("mine", RatioQuery(f"h{V}", f"t{V}", ("zone",)), Direction.HIGHER),
    ),
    "a histogram in seconds": (
        f"{{name: mine, weight: 3, prometheus: {{kind: histogram, buckets: 'b_bucket{V}', edges: [500ms, 2s]}}}}",
        UserMetric("mine", HistogramQuery(f"b_bucket{V}", Unit.S, (500.0, 2000.0)), weight=3.0),
    ),
    "a histogram of tokens": (
        f"{{name: mine, prometheus: {{kind: histogram, buckets: 'b_bucket{V}', unit: none, edges: [100, 2500]}}}}",
        UserMetric("mine", HistogramQuery(f"b_bucket{V}", Unit.NONE, (100.0, 2500.0))),
    ),
    "a gauge": (
        f"{{name: mine, prometheus: {{kind: gauge, value: 'g{V}', min: -1, max: 0.5, for: 0s, onBreach: rollback}}}}",
        UserMetric("mine", GaugeQuery(f"g{V}", -1.0, 0.5, timedelta(0), OnBreach.ROLLBACK)),
    ),
    "a gauge that must be one value": (
        f"{{name: mine, prometheus: {{kind: gauge, value: 'g{V}', min: 1, max: 1}}}}",
        UserMetric("mine", GaugeQuery(f"g{V}", 1.0, 1.0)),
    ),
}


@pytest.mark.parametrize(("text", "expected"), METRICS.values(), ids=METRICS.keys())
def test_a_metric_is_understood(text: str, expected: Metric) -> None:
    other = "abandoned" if expected.name != "abandoned" else "outcomes"
    assert parsed(f"metrics: [{text}, {{name: {other}}}]").metrics[0] == expected


@pytest.mark.parametrize(
    ("unit", "ms"),
    [
        pytest.param(Unit.S, 1000, id="a second"),
        pytest.param(Unit.MS, 1, id="a millisecond"),
        pytest.param(Unit.US, 0.001, id="a microsecond"),
        pytest.param(Unit.NONE, 1, id="what is no time stays as it is"),
    ],
)
def test_edges_are_made_milliseconds(unit: Unit, ms: float) -> None:
    assert unit.ms == ms


@pytest.mark.parametrize(
    ("poll", "seconds"),
    [
        pytest.param("5s", 60, id="a minute"),
        pytest.param("20s", 60, id="a minute holds three looks"),
        pytest.param("30s", 90, id="three looks, where a minute is less"),
        pytest.param("1h", 3 * 3600, id="who looks seldom is not blind in between"),
    ],
)
def test_how_long_silence_is_borne_follows_the_looks(poll: str, seconds: float) -> None:
    assert parsed(f"poll: {poll}").blind_for == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("spec", "strategy"),
    [
        pytest.param("strategy: {}", EvidenceStrategy(), id="an empty strategy is evidence"),
        pytest.param("strategy: {bake: {at: 95%}}", EvidenceStrategy(bake_at=Fraction(19, 20)), id="a late bake"),
        pytest.param(
            "deadline: 5m\nstrategy: {bake: {for: 0s}}", EvidenceStrategy(bake_for=timedelta(0)), id="a short deadline"
        ),
        pytest.param(
            "strategy: {rungs: [40%], bake: {for: 0s}}",
            EvidenceStrategy((Fraction(2, 5),), timedelta(0)),
            id="high rungs without a bake",
        ),
        pytest.param(
            "deadline: 5s\nstrategy: {kind: steps, steps: [100%]}", StepStrategy((Fraction(1),)), id="steps don't bake"
        ),
    ],
)
def test_what_is_possible_is_not_refused(spec: str, strategy: object) -> None:
    assert parsed(spec).strategy == strategy


@pytest.mark.parametrize(
    ("strategy", "percent"),
    [
        pytest.param(EvidenceStrategy(), [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 35, 50, 100], id="rungs"),
        pytest.param(
            EvidenceStrategy((Fraction(1, 10),), first=Fraction(1, 20), bake_at=Fraction(3, 10)),
            [5, 10, 30, 100],
            id="the first share and the bake are on the way",
        ),
        pytest.param(
            EvidenceStrategy((Fraction(1, 10),), timedelta(0), Fraction(3, 10)), [10, 100], id="a bake that is off"
        ),
        pytest.param(StepStrategy((Fraction(1, 2), Fraction(1))), [50, 100], id="steps"),
    ],
)
def test_the_shares_on_the_way(strategy: EvidenceStrategy | StepStrategy, percent: list[float]) -> None:
    assert [float(each * 100) for each in strategy.shares] == percent
