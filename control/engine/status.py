"""What does a shift's status say? The JSON that every tool reads, a pure function of spec, state and now."""

from datetime import datetime
from fractions import Fraction
from typing import Any

from control.engine.codec import time_text
from control.engine.decision import Cause, Decision
from control.engine.explain import next_command, sentence, waiting_for
from control.engine.phase import FINISHED, Event, Phase
from control.engine.plan import shares_ahead
from control.engine.readings import Tally
from control.engine.silence import stands_still
from control.engine.state import RouteSeen, ShiftState, Step, subject_of
from control.engine.status_evidence import evidence_status
from control.spec import TrafficShift

_ENDED = FINISHED | {Phase.ROLLING_BACK, Phase.FAILED}
_DECIDED = {
    Event.ADVANCE: "advance",
    Event.FILL: "advance",
    Event.FINISH: "promote",
    Event.ROLL_BACK: "roll_back",
}
_SHOWN_AS_CONDITIONS = {
    Cause.REJECTED: "Rejected",
    Cause.FOREIGN_CHANGE: "ForeignChange",
    Cause.HANDS_OFF: "HandsOff",
    Cause.CONFLICT: "Conflict",
    Cause.ROUTE_MISSING: "RouteMissing",
    Cause.DESTINATION_MISSING: "DestinationMissing",
    Cause.WEIGHT_REFUSED: "WeightRefused",
    Cause.ROUTE_UNREADABLE: "RouteUnreadable",
    Cause.METRICS_UNAVAILABLE: "MetricsUnavailable",
    Cause.ENDPOINTS_UNKNOWN: "EndpointsUnknown",
    Cause.STABLE_GONE: "StableGone",
    Cause.OVERDUE: "DeadlinePassed",
    Cause.PARKED: "Parked",
    Cause.BUDGET_TOO_SMALL: "BudgetTooSmall",
    Cause.VERSION_UNSEEN: "VersionUnseen",
    Cause.ROUTING_MISMATCH: "RoutingMismatch",
    Cause.STABLE_OUTAGE: "StableOutage",
    Cause.POD_SUSPECT: "PodSuspect",
    Cause.CAPPED: "Capped",
    Cause.GAUGE_OUT: "GaugeOut",
}


def status(shift: TrafficShift, state: ShiftState, now: datetime) -> dict[str, Any]:
    """The status as JSON. `subject` are the versions that everything else was measured for: an edited spec may name
    others already. Shares are exact fractions as text, ratios floats, times RFC 3339 in UTC."""
    decision = state.decision
    return {
        "observedGeneration": state.generation,
        "run": state.run,
        "subject": {"stable": state.subject.stable, "canary": state.subject.canary},
        "mode": state.subject.mode.value,
        "phase": state.phase.value,
        "outcome": state.outcome.cause.value if state.outcome is not None and state.phase in _ENDED else None,
        "step": state.step,
        "totalSteps": state.step
        + len(shares_ahead(shift.strategy, state.steps[-1].share if state.steps else Fraction(0))),
        "stepShare": str(state.share),
        "share": _shares(shift, state),
        "verdict": state.seen.verdict.value,
        "reason": sentence(_why(state), state, shift.name),
        "waitingFor": "" if state.phase in FINISHED else waiting_for(decision, state, shift.name),
        "waitingSince": _time(None if state.phase in FINISHED else state.caused_at),
        "waitingUntil": _time(decision.until if decision.until and decision.until > now else None),
        "nextCommand": _command(state, shift.name),
        "startedAt": _time(state.started_at),
        "stepEnteredAt": _time(state.steps[-1].entered_at if state.steps else None),
        "finishedAt": _time(state.finished_at),
        "firstBadAt": _time(state.first_bad_at),
        "parked": _parked(state),
        **evidence_status(shift, state, now),
        "steps": [_step(step, shift, state) for step in state.steps],
        "proxies": [_proxies(route) for route in state.seen.routes],
        "canaryEndpoints": state.seen.canary_endpoints,
        "stableEndpoints": state.seen.stable_endpoints,
        "conditions": [*_conditions(state, shift.name), *_spec_waits(shift, state), *_unusable(state)],
    }


def _why(state: ShiftState) -> Decision:
    """What brought the shift where it is: for one that has ended, what ended it."""
    return state.outcome if state.outcome is not None and state.phase in _ENDED else state.decision


def _command(state: ShiftState, name: str) -> str:
    match state.phase:
        case Phase.ROLLED_BACK:
            return f"tidegate retry {name}"
        case Phase.PROMOTED | Phase.ROLLING_BACK:
            return f"tidegate history {name}"
        case _:
            return next_command(state.decision, name)


def _shares(shift: TrafficShift, state: ShiftState) -> dict[str, Any]:
    configured = {route.configured for route in state.seen.routes}
    agreed = next(iter(configured)) if len(configured) == 1 else None
    in_force = all(route.in_force for route in state.seen.routes)
    return {
        "configured": _fraction(agreed),
        "acknowledged": _fraction(agreed if in_force else None),
        "observedRatio": None if stands_still(shift, state) else state.window.observed(state.share),
    }


def _fraction(share: Fraction | None) -> str | None:
    return None if share is None else str(share)


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def _parked(state: ShiftState) -> dict[str, Any] | None:
    """Since when it waits without weight, and the weight that it goes on with; None when it does not."""
    if state.phase is not Phase.PARKED or state.intent is None:
        return None
    return {"since": time_text(state.intent.at), "share": str(state.steps[-1].share) if state.steps else None}


def _step(step: Step, shift: TrafficShift, state: ShiftState) -> dict[str, Any]:
    running = step.left_at is None and state.phase not in _ENDED
    shares = _shares(shift, state) if running else _shares_of(step)
    return {
        "step": step.step,
        "share": str(step.share),
        "enteredAt": _time(step.entered_at),
        "acknowledgedAt": _time(step.acknowledged_at),
        "leftAt": _time(step.left_at),
        "canary": _tally(step.canary),
        "stable": _tally(step.stable),
        "decision": _decided(step),
        "sentence": sentence(step.left or state.decision, state, shift.name),
    } | shares


def _shares_of(step: Step) -> dict[str, Any]:
    """A step that is over: what it had when it was left."""
    acknowledged = str(step.share) if step.acknowledged_at else None
    return {
        "configured": str(step.share),
        "acknowledged": acknowledged,
        "observedRatio": step.window.observed(step.share),
    }


def _decided(step: Step) -> str:
    if step.left is None:
        return ""
    return _DECIDED.get(step.left.event, "hold") if step.left.event else "hold"


def _tally(tally: Tally) -> dict[str, int]:
    answered = {"requests": tally.requests, "failures": tally.failures, "retries": tally.retries}
    return answered | {"abandoned": tally.abandoned}


def _proxies(route: RouteSeen) -> dict[str, Any]:
    return {
        "route": route.route,
        "revision": route.revision,
        "configured": _fraction(route.configured),
        "holders": list(route.holders),
        "acknowledged": list(route.acknowledged),
        "rejections": [{"proxy": proxy, "message": message} for proxy, message in route.rejections],
    }


def _conditions(state: ShiftState, name: str) -> list[dict[str, str]]:
    kind = _SHOWN_AS_CONDITIONS.get(state.decision.cause)
    if kind is None:
        return []
    message = sentence(state.decision, state, name)
    return [{"type": kind, "status": "True", "reason": state.decision.cause.value, "message": message}]


def _spec_waits(shift: TrafficShift, state: ShiftState) -> list[dict[str, str]]:
    """A spec that asks for something else than the run that is still under way."""
    wanted, runs = subject_of(shift), state.subject
    told = _why(state).cause is Cause.SUPERSEDED or state.phase in FINISHED or state.phase is Phase.PENDING
    if wanted == runs or told:
        return []
    same = (wanted.stable, wanted.canary) == (runs.stable, runs.canary)
    asks = "names another target" if same else f"asks for {wanted.stable} to {wanted.canary}"
    message = f"the spec {asks} now, which begins once this run from {runs.stable} to {runs.canary} is over"
    return [{"type": "SpecWaits", "status": "True", "reason": Cause.SPEC_CHANGED.value, "message": message}]


def _unusable(state: ShiftState) -> list[dict[str, str]]:
    """What the last look brought that can't be counts. It is left out, and caught up once it makes sense again."""
    if not state.cursor.troubles:
        return []
    message = f"not learned from: {'; '.join(state.cursor.troubles)}"
    return [{"type": "CountsUnusable", "status": "True", "reason": Cause.METRICS_UNAVAILABLE.value, "message": message}]
