"""Any TrafficShift at all, for laws that hold for every one; and the text that mistakes are put into."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from control.errors import SpecError
from control.spec import (
    BuiltIn,
    BuiltInName,
    Change,
    Direction,
    EvidenceStrategy,
    GaugeQuery,
    HistogramQuery,
    Margin,
    Mode,
    OnBreach,
    OnDeadline,
    OnDelete,
    OnFailure,
    RatioQuery,
    Source,
    StepStrategy,
    Target,
    TrafficShift,
    Unit,
    UserMetric,
    Window,
    parse_shift,
)
from control.spec.metric import DEFAULT_METRICS
from mesh.traffic import RouteRef

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHORT = """\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {name: translator, namespace: shop}
spec:
  target: {host: translator, routes: [{virtualService: translator}]}
  stable: v1
  canary: v2
"""
"""The shortest text that is one; it ends inside of the spec, at line 8."""


def parsed(spec: str) -> TrafficShift:
    """The shift with more lines of spec, written without their indentation."""
    return parse_shift(_text(spec), "x")


def problems(spec: str) -> list[str]:
    """What is wrong with it, without the places."""
    with pytest.raises(SpecError) as caught:
        parse_shift(_text(spec), "x")
    return [str(each).partition(": ")[2] for each in caught.value.problems]


def places(spec: str) -> list[tuple[int, int]]:
    """Where, counted from the first line of `spec`; columns as they are in it."""
    with pytest.raises(SpecError) as caught:
        parse_shift(_text(spec), "x")
    return [(each.line - SHORT.count("\n"), each.column - 2) for each in caught.value.problems]


def _text(spec: str) -> bytes:
    return (SHORT + "".join(f"  {line}\n" for line in spec.splitlines())).encode()


NAMES = st.sampled_from(["a", "v1", "v2", "x-2", "translator", "edge", "shop", "no", "1e3", "0"])
LENGTHS = st.integers(min_value=100, max_value=3_600_000).map(lambda ms: timedelta(milliseconds=ms))
WEIGHTS = st.floats(0.001, 1000)
MARGINS = st.builds(Margin, st.floats(1, 2), st.floats(1e-9, 0.5))
EDGES = st.none() | st.lists(st.floats(0.01, 1e6), min_size=1, max_size=3, unique=True).map(sorted).map(tuple)
WIDER = Margin(2, 0.5)
V = '{version="{{ version }}"}'
RATIOS = st.builds(RatioQuery, st.just(f"misses{V}"), st.just(f"lookups{V}"), st.sampled_from([(), ("source", "zone")]))
HISTOGRAMS = st.builds(HistogramQuery, st.just(f"ttft_bucket{V}"), st.sampled_from(Unit), EDGES)
GAUGES = st.builds(
    GaugeQuery,
    st.just(f"sum(rate(busy{V}[{{{{ interval }}}}]))"),
    st.none() | st.floats(-10, 10),
    st.floats(10, 20),
    LENGTHS,
    st.sampled_from(OnBreach),
)


@st.composite
def metrics(draw: st.DrawFn) -> tuple[BuiltIn | UserMetric, ...]:
    built_in = [
        BuiltIn(name, draw(MARGINS), WIDER, draw(WEIGHTS), draw(EDGES) if name is BuiltInName.LATENCY else None)
        for name in draw(st.permutations(BuiltInName))
    ]
    asked = draw(st.lists(RATIOS | HISTOGRAMS, max_size=2))
    users = [
        UserMetric(f"mine-{index}", query, draw(st.sampled_from(Direction)), draw(MARGINS), WIDER, draw(WEIGHTS))
        for index, query in enumerate(asked)
    ]
    gauges = [UserMetric(f"gauge-{index}", query) for index, query in enumerate(draw(st.lists(GAUGES, max_size=1)))]
    return (*built_in, *users, *gauges)


def shares(most: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    cuts = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)
    return st.sets(cuts, min_size=1, max_size=most).map(sorted).map(tuple)


STEPS = st.builds(StepStrategy, shares(6).map(lambda cuts: (*cuts, Fraction(1))), LENGTHS, st.integers(1, 1000))


@st.composite
def evidence(draw: st.DrawFn) -> EvidenceStrategy:
    rungs = draw(shares(6))
    first = draw(st.sampled_from([None, rungs[0]]))
    bake = max(rungs[0], Fraction(1, 5))
    if bake > Fraction(19, 20):
        return EvidenceStrategy(rungs, timedelta(0), first=first, capped=draw(st.booleans()))
    return EvidenceStrategy(rungs, draw(LENGTHS), bake, first, draw(st.booleans()))


WINDOWS = st.integers(0, 10**6).map(
    lambda minutes: Window(
        datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes),
        datetime(2026, 1, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes),
    )
)
CHANCES = st.floats(1e-6, 0.2)


@st.composite
def shifts(draw: st.DrawFn) -> TrafficShift:
    refs = draw(st.lists(st.builds(RouteRef, NAMES, NAMES, st.none() | NAMES), min_size=1, max_size=3, unique=True))
    versions = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    poll = draw(LENGTHS)
    source = draw(st.sampled_from(Source))
    shift = TrafficShift(
        name=draw(NAMES),
        namespace=draw(NAMES),
        target=Target(draw(NAMES), tuple(refs)),
        stable=versions[0],
        canary=versions[1],
        strategy=draw(STEPS | evidence()),
        poll=poll,
        on_failure=draw(st.sampled_from(OnFailure)),
        on_delete=draw(st.sampled_from(OnDelete)),
        on_deadline=draw(st.sampled_from(OnDeadline)),
        deadline=draw(st.none() | LENGTHS.map(lambda length: length + timedelta(hours=1, seconds=1))),
        annotations=tuple(sorted(draw(st.dictionaries(NAMES, NAMES, max_size=2)).items())),
    )
    return replace(
        shift,
        mode=draw(st.sampled_from(Mode)),
        source=source,
        alpha=draw(CHANCES),
        beta=draw(CHANCES),
        metrics=draw(st.just(DEFAULT_METRICS) | metrics()),
        budget=draw(st.none() | st.floats(0.1, 1e6)),
        objective=draw(st.floats(0.01, 0.99999)),
        warm_up=draw(st.just(timedelta(0)) | LENGTHS),
        blind_for=2 * poll + draw(LENGTHS) + timedelta(seconds=1),
        rollback_window=draw(LENGTHS),
        return_over=draw(LENGTHS),
        changes=tuple(each for each in Change if draw(st.booleans())),
        baseline=draw(st.none() | WINDOWS) if source is Source.PROMETHEUS else None,
    )
