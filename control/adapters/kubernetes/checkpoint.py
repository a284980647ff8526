"""What of a shift stands in its object's status, and when must it be written? Pure.

A tick changes the state at every look: cursors move, tallies grow. Written each time, five hundred shifts would cost
the API server a hundred writes a second. So what was *decided* is written at once, before it is acted on; what was only
*counted* is written with it, and at the latest after `EVERY`. A controller that takes over goes on from there: the
counters of the proxies are cumulative, so that the gap is one larger increment, counted once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from control.adapters.kubernetes.api import Json
from control.engine.state import ShiftState

EVERY = timedelta(seconds=30)
HISTORY_KEPT = 50
COUNTED = frozenset(
    {"cursor", "watched", "tide", "sums", "flow", "window", "seen", "steps", "breaches", "outbox", "decision", "guard"}
)
"""Fields of the state that grow with each look. A decision's numbers do too; its cause is what counts."""
DECIDED = tuple(each.name for each in fields(ShiftState) if each.name not in COUNTED)
PATH = "/status"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was written last: its number, the state in it, and when. Number 0: nothing yet."""

    number: int = 0
    state: ShiftState | None = None
    at: datetime | None = None


def is_due(last: Checkpoint, state: ShiftState, now: datetime) -> bool:
    """Must the state be written now?"""
    if last.at is None or last.state is None:
        return True
    return decided(last.state) != decided(state) or abs(now - last.at) >= EVERY


def decided(state: ShiftState) -> tuple[Any, ...]:
    """The state without what is only counted."""
    decision = (state.decision.cause, state.decision.event, state.guard is not None)
    return (*decision, *(getattr(state, name) for name in DECIDED))


def patch(last: Checkpoint, resource_version: str, status: Json, *, exists: bool) -> list[Json]:
    """The JSON Patch that writes a status if nobody else has since the last checkpoint."""
    guard = (
        {"op": "test", "path": f"{PATH}/checkpoint", "value": last.number}
        if last.number
        else {"op": "test", "path": "/metadata/resourceVersion", "value": resource_version}
    )
    return [guard, {"op": "replace" if exists else "add", "path": PATH, "value": status}]


def printed(status: Mapping[str, Any]) -> Json:
    """The columns that `kubectl get` shows, in a person's words."""
    share = status.get("share") or {}
    observed = share.get("observedRatio")
    return {
        "configured": percent(share.get("configured")),
        "acknowledged": percent(share.get("acknowledged")),
        "observed": "" if observed is None else f"{100 * observed:.3g} %",
    }


def percent(share: str | None) -> str:
    """Example: 1/20 is "5 %"."""
    return "" if share is None else f"{float(100 * Fraction(share)):g} %"


def kept(history: Sequence[Json], entries: Sequence[Mapping[str, Any]]) -> list[Json]:
    """The newest of both, each once."""
    fresh = [dict(each) for each in entries if each not in history]
    return [*history, *fresh][-HISTORY_KEPT:]
