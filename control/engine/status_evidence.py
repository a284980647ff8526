"""What does a status say of the evidence? A row a test, the budget, the bake, the guard: numbers and sentences.

Units: rates and shares 0 to 1, odds as x of "x : 1" (at most 10^9), budgets in failed requests.
"""

import math
from datetime import datetime, timedelta
from typing import Any

from control.engine.codec import time_text
from control.engine.compared import Comparison, Counted, Difference, differences
from control.engine.evidence import Margin
from control.engine.explain import MOST_SHOWN, compared, odds, rate_percent
from control.engine.gauges import gauges
from control.engine.guarding import log_guard
from control.engine.judge import Judged, weighed
from control.engine.observation import Observation
from control.engine.phase import Phase, Verdict
from control.engine.state import GaugeSeen, ShiftState
from control.engine.terms import terms_of
from control.spec import EvidenceStrategy, TrafficShift
from control.spec.quantity import duration_text

UNASKED = Observation(datetime.min, ())  # noqa: DTZ901 (never compared)


def evidence_status(shift: TrafficShift, state: ShiftState, now: datetime) -> dict[str, Any]:
    judged = weighed(shift, state, UNASKED, now)
    begun = state.watched is not None and state.step > 0
    return {
        "evidence": [*_rows(shift, state, judged), *_gauges(shift, state)],
        "unwatched": dict(state.watched.unwatched) if state.watched is not None else {},
        "harm": _odds(judged.log_total) if begun else None,
        "upperBound": judged.upper if begun else None,
        "budget": _budget(judged) if state.watched is not None else None,
        "bake": _bake(shift, state, now),
        "guard": _guard(shift, state),
    }


def _rows(shift: TrafficShift, state: ShiftState, judged: Judged) -> list[dict[str, Any]]:
    if state.watched is None or not judged.rows:
        return []
    found = differences(terms_of(shift, state.watched), state.sums)
    return [_row(row, each, state) for row, each in zip(judged.rows, found, strict=True)]


def _row(row: Comparison, difference: Difference | None, state: ShiftState) -> dict[str, Any]:
    return {
        "metric": row.metric,
        "test": row.test,
        "verdict": state.seen.verdicts.get(row.test, Verdict.NO_DATA).value,
        "harm": _odds(row.log_harm),
        "proof": _odds(row.log_proof),
        "tolerated": _margin(row.tolerated),
        "proven": _margin(row.proven),
        "sentence": compared(row, row.log_harm),
        "canary": _side(row.canary),
        "stable": _side(row.stable),
        "phi": row.phi,
        "difference": _difference(difference),
    }


def _odds(log: float) -> float:
    return round(min(math.exp(min(log, 700.0)), MOST_SHOWN), 4)


def _margin(margin: Margin) -> dict[str, float]:
    return {"ratio": margin.ratio, "extra": margin.extra}


def _side(side: Counted) -> dict[str, Any]:
    return {"requests": side.requests, "bad": side.bad, "rate": side.rate}


def _difference(found: Difference | None) -> dict[str, float] | None:
    return None if found is None else {"estimate": found.estimate, "low": found.low, "high": found.high}


def _gauges(shift: TrafficShift, state: ShiftState) -> list[dict[str, Any]]:
    """People's gauges: a value and a range instead of counts."""
    seen = {each.name: each for each in state.seen.gauges}
    found = ((seen[name], name, query.low, query.high) for name, query in gauges(shift) if name in seen)
    return [
        {
            "metric": name,
            "test": name,
            "verdict": state.seen.verdicts.get(name, Verdict.NO_DATA).value,
            "low": low,
            "high": high,
            "sentence": _of_gauge(gauge),
            "canary": {"value": gauge.canary},
            "stable": {"value": gauge.stable},
        }
        for gauge, name, low, high in found
    ]


def _of_gauge(gauge: GaugeSeen) -> str:
    """Example: "canary 12.5, stable 11"."""
    canary, stable = ("unknown" if each is None else f"{each:g}" for each in (gauge.canary, gauge.stable))
    return f"canary {canary}, stable {stable}"


def _budget(judged: Judged) -> dict[str, float]:
    spent = max(judged.excess, 0.0)
    return {"limit": judged.budget, "spent": spent, "left": max(judged.budget - spent, 0.0)}


def _bake(shift: TrafficShift, state: ShiftState, now: datetime) -> dict[str, Any] | None:
    """The bake that is planned or under way; None where there is none."""
    strategy = shift.strategy
    if not isinstance(strategy, EvidenceStrategy) or not strategy.bake_for:
        return None
    since = until = None
    if state.bake is not None and state.bake.since is not None:
        since = state.bake.since - timedelta(seconds=state.bake.before_s)
        until = since + strategy.bake_for
    return {
        "for": duration_text(strategy.bake_for),
        "at": str(strategy.bake_at),
        "since": time_text(since) if since else None,
        "until": time_text(until) if until else None,
        "lastedSeconds": state.bake.lasted_s(now) if state.bake is not None else 0.0,
    }


def _guard(shift: TrafficShift, state: ShiftState) -> dict[str, Any] | None:
    """What is watched at 100 % and for a while after; None before, and when that is over."""
    guard = state.guard
    if guard is None:
        return None
    log = log_guard(guard)
    promoted = state.phase is Phase.PROMOTED and state.finished_at is not None
    until = state.finished_at + shift.rollback_window if promoted and state.finished_at is not None else None
    part = f"{guard.bad:,} of {guard.requests:,} failed at 100 %, {rate_percent(guard.limit)} may"
    return {
        "limit": guard.limit,
        "requests": guard.requests,
        "bad": guard.bad,
        "harm": _odds(log),
        "until": time_text(until) if until else None,
        "sentence": f"{part}; {odds(log)}",
    }
