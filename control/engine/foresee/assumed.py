"""What is taken for granted when nothing has run yet? Traffic, how often each version fails, how long requests last.

What a run would compare is settled by the very function that settles it when one begins: it is given what stable would
have counted by then. Where nobody says how often something goes wrong, these are assumed of both versions:

| what | assumed |
|---|---|
| attempts | a request that fails has been tried as often as routes allow |
| abandoned | 0.1 % |
| latency | log-normal with sd 0.8: the 99th percentile is about 6 times the median. Edges are passed by 25, 5 and 1 % |
| a ratio of one's own | 5 % |
| a gauge | within its range |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf, log
from statistics import NormalDist

import numpy as np

from control.engine.budget import raised
from control.engine.evidence.terms import Floats, Terms
from control.engine.latency import AIMS
from control.engine.readings import Counts, Reading, SeriesKey
from control.engine.terms import terms_of, watched_of
from control.engine.watched import Watched
from control.spec import BuiltIn, BuiltInName, EvidenceStrategy, HistogramQuery, Source, TrafficShift, UserMetric

ABANDONED, OWN = 0.001, 0.05
SD_OF_LOG = 0.8
EDGES_MS = (50.0, 100.0, 250.0)
"""Where nothing names edges: those of a service that is passed by 25, 5 and 1 % of requests."""
MEASURED = 100_000
"""Requests that stable is taken to have answered before."""
BEFORE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Assumed:
    """Units: `per_s` requests a second of both versions; `stable`, `canary` parts of requests that fail for callers;
    `latency_factor` times as long as stable's do the canary's requests take; `retries` the most that routes allow a
    request; `processes` that serve each version.
    """

    per_s: float
    stable: float = 0.003
    canary: float = 0.003
    latency_factor: float = 1.0
    retries: int = 2
    processes: int = 3


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """All that one foreseen shift's runs have in common.

    `rates` (tests, 2): chances of stable and of the canary; those of attempts are retries a request. `among` (tests,):
    the test whose bad requests this one's are a part of, or -1: what is slower than 250 ms is slower than 100 ms.
    """

    shift: TrafficShift
    given: Assumed
    watched: Watched
    terms: Terms
    rates: Floats
    among: tuple[int, ...]

    @property
    def poll_s(self) -> float:
        return self.terms.poll_s

    @property
    def lag_polls(self) -> int:
        """Whole polls until the traffic follows a decision."""
        return int(np.ceil(self.terms.lag_s / self.terms.poll_s))

    def named(self, test: int) -> str:
        """The test in words: where stable chooses the edges, nobody knows them yet.

        Example: "outcomes", "latency>250ms", "latency (slowest 5 %)".
        """
        of = self.terms.tests[test]
        if of.metric not in self.watched.edges_ms or _asked_edges(self.shift, of.metric):
            return of.name
        side = "lowest" if of.metric in self.watched.higher else "slowest"
        part = _part(self.watched, test)
        return f"{of.metric} ({side} {100 * (1 - part if side == 'lowest' else part):g} %)"

    @property
    def by_evidence(self) -> bool:
        return isinstance(self.shift.strategy, EvidenceStrategy)

    @property
    def counted_at_end(self) -> bool:
        """Does the source know of a request only when it has ended?"""
        return self.shift.source is Source.PROMETHEUS


def setting(shift: TrafficShift, given: Assumed) -> Setting:
    settled = watched_of(shift, _before(shift), retries=given.retries, per_s=given.per_s)
    watched = raised(shift, settled, given.stable, given.per_s)
    terms = terms_of(shift, watched)
    rates = np.array([_rates(shift, watched, index, given) for index in range(len(terms.tests))])
    among = tuple(_among(watched, index) for index in range(len(terms.tests)))
    return Setting(shift, given, watched, terms, rates.reshape(-1, 2), among)


def _asked_edges(shift: TrafficShift, metric: str) -> tuple[float, ...]:
    """The edges that the spec names for a metric; none where stable's own traffic chooses them."""
    if metric == BuiltInName.LATENCY:
        asked = next((each.edges_ms for each in shift.metrics if isinstance(each, BuiltIn) and each.edges_ms), None)
    else:
        asked = next((query.edges_ms for name, query in _histograms(shift) if name == metric), None)
    return asked or ()


def _before(shift: TrafficShift) -> Reading:
    """What stable would have counted before the run."""
    in_flight = 0 if shift.source is Source.MESH else None
    latency = _asked_edges(shift, BuiltInName.LATENCY)
    key = SeriesKey(shift.stable, "", "")
    counts = Counts(ended={0: MEASURED}, in_flight=in_flight, latency_ms=_histogram(latency))
    histograms = {name: {key: _histogram(query.edges_ms or ())} for name, query in _histograms(shift)}
    return Reading(at=BEFORE, series={key: counts}, histograms=histograms)


def _histograms(shift: TrafficShift) -> list[tuple[str, HistogramQuery]]:
    users = [each for each in shift.metrics if isinstance(each, UserMetric)]
    return [(each.name, each.query) for each in users if isinstance(each.query, HistogramQuery)]


def _histogram(asked: tuple[float, ...]) -> Mapping[float, int]:
    """A histogram whose edges the usual parts of requests exceed; the asked ones, where there are any."""
    edges = asked or EDGES_MS
    return {edge: round(MEASURED * (1 - part)) for edge, part in zip(edges, _parts(len(edges)), strict=True)} | {
        edges[-1] * 4: MEASURED,
        inf: MEASURED,
    }


def _parts(edges: int) -> tuple[float, ...]:
    """The parts of stable's requests above so many edges. Example: of two, 5 and 1 %."""
    return AIMS[-edges:]


def _rates(shift: TrafficShift, watched: Watched, index: int, given: Assumed) -> tuple[float, float]:
    test = watched.tests[index]
    metric = next(each for each in shift.metrics if each.name == test.metric)
    match metric:
        case BuiltIn(name=BuiltInName.OUTCOMES):
            return given.stable, given.canary
        case BuiltIn(name=BuiltInName.ATTEMPTS):
            return given.retries * given.stable, given.retries * given.canary
        case BuiltIn(name=BuiltInName.ABANDONED):
            return ABANDONED, ABANDONED
        case BuiltIn(name=BuiltInName.LATENCY):
            part = _part(watched, index)
            return part, slower(part, given.latency_factor)
        case UserMetric(query=HistogramQuery()):
            part = _part(watched, index)
            return (1 - part, 1 - part) if test.metric in watched.higher else (part, part)
        case _:
            return OWN, OWN


def _part(watched: Watched, index: int) -> float:
    """The part of stable's requests above this test's edge."""
    same = [number for number, each in enumerate(watched.tests) if each.metric == watched.tests[index].metric]
    return _parts(len(same))[same.index(index)]


def slower(part: float, factor: float) -> float:
    """The part of requests above an edge when all take `factor` times as long.

    Example: of 5 %, twice as long: 22 %. Example: of 1 %, as long as before: 1 %. Example: half as long: 0.07 %.
    """
    usual = NormalDist()
    return 1 - usual.cdf(usual.inv_cdf(1 - part) - log(factor) / SD_OF_LOG)


def _among(watched: Watched, index: int) -> int:
    """The test whose bad requests contain this one's: the edge next to it, on the side where more lie."""
    metric = watched.tests[index].metric
    same = [number for number, each in enumerate(watched.tests) if each.metric == metric]
    place = same.index(index)
    outer = place + 1 if metric in watched.higher else place - 1
    return same[outer] if 0 <= outer < len(same) else -1
