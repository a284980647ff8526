"""How did the runs of a group fare? Shares of each end with their intervals, and what an end took."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tests.bench.canary.heats import Run
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.wilson import Estimate, mean, proportion

K = TypeVar("K", bound=Hashable)
ENDS = ("promoted", "rolled back", "budget spent", "undecided")


@dataclass(frozen=True, slots=True)
class Summary:
    """Of runs of one policy. Medians are of the runs that ended so; None where none did.

    `named`: the part of rollbacks that blame the right metric; None where no scenario says which one that is.
    """

    runs: int
    ends: dict[str, Estimate]
    excess: Estimate
    excess_p95: float
    rollback_requests: float | None
    rollback_minutes: float | None
    promote_minutes: float | None
    named: Estimate | None


def summary(runs: Sequence[Run]) -> Summary:
    back = [run for run in runs if run.end == "rolled back"]
    excess = np.array([run.excess for run in runs])
    return Summary(
        runs=len(runs),
        ends={end: proportion(sum(run.end == end for run in runs), len(runs)) for end in ENDS},
        excess=mean(excess),
        excess_p95=float(np.quantile(excess, 0.95)),
        rollback_requests=median(run.requests for run in back),
        rollback_minutes=median(run.minutes for run in back),
        promote_minutes=median(run.minutes for run in runs if run.end == "promoted"),
        named=rightly_named(back),
    )


def median(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(np.median(found)) if found else None


def rightly_named(back: Sequence[Run]) -> Estimate | None:
    told = [run for run in back if SCENARIOS[run.cell.scenario].named]
    if not told:
        return None
    return proportion(sum(run.named == SCENARIOS[run.cell.scenario].named for run in told), len(told))


def grouped(runs: Iterable[Run], key: Callable[[Run], K]) -> dict[K, list[Run]]:
    """Runs by what they have in common, in the order of appearance."""
    found: dict[K, list[Run]] = defaultdict(list)
    for run in runs:
        found[key(run)].append(run)
    return dict(found)


def fated(runs: Iterable[Run], *fates: Fate) -> list[Run]:
    """Runs of scenarios whose version deserves one of these ends."""
    return [run for run in runs if SCENARIOS[run.cell.scenario].fate in fates]


def steady(runs: Iterable[Run]) -> list[Run]:
    """At a steady 50 requests a second, which gates and peers share."""
    return [run for run in runs if run.cell.shape == "steady" and run.cell.rps == 50.0]
