"""Which steps lie ahead, and when can each be reached at the earliest?

An edited list of steps never moves a weight by itself: the next step is the first one above what the canary has now.
"""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from control.engine.phase import Event, Phase
from control.spec import StepStrategy


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """`begins` is how long after the first step it can begin at the earliest, `ends` the same for its end."""

    step: int
    share: Fraction
    begins: timedelta
    ends: timedelta


def plan(strategy: StepStrategy, requests_per_s: float | None = None) -> tuple[PlannedStep, ...]:
    """All steps with the earliest time of each: its hold, or longer where the traffic needs longer for enough requests.

    Example: 1% of 10 requests a second are 20 canary requests after 200 s; a hold of 10 s does not shorten that.
    """
    planned: list[PlannedStep] = []
    for number, share in enumerate(strategy.steps, start=1):
        begins = planned[-1].ends if planned else timedelta(0)
        planned.append(PlannedStep(number, share, begins, begins + step_length(strategy, share, requests_per_s)))
    return tuple(planned)


def step_length(strategy: StepStrategy, share: Fraction, requests_per_s: float | None) -> timedelta:
    if not requests_per_s:
        return strategy.hold
    return max(strategy.hold, timedelta(seconds=strategy.min_requests / (requests_per_s * float(share))))


def shares_ahead(strategy: StepStrategy, share: Fraction) -> tuple[Fraction, ...]:
    """The steps above `share`, in order."""
    return tuple(each for each in strategy.steps if each > share)


def next_step(strategy: StepStrategy, share: Fraction) -> Fraction | None:
    """The share of the first step above `share`, None when there is none."""
    return next(iter(shares_ahead(strategy, share)), None)


def way_up(strategy: StepStrategy, share: Fraction, phase: Phase) -> Event | None:
    """The event that takes the canary one step further. A run that has begun, and is at 0 %, does not begin again."""
    ahead = next_step(strategy, share)
    if ahead is None:
        return None
    if ahead == 1:
        return Event.FILL
    return Event.BEGIN if phase is Phase.PENDING else Event.ADVANCE
