"""How did a finished run go, in what a person wants to know afterwards?"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from control.view import format as words
from control.view import read
from control.view.model import LoadVersion, LoadView, StepMark, SummaryView
from control.view.shift import shift_view
from control.view.steps import total


def summary_view(document: Mapping[str, Any], journal: Sequence[Mapping[str, Any]], now: datetime) -> SummaryView:
    view = shift_view(document, journal, now)
    status = read.section(document, "status")
    ran = tuple(step for step in view.steps if step.mark not in (StepMark.AHEAD, StepMark.STOPPED))
    return SummaryView(
        name=view.name,
        headline=view.headline,
        tone=view.tone,
        phase=view.phase,
        stable=view.stable,
        canary=view.canary,
        took=view.took,
        steps=ran,
        shares=view.shares,
        metrics=view.metrics,
        budget=view.budget,
        stable_total=total([step.stable for step in ran]),
        canary_total=total([step.canary for step in ran]),
        reason=view.reason,
        since_first_bad=_since_first_bad(status),
    )


def _since_first_bad(status: Mapping[str, Any]) -> str:
    """How long the canary was let go on after its first bad request or try. Only told of runs that went back."""
    first, finished = read.moment(status.get("firstBadAt")), read.moment(status.get("finishedAt"))
    if first is None or finished is None or read.text(status, "phase") != "RolledBack":
        return ""
    return words.duration(finished - first)


def load_view(report: Mapping[str, Any]) -> LoadView:
    """The load generator's JSON in words: its final summary, or a tick. What is absent is unknown."""
    totals = read.section(report, "total") or report
    sent, failed = read.whole(totals, "sent"), read.whole(totals, "failed")
    versions = read.section(report, "versions")
    return LoadView(
        sent=sent,
        failed=failed,
        ratio=failed / sent if sent else None,
        text=f"{words.plural(sent, 'request')} sent, {words.count(failed) if failed else 'none'} failed",
        quantiles=_quantiles(report),
        versions=tuple(_load_version(name, read.section(versions, name)) for name in sorted(versions)),
    )


def _load_version(name: str, counts: Mapping[str, Any]) -> LoadVersion:
    requests, failed = read.whole(counts, "n"), read.whole(counts, "failed")
    return LoadVersion(
        version=name,
        requests=requests,
        failed=failed,
        attempts=_attempts(read.section(counts, "attempts")),
        quantiles=_quantiles(counts),
        text=f"{words.plural(requests, 'request')}, {words.count(failed)} failed",
    )


def _attempts(histogram: Mapping[str, Any]) -> str:
    """Example: {"1": 9700, "2": 290, "3": 10} is "9,700 at the first try, 290 at try 2, 10 at try 3"."""
    tries = sorted((int(k), v) for k, v in histogram.items() if str(k).isdigit() and isinstance(v, int) and v)
    names = {1: "the first try"}
    return ", ".join(f"{words.count(n)} at {names.get(attempt, f'try {attempt}')}" for attempt, n in tries)


def _quantiles(source: Mapping[str, Any]) -> tuple[str, str, str]:
    p50, p95, p99 = (words.milliseconds(read.ratio(source, key)) for key in ("p50Ms", "p95Ms", "p99Ms"))
    return p50, p95, p99
