"""What is watched while traffic moves, and how much worse may the canary be? Metrics as frozen values.

Four metrics are built in and counted by the proxies; a metric of one's own is a query to Prometheus.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

NO_WORSE = timedelta(minutes=1)


class BuiltInName(StrEnum):
    """`outcomes`: how requests ended for their callers. `attempts`: tries after the first one, which callers don't
    see. `abandoned`: callers that left before an answer. `latency`: requests slower than an edge.
    """

    OUTCOMES = "outcomes"
    ATTEMPTS = "attempts"
    ABANDONED = "abandoned"
    LATENCY = "latency"


class Direction(StrEnum):
    """Which is better. `lower`: what is counted as bad is `bad`, or lies above the edge. `higher`: everything else is
    bad: `total - bad`, or what lies at or below the edge.
    """

    LOWER = "lower"
    HIGHER = "higher"


class OnBreach(StrEnum):
    """What a gauge outside its range does: nothing advances, or the weight goes back to 0."""

    HOLD = "hold"
    ROLLBACK = "rollback"


class Unit(StrEnum):
    """The unit of a histogram's edges in Prometheus; `none` is for what is no time (bytes, tokens)."""

    S = "s"
    MS = "ms"
    US = "us"
    NONE = "none"

    @property
    def ms(self) -> float:
        """How many milliseconds one of it is. What is no time is kept as it is.

        Example: an edge le="0.25" in seconds is 250 ms.
        """
        return {Unit.S: 1000.0, Unit.MS: 1.0, Unit.US: 0.001, Unit.NONE: 1.0}[self]


@dataclass(frozen=True, slots=True)
class Margin:
    """A canary's rate of bad requests is within it when it is at most `ratio` x stable's + `extra`.

    Example: Margin(1.1, 0.0005) beside a stable that fails 1 %: up to 1.15 %.
    """

    ratio: float
    extra: float


TOLERANCE = Margin(1.1, 0.0005)
TOLERANCE_OF_LATENCY = Margin(1.1, 0.001)
TOLERANCE_OF_ONES_OWN = Margin(1.1, 0.002)
PROOF = Margin(1.25, 0.005)
PROOF_OF_ATTEMPTS = Margin(1.25, 0.01)
"""One request may add several retries, none of which its caller sees."""
PROOF_OF_LATENCY = Margin(1.25, 0.01)
"""A slow request is an answer; and three edges have to be proven at once."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One of the built-in metrics. Outside `tolerance` is harm; promotion needs proof of being inside `proof`.

    `weight` is its part of what may be blamed wrongly (alpha), against the other metrics' weights. `edges_ms` are for
    latency: the durations above which a request is slow, at most three; None lets stable's own traffic choose them.
    """

    name: BuiltInName
    tolerance: Margin = TOLERANCE
    proof: Margin = PROOF
    weight: float = 1.0
    edges_ms: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class RatioQuery:
    """Two counters: how many, and how many of those were bad. `by` are labels that tell strata apart."""

    bad: str
    total: str
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistogramQuery:
    """A histogram's buckets with the label `le`. `edges_ms` in milliseconds (or as they are, for the unit `none`);
    None lets stable's own traffic choose them.
    """

    buckets: str
    unit: Unit = Unit.S
    edges_ms: tuple[float, ...] | None = None
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GaugeQuery:
    """A value that must stay between `low` and `high` (None: no limit on that side).

    It is a breach once it has been outside at every look for `lasting`.
    """

    value: str
    low: float | None = None
    high: float | None = None
    lasting: timedelta = NO_WORSE
    on_breach: OnBreach = OnBreach.HOLD


Query = RatioQuery | HistogramQuery | GaugeQuery


@dataclass(frozen=True, slots=True)
class UserMetric:
    """A metric of one's own, read from Prometheus. For a gauge only `name` and `query` mean something."""

    name: str
    query: Query
    direction: Direction = Direction.LOWER
    tolerance: Margin = TOLERANCE_OF_ONES_OWN
    proof: Margin = PROOF
    weight: float = 1.0


Metric = BuiltIn | UserMetric

BUILT_IN = {
    BuiltInName.OUTCOMES: BuiltIn(BuiltInName.OUTCOMES, weight=3.0),
    BuiltInName.ATTEMPTS: BuiltIn(BuiltInName.ATTEMPTS, proof=PROOF_OF_ATTEMPTS, weight=1.5),
    BuiltInName.ABANDONED: BuiltIn(BuiltInName.ABANDONED, weight=0.5),
    BuiltInName.LATENCY: BuiltIn(
        BuiltInName.LATENCY, tolerance=TOLERANCE_OF_LATENCY, proof=PROOF_OF_LATENCY, weight=4.0
    ),
}
"""Each built-in metric as it is when nothing but its name is given."""

DEFAULT_METRICS: tuple[Metric, ...] = tuple(BUILT_IN.values())
