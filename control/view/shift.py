"""What does one shift look like right now? `shift_view`, a pure function of (document, journal's tail, now)."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from control.view import format as words
from control.view import read
from control.view.metrics import TONE_OF_VERDICT, metric_row, title_of
from control.view.model import HistoryRow, Meter, ProxyRow, ShareView, ShiftView, Tone, Waiting
from control.view.steps import share_view, step_rows, three_shares

TONE_OF_PHASE = {
    "Pending": Tone.WAITING,
    "Progressing": Tone.BUSY,
    "Paused": Tone.WARN,
    "Parked": Tone.WARN,
    "Promoting": Tone.BUSY,
    "Promoted": Tone.GOOD,
    "RollingBack": Tone.BAD,
    "RolledBack": Tone.BAD,
    "Suspended": Tone.WARN,
    "Conflict": Tone.BAD,
    "Failed": Tone.BAD,
}
HEADLINE_OF_PHASE = {
    "Pending": "has not begun",
    "Progressing": "{canary} takes {share}, {step}",
    "Paused": "{canary} stays at {share}, {step}",
    "Parked": "{canary} is parked at {share}, {step}",
    "Promoting": "{canary} is being given all traffic",
    "Promoted": "{canary} has all traffic",
    "RollingBack": "all traffic is going back to {stable}",
    "RolledBack": "{stable} has all traffic again",
    "Suspended": "{canary} stays at {share}",
    "Conflict": "{canary} is at {share}",
    "Failed": "{canary} stays at {share}",
}
ON_THE_WAY = "{canary} goes from {share} to {target}, {step}"
BAKING = "{canary} bakes at {share}, {step}"
OBSERVING = "observes: {canary} would be at {target}, {step}"
OBSERVED = "observed to its end: {canary} at {target}"
FINISHED = frozenset({"Promoted", "RolledBack"})
SPARK_CELLS = 40
NOTHING = timedelta(0)


def shift_view(document: Mapping[str, Any], journal: Sequence[Mapping[str, Any]], now: datetime) -> ShiftView:
    """Everything that a screen shows of one shift."""
    spec, status = (read.section(document, key) for key in ("spec", "status"))
    phase = read.text(status, "phase") or "Pending"
    started, finished = (read.moment(status.get(key)) for key in ("startedAt", "finishedAt"))
    steps = step_rows(spec, status, now)
    observes = read.text(status, "mode") == "observe"
    by_evidence = read.text(read.section(spec, "strategy"), "kind") != "steps"
    step, total_steps, step_text = _step(status, planned=len(steps), by_evidence=by_evidence)
    stable, canary = _versions(spec, read.section(status, "subject"))
    verdict = read.text(status, "verdict") or "no data"
    return ShiftView(
        **_named(document),
        stable=stable,
        canary=canary,
        by_evidence=by_evidence,
        observes=observes,
        phase=phase,
        tone=TONE_OF_PHASE.get(phase, Tone.IDLE),
        headline=headline(status, stable=stable, canary=canary, step=step_text),
        finished=phase in FINISHED,
        step=step,
        total_steps=total_steps,
        step_text=step_text,
        shares=_shares(status, observes=observes),
        verdict=verdict,
        verdict_tone=TONE_OF_VERDICT.get(verdict, Tone.IDLE),
        reason=read.text(status, "reason"),
        waiting=waiting(status, now),
        next_command=read.text(status, "nextCommand"),
        endpoints=_endpoints(status, stable=stable, canary=canary),
        **_evidence(status, now),
        steps=steps,
        proxies=tuple(proxy_row(row) for row in read.rows(status, "proxies")),
        conditions=_conditions(status),
        history=history_rows(journal, now),
        share_over_time=share_over_time(journal, started, finished or now),
        started=words.relative(started, now) if started else "not yet",
        took=words.duration((finished or now) - started) if started else "",
    )


def _named(document: Mapping[str, Any]) -> dict[str, Any]:
    """Which shift it is, and which run."""
    meta, target = read.section(document, "metadata"), read.section(read.section(document, "spec"), "target")
    return {
        "namespace": read.text(meta, "namespace") or "default",
        "name": read.text(meta, "name"),
        "host": read.text(target, "host"),
        "run": read.whole(read.section(document, "status"), "run"),
    }


def _evidence(status: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """What was compared, and what that allows."""
    return {
        "metrics": tuple(metric_row(row) for row in read.rows(status, "evidence")),
        "unwatched": _unwatched(read.section(status, "unwatched")),
        "budget": budget(read.section(status, "budget")),
        "upper": upper(status),
        "bake": bake(read.section(status, "bake"), now),
        "guard": guard(read.section(status, "guard"), now),
    }


def _versions(spec: Mapping[str, Any], subject: Mapping[str, Any]) -> tuple[str, str]:
    """Stable and canary that the status speaks of; those of the spec before there is one."""
    stable, canary = (read.text(subject, key) or read.text(spec, key) for key in ("stable", "canary"))
    return stable, canary


def _step(status: Mapping[str, Any], *, planned: int, by_evidence: bool) -> tuple[int, int, str]:
    """The step, how many there are, and both in words. Where evidence picks the shares, some may be left out."""
    step, total = read.whole(status, "step"), read.whole(status, "totalSteps") or planned
    most = "at most " if by_evidence and step < total else ""
    return step, total, f"step {step} of {most}{total}" if step else "before the first step"


def _shares(status: Mapping[str, Any], *, observes: bool) -> tuple[ShareView, ...]:
    """The three weights, and what the canary would have where nothing is written."""
    would = (share_view("would be", read.share(status.get("stepShare"))),) if observes else ()
    return (*three_shares(read.section(status, "share")), *would)


def _unwatched(found: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(f"{title_of(name, name)}: {why}" for name, why in sorted(found.items()))


def budget(found: Mapping[str, Any]) -> Meter | None:
    """Example: "12.3 of 50 failures spent, 37.7 left"."""
    limit, spent, left = (read.ratio(found, key) for key in ("limit", "spent", "left"))
    if not limit or spent is None or left is None:
        return None
    of, used, rest = (words.amount(each) for each in (limit, spent, left))
    return Meter(min(spent / limit, 1.0), f"{used} of {of} failures spent, {rest} left")


def upper(status: Mapping[str, Any]) -> str:
    """Example: "1.2 %"; empty while nothing is known."""
    bound = read.ratio(status, "upperBound")
    return words.percent(bound) if bound is not None and bound < 1 else ""


def bake(found: Mapping[str, Any], now: datetime) -> Meter | None:
    """Example: "4 min 10 s of 10 min 00 s at 20 %"; None where there is no bake, or it has not come to it."""
    whole, lasted = read.span(found.get("for")), read.ratio(found, "lastedSeconds") or 0.0
    since = read.moment(found.get("since"))
    if not whole or (since is None and not lasted):
        return None
    so_far = max(read.seconds(lasted), now - since if since is not None else NOTHING)
    at = words.percent(read.share(found.get("at")))
    return Meter(min(so_far / whole, 1.0), f"{words.duration(min(so_far, whole))} of {words.duration(whole)} at {at}")


def guard(found: Mapping[str, Any], now: datetime) -> str:
    """Example: "3 of 1,204 failed at 100 %, 0.5 % may; no evidence of harm; for another 4 min 10 s"."""
    until = read.moment(found.get("until"))
    left = f"for another {words.duration(until - now)}" if until is not None and until > now else ""
    return "; ".join(part for part in (read.text(found, "sentence"), left) if part)


def headline(status: Mapping[str, Any], *, stable: str, canary: str, step: str) -> str:
    """Where the shift is, in a few words. Example: "v2 takes 5 %, step 2 of 5"."""
    target = read.share(status.get("stepShare"))
    configured = read.share(read.section(status, "share").get("configured"))
    shares = {"share": words.percent(configured), "target": words.percent(target)}
    return _headline(status, target, configured).format(stable=stable, canary=canary, step=step, **shares)


def _headline(status: Mapping[str, Any], target: Fraction | None, configured: Fraction | None) -> str:
    phase = read.text(status, "phase") or "Pending"
    if read.text(status, "mode") == "observe" and phase != "Pending":
        return OBSERVED if phase in FINISHED else OBSERVING
    if phase == "Progressing" and None not in (target, configured) and target != configured:
        return ON_THE_WAY
    if phase == "Progressing" and read.section(status, "bake").get("since"):
        return BAKING
    return HEADLINE_OF_PHASE.get(phase, "{canary} is at {share}, {step}")


def waiting(status: Mapping[str, Any], now: datetime) -> Waiting:
    """What must happen next; "7 s left", or how long it has waited where no end is known."""
    sentence, until = read.text(status, "waitingFor"), read.moment(status.get("waitingUntil"))
    if not sentence and until is None:
        return Waiting("", None, "")
    if until is not None:
        return Waiting(sentence, until, f"{words.duration(until - now)} left" if until > now else "due now")
    since = read.moment(status.get("waitingSince"))
    return Waiting(sentence, None, f"{words.duration(now - since)} so far" if since else "")


def _endpoints(status: Mapping[str, Any], *, stable: str, canary: str) -> str:
    """Example: "v1 has 1 ready endpoint, v2 has 2 ready endpoints"; empty when nobody knows."""
    known = [(stable, status.get("stableEndpoints")), (canary, status.get("canaryEndpoints"))]
    return ", ".join(f"{v} has {words.plural(n, 'ready endpoint')}" for v, n in known if isinstance(n, int))


def proxy_row(row: Mapping[str, Any]) -> ProxyRow:
    """Example: "6 of 6 proxies run the newest weights"."""
    holders, acknowledged = (read.texts(row, key) for key in ("holders", "acknowledged"))
    late = tuple(sorted(set(holders) - set(acknowledged)))
    running = len(holders) - len(late)
    return ProxyRow(
        route=read.text(row, "route"),
        text=f"{running} of {words.plural(len(holders), 'proxy', 'proxies')} run the newest weights",
        late=late,
        rejections=tuple(f"{read.text(r, 'proxy')}: {read.text(r, 'message')}" for r in read.rows(row, "rejections")),
    )


def untold_refusals(view: ShiftView) -> tuple[str, ...]:
    """What proxies refused, as "proxy: message", without the one that is the reason already."""
    rejections = (rejection for row in view.proxies for rejection in row.rejections)
    return tuple(each for each in rejections if not _is_told(each, view.reason))


def _is_told(rejection: str, reason: str) -> bool:
    proxy, _, message = rejection.partition(": ")
    return proxy in reason.split() and message in reason


def _conditions(status: Mapping[str, Any]) -> tuple[str, ...]:
    """Conditions that say more than the reason does, and than what is waited for."""
    told = (read.text(status, "reason"), read.text(status, "waitingFor"))
    rows = read.rows(status, "conditions")
    return tuple(_condition(row) for row in rows if not _is_said(read.text(row, "message"), told))


def _is_said(message: str, told: tuple[str, ...]) -> bool:
    return bool(message) and any(message in text for text in told)


def _condition(row: Mapping[str, Any]) -> str:
    kind, message = read.text(row, "type"), read.text(row, "message") or read.text(row, "sentence")
    return f"{kind}: {message}" if kind and message else kind or message


def history_rows(journal: Sequence[Mapping[str, Any]], now: datetime) -> tuple[HistoryRow, ...]:
    """The journal in its own order, oldest first."""
    return tuple(_history_row(entry, now) for entry in journal)


def _history_row(entry: Mapping[str, Any], now: datetime) -> HistoryRow:
    at = read.moment(entry.get("at"))
    share = read.share(entry.get("share"))
    return HistoryRow(
        at=at,
        clock=words.clock(at),
        ago=words.relative(at, now),
        reason=read.text(entry, "reason"),
        step=read.whole(entry, "step"),
        share="" if share is None else words.percent(share),
        actor=read.text(entry, "actor"),
        sentence=read.text(entry, "sentence"),
    )


def share_over_time(
    journal: Sequence[Mapping[str, Any]], started: datetime | None, until: datetime
) -> tuple[float, ...]:
    """The canary's share at `SPARK_CELLS` equally spaced moments of the run, as the journal tells it."""
    if started is None or until <= started:
        return ()
    known = [(read.moment(entry.get("at")), read.share(entry.get("share"))) for entry in journal]
    points = sorted((at, float(share)) for at, share in known if at is not None and share is not None and at >= started)
    pace = (until - started) / SPARK_CELLS
    return tuple(_share_at(points, started + pace * (i + 1)) for i in range(SPARK_CELLS))


def _share_at(points: Sequence[tuple[datetime, float]], moment: datetime) -> float:
    return next((share for at, share in reversed(points) if at <= moment), 0.0)
