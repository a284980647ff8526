"""What does the evidence say about the canary now? One of five verdicts, of which only *fail* acts."""

import math

from control.engine.counting import HOLD_AT, ROLLBACK_AT, Evidence
from control.engine.observation import Observation
from control.engine.phase import Verdict
from control.engine.state import ShiftState

LOG_ROLLBACK = math.log(ROLLBACK_AT)
LOG_HOLD = math.log(HOLD_AT)


def judge(state: ShiftState, seen: Observation, min_requests: int) -> Verdict:
    """Harm that was proven stays proven. Short of that, what can't be read or did not move is no verdict on the
    canary.
    """
    if harmful(state.evidence):
        return Verdict.FAIL
    if not seen.readable:
        return Verdict.UNAVAILABLE
    if not seen.answered or not state.window.canary:
        return Verdict.NO_DATA
    if not _enough(state, min_requests) or suspected(state.evidence):
        return Verdict.INSUFFICIENT
    return Verdict.PASS


def _enough(state: ShiftState, min_requests: int) -> bool:
    compared = state.window.stable > 0 or state.share == 1
    return compared and state.window.canary >= min_requests


def harmful(evidence: Evidence | None) -> bool:
    return evidence is not None and evidence.log_merged >= LOG_ROLLBACK


def suspected(evidence: Evidence | None) -> bool:
    """Too much for an advance, too little for a rollback."""
    return evidence is not None and evidence.log_merged >= LOG_HOLD
