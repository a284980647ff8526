"""What does the vectorised mode say of the runs that the whole controller went through? The same names, margins and
pace, and nothing known of the service.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.bench.canary.heats import END_WORDS, Cell, Run, name_of
from tests.bench.canary.policies.ours import Ours, auto_budget, terms
from tests.bench.canary.policies.policy import METRICS, End
from tests.bench.canary.race import race
from tests.bench.canary.served.whole import Pace


@dataclass(frozen=True, slots=True)
class Said:
    """How a run ended, by which metric, and whether the canary waits at weight 0."""

    end: str
    named: str
    parked: bool
    minutes: float

    @classmethod
    def of(cls, run: Run) -> "Said":
        return cls(run.end, run.named, run.parked, run.minutes)

    def agrees(self, run: Run) -> bool:
        return (self.end, self.named, self.parked) == (run.end, run.named, run.parked)

    def __str__(self) -> str:
        """Example: rolled back (latency)."""
        why = self.named or ("parked" if self.parked else "")
        return f"{self.end} ({why})" if why else self.end


def beside(cell: Cell, seeds: Sequence[int], stream: str, pace: Pace) -> dict[int, Said]:
    """What the vectorised engine did, by seed."""
    names = [name_of(cell, seed) for seed in seeds]
    held = terms(budget=auto_budget(names[0].rate), poll_s=pace.poll_s, lag_s=pace.lag_s, bake_s=pace.bake_s)
    with np.errstate(all="ignore"):
        came = race(names, stream, lambda case: Ours.of(case, held))
    ends = [End(int(each)) for each in came.end]
    return {
        seed: Said(
            end=END_WORDS[ends[row]],
            named=METRICS[came.named[row]] if came.named[row] >= 0 else "",
            parked=ends[row] is End.GOING and bool(came.share[row] == 0.0),
            minutes=float(came.minutes[row]),
        )
        for row, seed in enumerate(seeds)
    }
