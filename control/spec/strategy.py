"""By which plan does the canary's share grow? Fixed steps, or as fast as the evidence allows."""

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

RUNGS = tuple(Fraction(each, 1000) for each in (1, 2, 5, 10, 20, 50, 100, 200, 350, 500))


@dataclass(frozen=True, slots=True)
class StepStrategy:
    """Fixed steps, in order, the last one 100 %.

    `hold` counts from the moment at which every proxy has acknowledged the step. `min_requests` canary requests are
    needed at each step before it can be judged.
    """

    steps: tuple[Fraction, ...]
    hold: timedelta = timedelta(minutes=1)
    min_requests: int = 20

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Every share that the canary may be given on its way, in order, the last one 100 %."""
        return self.steps


@dataclass(frozen=True, slots=True)
class EvidenceStrategy:
    """The next share is the highest of `rungs` that the budget allows for.

    `bake_for` is how long the canary stays at `bake_at` at the most before all traffic may follow (0: no bake).
    `first` is the first share, None leaves it to the budget. `capped`: no share is higher than what the canary's
    ready endpoints carry.
    """

    rungs: tuple[Fraction, ...] = RUNGS
    bake_for: timedelta = timedelta(minutes=10)
    bake_at: Fraction = Fraction(1, 5)
    first: Fraction | None = None
    capped: bool = True

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Every share that the canary may be given on its way, in order, the last one 100 %."""
        more = {self.bake_at} if self.bake_for else set()
        first = {self.first} if self.first is not None else set()
        return (*sorted({*self.rungs} | more | first), Fraction(1))


Strategy = StepStrategy | EvidenceStrategy
