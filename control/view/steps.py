"""How did each step go? Rows of planned, running and finished steps, from spec and status together."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from control.view import format as words
from control.view import read
from control.view.model import ShareView, StepMark, StepRow, VersionCounts

MARK_OF_DECISION = {
    "advance": StepMark.DONE,
    "promote": StepMark.DONE,
    "roll_back": StepMark.FAILED,
    "rollback": StepMark.FAILED,
}
ROLLED_BACK = frozenset({"RollingBack", "RolledBack", "Failed"})


def share_view(name: str, ratio: Fraction | float | None) -> ShareView:
    return ShareView(name, None if ratio is None else float(ratio), words.percent(ratio))


def three_shares(source: Mapping[str, Any]) -> tuple[ShareView, ShareView, ShareView]:
    """Configured, acknowledged and observed, as a status or one of its steps has them."""
    return (
        share_view("configured", read.share(source.get("configured"))),
        share_view("acknowledged", read.share(source.get("acknowledged"))),
        share_view("observed", read.ratio(source, "observedRatio")),
    )


def version_counts(source: Mapping[str, Any]) -> VersionCounts:
    requests, failures = read.whole(source, "requests"), read.whole(source, "failures")
    attempts = requests + read.whole(source, "retries")
    return counts(requests, failures, attempts, read.whole(source, "abandoned"))


def counts(requests: int, failures: int, attempts: int, abandoned: int) -> VersionCounts:
    """Example: "1,204 requests, 3 failed, 1,210 attempts", "no requests, 4 abandoned"."""
    seen = bool(requests or attempts)
    short = f"{words.plural(requests, 'request')}, {words.count(failures)} failed" if seen else "no requests"
    tries = [words.plural(attempts, "attempt")] if seen else []
    left = [f"{words.count(abandoned)} abandoned"] if abandoned else []
    return VersionCounts(requests, failures, attempts, abandoned, ", ".join([short, *tries, *left]), short)


def total(rows: Sequence[VersionCounts]) -> VersionCounts:
    return counts(
        sum(row.requests for row in rows),
        sum(row.failures for row in rows),
        sum(row.attempts for row in rows),
        sum(row.abandoned for row in rows),
    )


def planned_shares(spec: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The shares that the manifest names: its list of steps, or the rungs, of which evidence may leave some out."""
    strategy = read.section(spec, "strategy")
    named = strategy.get("steps")
    if not isinstance(named, list | tuple):
        bakes = read.span(read.section(strategy, "bake").get("for"))
        bake = [read.section(strategy, "bake").get("at")] if bakes else []
        named = [*_listed(strategy.get("rungs")), strategy.get("first"), *bake, "1"]
    parsed = [read.share(step) for step in named]
    return tuple(share for share in parsed if share is not None)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def step_rows(spec: Mapping[str, Any], status: Mapping[str, Any], now: datetime) -> tuple[StepRow, ...]:
    """A row for each step that was taken, by the plan of its time, then one for each that the present plan still has.

    Example: at the third step, 20 %, of 1, 5, 20, 50 and 100 % the plan becomes 2, 10, 40, 100 %: the rows are 1, 5, 20
    (taken), 40 and 100 %.
    """
    taken = read.rows(status, "steps")
    last = taken[-1] if taken else {}
    reached, number = read.share(last.get("share")) or Fraction(0), read.whole(last, "step")
    ahead = sorted({share for share in planned_shares(spec) if share > reached})
    rows = [_row(read.whole(step, "step"), step, None, status, now) for step in taken]
    return (*rows, *(_row(number + i, {}, share, status, now) for i, share in enumerate(ahead, 1)))


def _row(
    number: int, step: Mapping[str, Any], planned: Fraction | None, status: Mapping[str, Any], now: datetime
) -> StepRow:
    entered, left = read.moment(step.get("enteredAt")), read.moment(step.get("leftAt"))
    acknowledged = read.moment(step.get("acknowledgedAt"))
    stopped = left or read.moment(status.get("finishedAt")) or now
    return StepRow(
        number=number,
        share=share_view("target", read.share(step.get("share")) if step else planned),
        mark=_mark(number, step, status),
        shares=three_shares(step),
        entered=words.clock(entered) if entered else "",
        took=words.duration(stopped - entered) if entered else "",
        acknowledged_after=_acknowledged_after(entered, acknowledged),
        stable=version_counts(read.section(step, "stable")),
        canary=version_counts(read.section(step, "canary")),
        decision=read.text(step, "decision"),
        sentence=read.text(step, "sentence"),
        told=_told(step),
    )


def _told(step: Mapping[str, Any]) -> str:
    """Example: "roll back: v2 fails more often than v1"."""
    decision, sentence = read.text(step, "decision").replace("_", " "), read.text(step, "sentence")
    return f"{decision}: {sentence}" if decision and sentence else sentence or decision


def _acknowledged_after(entered: datetime | None, acknowledged: datetime | None) -> str:
    if entered is None or acknowledged is None:
        return ""
    return words.milliseconds(max(0.0, (acknowledged - entered).total_seconds() * 1000))


def _mark(number: int, step: Mapping[str, Any], status: Mapping[str, Any]) -> StepMark:
    phase = read.text(status, "phase")
    if not step:
        return StepMark.STOPPED if phase in ROLLED_BACK else StepMark.AHEAD
    if (mark := MARK_OF_DECISION.get(read.text(step, "decision"))) is not None:
        return mark
    if phase == "Promoted":
        return StepMark.DONE
    if phase in ROLLED_BACK:
        return (
            StepMark.FAILED
            if number == max(read.whole(s, "step") for s in read.rows(status, "steps"))
            else StepMark.DONE
        )
    return StepMark.CURRENT if number == read.whole(status, "step") else StepMark.DONE
