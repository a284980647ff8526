"""Which values does a screen lay out? The view-model: frozen values with their wording, no behaviour.

A value that is both drawn and read carries the number (`ratio`, `requests`) and its words (`text`).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Tone(StrEnum):
    """How a thing feels: screens turn it into a colour and a sign."""

    GOOD = "good"
    BUSY = "busy"
    WAITING = "waiting"
    WARN = "warn"
    BAD = "bad"
    IDLE = "idle"


class StepMark(StrEnum):
    """Where a step stands."""

    DONE = "done"
    CURRENT = "current"
    FAILED = "failed"
    STOPPED = "stopped"
    AHEAD = "ahead"


@dataclass(frozen=True, slots=True)
class ShareView:
    """One of the three weights. `ratio` is None when nobody knows it."""

    name: str
    ratio: float | None
    text: str


@dataclass(frozen=True, slots=True)
class VersionCounts:
    """What one version did during one step. `attempts` counts every try, `abandoned` callers who left unanswered.

    `short` leaves the last two out of `text`.
    """

    requests: int
    failures: int
    attempts: int
    abandoned: int
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One version's side of a metric row. `ratio` is None when nothing was seen; a gauge has its value there.

    `text` is "14 of 410 (3.41 %)", `short` "3.41 % of 410".
    """

    requests: int
    bad: int
    ratio: float | None
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """Canary's rate minus stable's, with bounds that hold at all looks together.

    `text` is both `middle` and `bounds`: "+0.03 % (-0.31 % to +0.21 %)".
    """

    estimate: float
    low: float
    high: float
    middle: str
    bounds: str
    text: str


@dataclass(frozen=True, slots=True)
class MarginView:
    """How much worse the canary may be: `ratio` times stable's rate plus `extra`."""

    ratio: float
    extra: float
    text: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One test of a metric. Units: `harm` and `proof` are odds, None where nobody bets (a gauge).

    `evidence` is in short what says more: evidence for harm, or proof of being no worse.
    """

    metric: str
    test: str
    title: str
    stable: Cell
    canary: Cell
    difference: DifferenceView | None
    tolerated: MarginView | None
    proven: MarginView | None
    verdict: str
    tone: Tone
    harm: float | None
    proof: float | None
    evidence: str
    phi: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Meter:
    """Something that is used up or filled: failed requests of a budget, the time of a bake. `ratio` is 0 to 1."""

    ratio: float
    text: str


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step: planned, running or done. Shares are configured / acknowledged / observed.

    `told` is the decision in words with its sentence, empty while nothing is decided.
    """

    number: int
    share: ShareView
    mark: StepMark
    shares: tuple[ShareView, ShareView, ShareView]
    entered: str
    took: str
    acknowledged_after: str
    stable: VersionCounts
    canary: VersionCounts
    decision: str
    sentence: str
    told: str


@dataclass(frozen=True, slots=True)
class HistoryRow:
    at: datetime | None
    clock: str
    ago: str
    reason: str
    step: int
    share: str
    actor: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """What must happen next, and how long that has taken or will take."""

    sentence: str
    until: datetime | None
    left: str


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """One route's proxies: how many run the newest weights, which are late, which refused."""

    route: str
    text: str
    late: tuple[str, ...]
    rejections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShiftView:
    """Everything about one shift at one moment.

    `by_evidence`: evidence picks the shares, so that steps ahead may be left out. `observes`: nothing is written;
    `shares` has a fourth one then, what would be. `unwatched` says of a metric that was asked for why it isn't watched,
    `guard` what is watched at 100 % and after, `upper` how many more requests may fail for all that is known.
    """

    namespace: str
    name: str
    host: str
    stable: str
    canary: str
    run: int
    by_evidence: bool
    observes: bool
    phase: str
    tone: Tone
    headline: str
    finished: bool
    step: int
    total_steps: int
    step_text: str
    shares: tuple[ShareView, ...]
    verdict: str
    verdict_tone: Tone
    reason: str
    waiting: Waiting
    next_command: str
    endpoints: str
    metrics: tuple[MetricRow, ...]
    unwatched: tuple[str, ...]
    budget: Meter | None
    upper: str
    bake: Meter | None
    guard: str
    steps: tuple[StepRow, ...]
    proxies: tuple[ProxyRow, ...]
    conditions: tuple[str, ...]
    history: tuple[HistoryRow, ...]
    share_over_time: tuple[float, ...]
    started: str
    took: str


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A finished run, told to a person. `since_first_bad` is empty when no bad request or try was seen."""

    name: str
    headline: str
    tone: Tone
    phase: str
    stable: str
    canary: str
    took: str
    steps: tuple[StepRow, ...]
    shares: tuple[ShareView, ...]
    metrics: tuple[MetricRow, ...]
    budget: Meter | None
    stable_total: VersionCounts
    canary_total: VersionCounts
    reason: str
    since_first_bad: str


@dataclass(frozen=True, slots=True)
class LoadVersion:
    """What callers saw of one version."""

    version: str
    requests: int
    failed: int
    attempts: str
    quantiles: tuple[str, str, str]
    text: str


@dataclass(frozen=True, slots=True)
class LoadView:
    """What callers saw: outcomes as the load generator counted them, and latency p50 / p95 / p99."""

    sent: int
    failed: int
    ratio: float | None
    text: str
    quantiles: tuple[str, str, str]
    versions: tuple[LoadVersion, ...]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field by its path (`spec.http[primary].route[translator v2].weight`). A value that is not there is None."""

    path: str
    before: Any
    after: Any
    sentence: str


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a document: kept (" "), removed ("-") or added ("+")."""

    sign: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    document: str
    file: str
    sentence: str
    fields: tuple[FieldChange, ...]
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class DiffView:
    name: str
    headline: str
    from_share: str
    to_share: str
    documents: tuple[DocumentDiff, ...]


@dataclass(frozen=True, slots=True)
class ExplainView:
    """Why it is where it is: sentences under the question that they answer."""

    name: str
    headline: str
    tone: Tone
    answers: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ListRow:
    namespace: str
    name: str
    phase: str
    tone: Tone
    step: str
    share: str
    verdict: str
    waiting: str
    age: str
