"""How do both versions compare, metric by metric? The proof of a run, before and after it has ended.

A pure function of the document, the journal, and what an earlier window says, if one was asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from control.view import format as words
from control.view import read
from control.view.metrics import counts_cell, difference_view, named
from control.view.model import (
    Cell,
    DifferenceView,
    HistoryRow,
    MarginView,
    MetricRow,
    ShareView,
    ShiftView,
    StepMark,
    StepRow,
    Tone,
)
from control.view.over_time import Moment, evidence_over_time, seconds_of, share_over_time
from control.view.percentiles import percentiles
from control.view.shift import shift_view

WEAKER = "the weaker proof: another hour and other callers, bounds of one look"
TOLD = {
    "pass": "shown to be within {proven}, {proof}",
    "fail": "worse than {tolerated} allows, {harm}",
    "insufficient": "neither shown to be worse nor to be within {proven}: {proof}, {bar} is needed",
    "no data": "nothing of it was counted",
    "unavailable": "it could not be read",
}
HOLD_AT = 5.0
"""Units: odds for harm from which nothing advances."""
BY_STEPS = "enough was seen, and no harm: {harm}"


@dataclass(frozen=True, slots=True)
class Before:
    """What stable did in the earlier window, and how far the canary is from that."""

    cell: Cell
    difference: DifferenceView | None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One test: both versions, their difference, and the verdict in words.

    `tolerated`, `proven`: the highest rates within each margin, at the rate that stable had; None while it had none.
    """

    test: str
    metric: str
    title: str
    stable: Cell
    canary: Cell
    difference: DifferenceView | None
    tolerated: float | None
    proven: float | None
    margin: str
    harm: float | None
    proof: float | None
    verdict: str
    tone: Tone
    told: str
    before: Before | None


@dataclass(frozen=True, slots=True)
class ReportView:
    """A run's report. `percentiles` are decoration, read from the edges of buckets; `notes` say what the numbers mean.

    Units: `lasted_s` seconds from the first step to the end, or to now.
    """

    namespace: str
    name: str
    host: str
    stable: str
    canary: str
    run: int
    phase: str
    tone: Tone
    headline: str
    reason: str
    made: datetime
    began: datetime | None
    lasted_s: float
    facts: tuple[tuple[str, str], ...]
    shares: tuple[ShareView, ...]
    rows: tuple[ReportRow, ...]
    percentiles: tuple[str, ...]
    before: str
    share_over_time: tuple[Moment, ...]
    evidence_over_time: tuple[Moment, ...]
    fail_at: float
    hold_at: float
    steps: tuple[StepRow, ...]
    history: tuple[HistoryRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What became of the question for an earlier window: its answer, or why there is none. Neither: nobody asked."""

    found: Mapping[str, Any] | None = None
    missing: str = ""


NOT_ASKED = Baseline()


def report_view(
    document: Mapping[str, Any],
    journal: Sequence[Mapping[str, Any]],
    now: datetime,
    baseline: Baseline = NOT_ASKED,
) -> ReportView:
    view = shift_view(document, journal, now)
    spec, status = read.section(document, "spec"), read.section(document, "status")
    began, finished = (read.moment(status.get(key)) for key in ("startedAt", "finishedAt"))
    lasted = seconds_of((finished or now) - began) if began else 0.0
    fail_at, bar = _odds_of(spec, "alpha", 0.01), _odds_of(spec, "beta", 0.05)
    earlier = {read.text(row, "test"): row for row in read.rows(baseline.found or {}, "rows")}
    return ReportView(
        namespace=view.namespace,
        name=view.name,
        host=view.host,
        stable=view.stable,
        canary=view.canary,
        run=view.run,
        phase=view.phase,
        tone=view.tone,
        headline=view.headline,
        reason=view.reason,
        made=now,
        began=began,
        lasted_s=lasted,
        facts=tuple((name, text) for name, text in _facts(view, began) if text),
        shares=view.shares,
        rows=tuple(_row(row, earlier.get(row.test), bar, by_steps=not view.by_evidence) for row in view.metrics),
        percentiles=tuple(percentiles(view.metrics, view.stable, view.canary)),
        before=_before_told(baseline),
        share_over_time=share_over_time(journal, status, began, finished or now),
        evidence_over_time=evidence_over_time(journal, status, began, finished or now),
        fail_at=fail_at,
        hold_at=HOLD_AT,
        steps=tuple(step for step in view.steps if step.mark not in (StepMark.AHEAD, StepMark.STOPPED)),
        history=view.history,
        notes=_notes(view.stable, fail_at, baseline),
    )


def _odds_of(spec: Mapping[str, Any], key: str, usual: float) -> float:
    """The odds at which a chance of error is reached. Example: 1% is 100.0."""
    chance = float(read.share(spec.get(key)) or usual)
    return 1.0 / chance if 0 < chance <= 1 else 1.0 / usual


def _facts(view: ShiftView, began: datetime | None) -> Iterator[tuple[str, str]]:
    """What stands at the top, in a few words each."""
    yield "began", began.strftime("%Y-%m-%d %H:%M:%S UTC") if began else "not yet"
    yield ("took" if view.finished else "runs for"), view.took
    yield "verdict", view.verdict
    yield "mode", "observed only: nothing was written" if view.observes else ""
    yield "budget", view.budget.text if view.budget else ""
    yield "bake", view.bake.text if view.bake else ""
    yield "at 100 %", view.guard
    for note in view.unwatched:
        yield ("note" if note.startswith("ledger: ") else "not watched"), note


def _row(row: MetricRow, earlier: Mapping[str, Any] | None, bar: float, *, by_steps: bool) -> ReportRow:
    return ReportRow(
        test=row.test,
        metric=row.metric,
        title=named(row.title, row.metric),
        stable=row.stable,
        canary=row.canary,
        difference=row.difference,
        tolerated=_reach(row.tolerated, row.stable),
        proven=_reach(row.proven, row.stable),
        margin=row.tolerated.text if row.tolerated else row.evidence,
        harm=row.harm,
        proof=row.proof,
        verdict=row.verdict,
        tone=row.tone,
        told=_told(row, bar, by_steps=by_steps),
        before=_before(earlier) if earlier else None,
    )


def _reach(margin: MarginView | None, stable: Cell) -> float | None:
    """The highest rate within a margin, at stable's rate."""
    return None if margin is None or stable.ratio is None else margin.ratio * stable.ratio + margin.extra


def _told(row: MetricRow, bar: float, *, by_steps: bool) -> str:
    """Example: "pass: shown to be within 1.25 x stable + 0.5 %, 31 : 1"."""
    if row.proven is None or row.tolerated is None:
        return f"{row.verdict}: {row.evidence}" if row.evidence else row.verdict
    proven = row.proof is not None and row.proof >= bar
    template = BY_STEPS if row.verdict == "pass" and by_steps and not proven else TOLD.get(row.verdict, "{proof}")
    said = template.format(
        proven=row.proven.text,
        tolerated=row.tolerated.text,
        harm=words.odds(row.harm),
        proof=words.odds(row.proof),
        bar=words.odds(bar),
    )
    return f"{row.verdict}: {said}"


def _before(row: Mapping[str, Any]) -> Before:
    cell = counts_cell(read.whole(row, "bad"), read.whole(row, "requests"))
    return Before(cell, difference_view(read.section(row, "difference")))


def _before_told(baseline: Baseline) -> str:
    """Example: "v1 on 2026-11-23 from 08:00 to 10:00 UTC: the weaker proof: ..."; or why there is none."""
    if baseline.found is None:
        return baseline.missing
    begin, end = (read.moment(baseline.found.get(key)) for key in ("from", "to"))
    if begin is None or end is None:
        return WEAKER
    last = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    version = read.text(baseline.found, "version")
    return f"{version} on {begin:%Y-%m-%d} from {begin:%H:%M} to {last} UTC: {WEAKER}"


def _notes(stable: str, fail_at: float, baseline: Baseline) -> tuple[str, ...]:
    notes = (
        "The difference is the canary's rate minus stable's, both watched in the same hour. Its bounds hold at all "
        "looks together with 95 % confidence, however often one has looked. Poll is compared with poll, so that it is "
        "not the difference of the two totals where rates and shares have changed.",
        f"stable is {stable}. Harm and proof are odds: at most one in {words.count(round(fail_at))} versions within "
        f"the margin ever reaches {words.odds(fail_at)} for harm.",
    )
    troubles = read.section(baseline.found or {}, "troubles")
    return (*notes, *(f"{name} is not in the earlier window: {why}" for name, why in troubles.items()))
