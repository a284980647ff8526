"""What came of a run, from what the controller's state says? In the words of the vectorised mode."""

from dataclasses import dataclass

from control.engine.decision import Cause, Decision
from control.engine.phase import Phase
from control.engine.state import ShiftState
from tests.bench.canary.heats import END_WORDS, Cell, Run
from tests.bench.canary.policies.policy import End
from tests.bench.canary.shapes import HOUR, TICK_S
from tests.bench.canary.world import Tick

ENDS = {Cause.HARM_FOUND: End.ROLLED_BACK, Cause.GUARD_BROKEN: End.ROLLED_BACK, Cause.BUDGET_SPENT: End.SPENT}
"""Why a run goes back. There is no other reason for it in a simulated world."""
OUTCOMES = "outcomes"
"""What the guard watches."""


@dataclass(slots=True)
class Score:
    """What came of the run so far: `end` since `minutes` of the hour. See `Run`."""

    end: End = End.GOING
    minutes: float = HOUR * TICK_S / 60.0
    named: str = ""
    requests: int = 0
    excess: float = 0.0
    slow: float = 0.0

    def add(self, brought: Tick, canary_requests: int) -> None:
        """What a tick of the hour cost."""
        self.requests += canary_requests if self.end is End.GOING else 0
        self.excess += float(brought.excess[0])
        self.slow += float(brought.slow_excess[0])

    def note(self, state: ShiftState, *, at_minutes: float) -> None:
        """Where the shift stands then."""
        if (end := end_of(state)) is not self.end:
            self.end, self.minutes, self.named = end, at_minutes, named(state.outcome)

    def run(self, cell: Cell, seed: int, *, parked: bool) -> Run:
        return Run(
            cell=cell,
            seed=seed,
            end=END_WORDS[self.end],
            minutes=self.minutes,
            requests=self.requests,
            excess=self.excess,
            slow=self.slow,
            named=self.named,
            parked=parked,
        )


def end_of(state: ShiftState) -> End:
    """It ends with the decision, not when the traffic has followed."""
    match state.phase:
        case Phase.PROMOTING | Phase.PROMOTED:
            return End.PROMOTED
        case Phase.ROLLING_BACK | Phase.ROLLED_BACK:
            assert state.outcome is not None
            return ENDS[state.outcome.cause]
        case _:
            return End.GOING


def named(outcome: Decision | None) -> str:
    """The metric that a rollback blames; none where the version was not judged bad."""
    match outcome:
        case Decision(cause=Cause.HARM_FOUND):
            return outcome.facts["metric"]
        case Decision(cause=Cause.GUARD_BROKEN):
            return OUTCOMES
        case _:
            return ""
