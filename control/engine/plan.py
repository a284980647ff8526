"""Which steps lie ahead, and when can each be reached at the earliest?

An edited list of steps never moves a weight by itself: the next step is the first one above what the canary has now.
"""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from control.engine.phase import Event, Phase
from control.spec import EvidenceStrategy, StepStrategy, Strategy


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """`begins` is how long after the first step it can begin at the earliest, `ends` the same for its end."""

    step: int
    share: Fraction
    begins: timedelta
    ends: timedelta


def plan(strategy: Strategy, requests_per_s: float | None = None) -> tuple[PlannedStep, ...]:
    """All steps with the earliest time of each: its hold, or longer where the traffic needs longer for enough requests.

    Where evidence leads, steps may be left out, and only the bake has a length that is known.

    Example: 1% of 10 requests a second are 20 canary requests after 200 s; a hold of 10 s does not shorten that.
    """
    planned: list[PlannedStep] = []
    for number, share in enumerate(strategy.shares, start=1):
        begins = planned[-1].ends if planned else timedelta(0)
        planned.append(PlannedStep(number, share, begins, begins + step_length(strategy, share, requests_per_s)))
    return tuple(planned)


def step_length(strategy: Strategy, share: Fraction, requests_per_s: float | None) -> timedelta:
    match strategy:
        case EvidenceStrategy():
            return strategy.bake_for if share == strategy.bake_at else timedelta(0)
        case StepStrategy():
            if not requests_per_s:
                return strategy.hold
            return max(strategy.hold, timedelta(seconds=strategy.min_requests / (requests_per_s * float(share))))


def shares_ahead(strategy: Strategy, share: Fraction) -> tuple[Fraction, ...]:
    """The steps above `share`, in order; where evidence leads, those that it may take."""
    return tuple(each for each in strategy.shares if each > share)


def next_step(strategy: Strategy, share: Fraction) -> Fraction | None:
    """The share of the first step above `share`, None when there is none."""
    return next(iter(shares_ahead(strategy, share)), None)


def nearest(strategy: Strategy, share: float) -> Fraction:
    """The strategy's own exact share that this number stands for. Example: 0.1 is 1/10."""
    return min(strategy.shares, key=lambda each: abs(float(each) - share))


def way_up(to: Fraction, phase: Phase) -> Event:
    """The event that gives the canary more. A run that has begun, and is at 0 %, does not begin again."""
    if to == 1:
        return Event.FILL
    return Event.BEGIN if phase is Phase.PENDING else Event.ADVANCE


def way_back(share: Fraction) -> tuple[Fraction, ...]:
    """The shares of a return that takes its time: halves in whole percents, the last one 0.

    Example: from 50 %: 25, 12, 6, 3, 1 and 0 %. Example: from 1 % at once to 0.
    """
    left: list[Fraction] = []
    while (share := Fraction(share * 100 // 2, 100)) > 0:
        left.append(share)
    return (*left, Fraction(0))
