"""When is it settled what a run compares? While it has not begun; from then on nothing of it changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from control.engine.budget import raised
from control.engine.evidence import Prior
from control.engine.phase import FINISHED, Phase
from control.engine.readings import Reading
from control.engine.state import ShiftState
from control.engine.terms import informed, watched_of
from control.spec import TrafficShift

LEDGER = "ledger"
"""Among what is not watched: why earlier shifts say nothing."""


def unsettled(state: ShiftState) -> bool:
    """Is it still open what this run compares? So it is for one that an older version began, which compared less."""
    open_still = state.phase is Phase.PENDING or state.watched is None
    return open_still and state.phase not in FINISHED and state.phase is not Phase.ROLLING_BACK


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier shifts say, by name of test or metric; or why they say nothing."""

    priors: Mapping[str, Prior] = field(default_factory=dict)
    trouble: str = ""


def settled(shift: TrafficShift, state: ShiftState, reading: Reading, retries: int, past: Past) -> ShiftState:
    """The state with what would be compared if the run began now; earlier shifts are asked once.

    Units: `retries` is what the routes allow a request.
    """
    if not unsettled(state):
        return state
    before = state.watched
    watched = watched_of(shift, reading, retries=retries, per_s=state.flow.per_s, before=before)
    if before is None:
        watched = informed(watched, past.priors)
    watched = raised(shift, watched, state.flow.failing, state.flow.per_s)
    told = past.trouble if before is None else before.unwatched.get(LEDGER, "")
    return replace(state, watched=replace(watched, unwatched=watched.unwatched | ({LEDGER: told} if told else {})))
