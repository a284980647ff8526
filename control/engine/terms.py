"""What is compared, and what was promised? From the spec and from what stable has counted so far to tests and terms.

Tests are settled when the run begins (`Watched`), so that they can't follow what the canary does. How the share may
grow follows the spec as it is now.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

from control.engine.evidence.terms import RUNGS, UNKNOWN, Margin, Prior, Terms, Test
from control.engine.latency import FEWEST, chosen, histogram_of, latency_of, layout, longest
from control.engine.readings import Buckets, Reading
from control.engine.watched import Watched
from control.spec import (
    BuiltIn,
    BuiltInName,
    Direction,
    EvidenceStrategy,
    GaugeQuery,
    HistogramQuery,
    Metric,
    RatioQuery,
    Source,
    TrafficShift,
    Unit,
    UserMetric,
)

LAG_S = {Source.MESH: 5.0, Source.PROMETHEUS: 15.0}
"""From a decision to roll back, that the newest counts ask for, until the traffic follows: scrape, push, drain."""
MOST_BUDGET = 50.0
PART_OF_ERROR_BUDGET = 0.01
MONTH_S = 30 * 86_400.0
OUTAGE_FROM, OUTAGE_TO = 0.05, 0.1
OUTAGE_TIMES, OUTAGE_AT_LEAST = 10.0, 2.0
UNMEASURED_S = 30.0
"""How long requests are taken to last where they are only counted when they end, and none was ever measured."""


def watched_of(
    shift: TrafficShift, reading: Reading, *, retries: int, per_s: float | None, before: Watched | None = None
) -> Watched:
    """What a run that begins now would compare, from all that stable has counted by now.

    Units: `retries` is what the routes allow a request, `per_s` requests a second of both versions (None: not known).
    `before` is what it would have compared at the last look: what earlier shifts say of those tests is kept.
    """
    edges, unwatched = _edges(shift, reading)
    if not retries and any(_name(each) == BuiltInName.ATTEMPTS for each in shift.metrics):
        unwatched[BuiltInName.ATTEMPTS.value] = "no route repeats a failed try"
    tries = retries + 1 if retries and shift.source is Source.PROMETHEUS else retries  # failed tries may stand in there
    tests = (test for metric in shift.metrics for test in _tests(metric, edges, tries))
    return Watched(
        tests=tuple(replace(test, prior=_known_of(test, before)) for test in tests),
        edges_ms=edges,
        higher=tuple(_name(each) for each in shift.metrics if _more_is_better(each)),
        retries=retries,
        budget=budget_of(shift, per_s),
        alpha=shift.alpha,
        beta=shift.beta,
        longest_s=_longest_s(shift, reading),
        unwatched=unwatched,
    )


def _known_of(test: Test, before: Watched | None) -> Prior:
    """What is known of the test, else of another one of its metric: other edges may be watched now."""
    known = before.tests if before is not None else ()
    same = (each.prior for name in ("name", "metric") for each in known if getattr(each, name) == getattr(test, name))
    return next(same, UNKNOWN)


def informed(watched: Watched, priors: Mapping[str, Prior]) -> Watched:
    """With what earlier shifts say, by name of test, or by metric for a test that no earlier shift had."""
    known = (priors.get(test.name, priors.get(test.metric, test.prior)) for test in watched.tests)
    return replace(
        watched, tests=tuple(replace(test, prior=each) for test, each in zip(watched.tests, known, strict=True))
    )


def terms_of(shift: TrafficShift, watched: Watched) -> Terms:
    """The terms of a run: what was settled when it began, and how the share may grow."""
    terms = Terms(
        tests=watched.tests,
        alpha=watched.alpha,
        beta=watched.beta,
        budget=watched.budget,
        poll_s=shift.poll.total_seconds(),
        lag_s=LAG_S[shift.source],
        outage=outage_of(shift.objective),
    )
    strategy = shift.strategy
    if not isinstance(strategy, EvidenceStrategy):
        return replace(terms, rungs=_below_all(map(float, strategy.steps)), bake_s=0.0)
    return replace(
        terms,
        rungs=_below_all(map(float, strategy.shares)),
        bake_s=strategy.bake_for.total_seconds(),
        bake_at=float(strategy.bake_at),
    )


def outage_of(objective: float) -> float:
    """The part of stable's requests that fail from which stable itself is failing: ten times what its objective allows,
    but 5 to 10 %; where the objective allows more than half of that, twice as much as it does.

    Example: 99.5 %: 5 %. Example: 99 %: 10 %. Example: 95 %: 10 %. Example: 80 %: 40 %.
    """
    allowed = 1.0 - objective
    return max(min(max(OUTAGE_FROM, OUTAGE_TIMES * allowed), OUTAGE_TO), OUTAGE_AT_LEAST * allowed)


def budget_of(shift: TrafficShift, per_s: float | None) -> float:
    """Failed requests that the shift may cost: as asked for, or 1 % of what the objective allows in 30 days, 50 at
    most.

    Example: 99.5 % and 50 requests a second: 1 % of 648,000, so 50. Example: 0.2 a second: 26. Example: no rate known:
    50.
    """
    if shift.budget is not None:
        return shift.budget
    if per_s is None or not isfinite(per_s):
        return MOST_BUDGET
    return min(MOST_BUDGET, error_budget(shift.objective, per_s))


def error_budget(objective: float, per_s: float) -> float:
    """1 % of the failed requests that the objective allows in 30 days."""
    return PART_OF_ERROR_BUDGET * (1.0 - objective) * per_s * MONTH_S


def _below_all(shares: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted({share for share in shares if share < 1.0})) or RUNGS


def _name(metric: Metric) -> str:
    return metric.name.value if isinstance(metric, BuiltIn) else metric.name


def _more_is_better(metric: Metric) -> bool:
    return isinstance(metric, UserMetric) and metric.direction is Direction.HIGHER


def _edges(shift: TrafficShift, reading: Reading) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """The edges of each metric that has any, and why others have none."""
    edges: dict[str, tuple[float, ...]] = {}
    unwatched: dict[str, str] = {}
    for metric in shift.metrics:
        asked = _asked(metric)
        if asked is None:
            continue
        name = _name(metric)
        sides = _sides(metric, reading, shift)
        edges[name], told = _settled(asked, *sides)
        if told:
            unwatched[name] = told
    return {name: found for name, found in edges.items() if found}, unwatched


def _asked(metric: Metric) -> tuple[float, ...] | None:
    """The edges that the spec names, none for those that stable chooses; None for a metric that has no edges."""
    match metric:
        case BuiltIn(name=BuiltInName.LATENCY) | UserMetric(query=HistogramQuery()):
            named = metric.edges_ms if isinstance(metric, BuiltIn) else _histogram(metric).edges_ms
            return tuple(sorted(named or ()))
        case _:
            return None


def _histogram(metric: UserMetric) -> HistogramQuery:
    assert isinstance(metric.query, HistogramQuery)
    return metric.query


def _sides(metric: Metric, reading: Reading, shift: TrafficShift) -> tuple[Buckets, Buckets]:
    """Stable's and the canary's histograms of a metric."""
    if isinstance(metric, BuiltIn):
        return latency_of(reading, shift.stable), latency_of(reading, shift.canary)
    return histogram_of(reading, metric.name, shift.stable), histogram_of(reading, metric.name, shift.canary)


def _settled(asked: tuple[float, ...], stable: Buckets, canary: Buckets) -> tuple[tuple[float, ...], str]:
    """The edges to watch, and what a person should know of those that are not. What nobody has measured yet may have
    any edge.
    """
    common = layout(stable, canary)
    if not asked:
        found = chosen(stable, common)
        return found, "" if found else f"stable has served fewer than the {FEWEST} requests that edges are chosen from"
    missing = [edge for edge in asked if common and edge not in common]
    told = (
        f"no bucket of both versions ends at {_told(missing)}; those that do end at {_told(common)}" if missing else ""
    )
    return tuple(edge for edge in asked if edge not in missing), told


def _told(edges: Iterable[float]) -> str:
    return ", ".join(edge_text(each) for each in edges)


def edge_text(edge: float) -> str:
    """Example: 250.0 is "250", 0.5 is "0.5", 3600000.0 is "3600000"."""
    return f"{edge:.0f}" if edge == int(edge) else f"{edge:g}"


def _longest_s(shift: TrafficShift, reading: Reading) -> float:
    known = longest(latency_of(reading, shift.stable)) / 1000.0
    unknown = not known and any(each.in_flight is None for each in reading.series.values())
    return UNMEASURED_S if unknown else known


def _tests(metric: Metric, edges: Mapping[str, tuple[float, ...]], tries: int) -> tuple[Test, ...]:
    name = _name(metric)
    tests: tuple[Test, ...]
    match metric:
        case BuiltIn(name=BuiltInName.ATTEMPTS):
            return (replace(_test(metric, name), tries=tries),) if tries else ()
        case BuiltIn(name=BuiltInName.LATENCY) | UserMetric(query=HistogramQuery()):
            found = edges.get(name, ())
            sign, unit = "<" if _more_is_better(metric) else ">", _unit(metric)
            tests = tuple(_test(metric, f"{name}{sign}{edge_text(edge)}{unit}") for edge in found)
            return tuple(replace(test, weight=metric.weight / len(found)) for test in tests)
        case UserMetric(query=GaugeQuery()):
            return ()
        case BuiltIn():
            return (replace(_test(metric, name), counted=metric.name is BuiltInName.OUTCOMES),)
        case UserMetric(query=RatioQuery()):
            return (_test(metric, name),)
    raise AssertionError(metric)


def _unit(metric: Metric) -> str:
    is_time = isinstance(metric, BuiltIn) or _histogram(metric).unit is not Unit.NONE
    return "ms" if is_time else ""


def _test(metric: Metric, name: str) -> Test:
    tolerated, proven = metric.tolerance, metric.proof
    return Test(
        name=name,
        metric=_name(metric),
        tolerated=Margin(tolerated.ratio, tolerated.extra),
        proven=Margin(proven.ratio, proven.extra),
        weight=metric.weight,
    )
