"""Has the traffic stopped in the middle of a shift? How long was no request of a version counted?

Long is three polls, 15 s, or four times what usually passed at this weight between two looks that had any: a source
that counts each 30 s, or a canary with a request a minute, is not silent in between.

Example: polled each 5 s, requests in every look: silent from 20 s on. A request a minute: from 4 min on.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from control.engine.phase import FINISHED
from control.engine.state import Heard, ShiftState
from control.spec import TrafficShift

POLLS = 3
SHORTEST = timedelta(seconds=15)
GAPS = 4
NONE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Silence:
    """The versions without a request, and for how long each has had none at least."""

    versions: tuple[str, ...]
    length: timedelta


def silent(shift: TrafficShift, state: ShiftState) -> Silence | None:
    """Which versions should have requests at this weight, and have had none for long? None: each that should has."""
    if not state.share or state.phase in FINISHED:
        return None
    known = {state.subject.stable: state.window.heard_stable} if state.share != 1 else {}
    found = {name: _silence(shift, state, each) for name, each in known.items()}
    found[state.subject.canary] = _silence(shift, state, state.window.heard_canary)
    lengths = {name: length for name, length in found.items() if length}
    return Silence(tuple(lengths), min(lengths.values())) if lengths else None


def stands_still(shift: TrafficShift, state: ShiftState) -> bool:
    """Was no request of either version counted for long? What was observed before is not so any more."""
    both = (state.window.heard_canary, state.window.heard_stable)
    return bool(state.share) and all(_silence(shift, state, each) for each in both)


def _silence(shift: TrafficShift, state: ShiftState, heard: Heard) -> timedelta:
    """Up to the last look, since nobody knows of what came after it; zero where it is not long."""
    began, now = state.acknowledged_at, state.cursor.at
    if began is None or now is None:
        return NONE
    length = now - max(heard.at or began, began)
    return length if length >= _long(shift, heard, began) else NONE


def _long(shift: TrafficShift, heard: Heard, began: datetime) -> timedelta:
    usual = (heard.at - began) / heard.looks if heard.at is not None and heard.looks else NONE
    return max(POLLS * shift.poll, SHORTEST, GAPS * usual)
