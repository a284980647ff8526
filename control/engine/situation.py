"""What may a rule look at? One moment of one shift, and the decisions that several rules share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from control.engine.decision import Cause, Decision
from control.engine.judge import Judged
from control.engine.observation import Observation
from control.engine.phase import Phase
from control.engine.state import ShiftState
from control.spec import Mode, TrafficShift

RUNNING = frozenset({Phase.PROGRESSING, Phase.PROMOTING, Phase.PAUSED, Phase.CONFLICT})


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a rule may look at. `judged` is what the evidence says."""

    shift: TrafficShift
    state: ShiftState
    seen: Observation
    judged: Judged
    now: datetime

    @property
    def observes(self) -> bool:
        """Does the shift only look on? Then nobody's weights are ours, and nothing is ever written."""
        return self.state.subject.mode is Mode.OBSERVE

    @property
    def hands_off(self) -> bool:
        return not self.observes and (self.shift.hands_off or self.seen.hands_off)

    @property
    def exposed(self) -> bool:
        """Does the canary have traffic that a run of ours gave it, be it on its way back?"""
        return bool(self.state.share) and (self.state.phase in RUNNING or self.state.phase is Phase.ROLLING_BACK)


Rule = Callable[[Situation], Decision | None]


def back(at: Situation, decision: Decision) -> Decision:
    """A dead stable can't take the traffic back, unless the canary is just as dead."""
    if at.seen.stable_endpoints == 0 and at.seen.canary_endpoints != 0:
        return Decision(Cause.STABLE_GONE, facts=decision.facts)
    return decision
