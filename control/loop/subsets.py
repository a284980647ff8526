"""Are the versions there to be given weight? Before the first weight, and only where the shift asks for it, subsets
that no DestinationRule declares are added.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from control.engine.decision import Cause, Decision
from control.engine.journal import noted
from control.engine.observation import Observation
from control.engine.phase import Phase
from control.engine.state import ShiftState
from control.errors import TidegateError
from control.loop.observe import words
from control.loop.ports import Ports
from control.ports import AddedSubsets
from control.spec import Mode, TrafficShift


@dataclass(frozen=True, slots=True)
class Subsets:
    """What came of it: what was added, or why it could not be."""

    added: AddedSubsets | None = None
    trouble: str = ""

    def told(self, shift: TrafficShift, state: ShiftState, now: datetime) -> ShiftState:
        """The state with its entry in the journal."""
        if self.added is None:
            return state
        facts = {"rule": self.added.rule, "subsets": " and ".join(self.added.names)}
        return noted(state, Decision(Cause.SUBSETS_ADDED, facts=facts), now, name=shift.name)

    def shown(self, seen: Observation) -> Observation:
        """The observation, which says why there is nothing behind the canary."""
        return replace(seen, endpoints_message=f"({self.trouble})") if self.trouble else seen


async def declared(ports: Ports, shift: TrafficShift, state: ShiftState) -> Subsets:
    """Adds what is missing. Idempotent: taken again, it finds nothing to add."""
    begins = state.phase is Phase.PENDING and shift.mode is Mode.CONTROL and not shift.hands_off
    if not shift.manage_subsets or not begins or state.deleting:
        return Subsets()
    subject = state.subject
    try:
        names = (subject.stable, subject.canary)
        return Subsets(await ports.documents.add_subsets(shift.namespace, subject.host, names))
    except TidegateError as error:
        return Subsets(trouble=words(error))
