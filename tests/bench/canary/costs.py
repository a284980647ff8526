"""What does a policy cost whoever releases with it? One number a run, under weightings that were chosen beforehand.

A bad version costs the requests that failed beyond stable's rate within the hour, also after it was promoted. A good
one costs the minutes until it is promoted (60 if that never happens), or a fixed sum if it goes back to stable, be that
a verdict or a spent budget. What a good version fails beyond stable counts too, unless the spec tolerates it. A version
that is better than stable is no gain: its excess counts as 0. Scenarios without a right end cost nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from tests.bench.canary.choose import OURS
from tests.bench.canary.heats import Cell, Run
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.summary import fated, grouped
from tests.bench.canary.wilson import Z95, Estimate, mean

Place = tuple[str, str, float]
"""Scenario, shape, rate."""
HOUR_MIN = 60.0
SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Weighting:
    """What a false rollback and a minute cost, in failed requests."""

    false: float
    minute: float

    def __str__(self) -> str:
        return f"{self.false:g} a false rollback, {self.minute:g} a minute"


WEIGHTINGS = (Weighting(200.0, 0.5), Weighting(500.0, 0.1), Weighting(100.0, 2.0))
"""The published one; for those who hate false alarms; for those in a hurry."""
Costs = Mapping[str, Mapping[Place, Estimate]]
"""By policy and place."""


def cost(run: Run, weighting: Weighting) -> float:
    """Of one run, in failed requests."""
    scenario = SCENARIOS[run.cell.scenario]
    failed = 0.0 if "edge-tolerated" in scenario.tags else max(run.excess, 0.0)
    if scenario.fate is Fate.ROLL_BACK:
        return failed
    if scenario.fate is not Fate.PROMOTE:
        return 0.0
    match run.end:
        case "promoted":
            return failed + weighting.minute * run.minutes
        case "undecided":
            return failed + weighting.minute * HOUR_MIN
        case _:
            return failed + weighting.false


def place(cell: Cell) -> Place:
    return cell.scenario, cell.shape, cell.rps


def costs(runs: Iterable[Run], weighting: Weighting) -> Costs:
    """The mean cost in each cell that has a right end."""
    judged = fated(runs, Fate.PROMOTE, Fate.ROLL_BACK)
    return {
        policy: {where: mean([cost(run, weighting) for run in each]) for where, each in _by_place(mine).items()}
        for policy, mine in grouped(judged, lambda run: run.cell.policy).items()
    }


def _by_place(runs: Iterable[Run]) -> dict[Place, list[Run]]:
    return grouped(runs, lambda run: place(run.cell))


def pooled(found: Costs, policies: Sequence[str]) -> dict[str, Estimate]:
    """The mean over all places that every one of the policies ran; each place counts the same."""
    present = [policy for policy in policies if policy in found]
    if not present:
        return {}
    shared = set.intersection(*(set(found[policy]) for policy in present))
    return {policy: _mean_of([found[policy][where] for where in shared]) for policy in present if shared}


def _mean_of(cells: Sequence[Estimate]) -> Estimate:
    """Cells are independent of each other."""
    value = sum(cell.value for cell in cells) / len(cells)
    reach = Z95 * sqrt(sum(((cell.high - cell.value) / Z95) ** 2 for cell in cells)) / len(cells)
    return Estimate(value, max(value - reach, 0.0), value + reach)


def cheaper(found: Costs, where: Place) -> dict[str, Estimate]:
    """The peers that cost less than ours at a place, the cheapest first."""
    ours = found[OURS][where].value
    others = {policy: by_place[where] for policy, by_place in found.items() if where in by_place}
    wins = {policy: each for policy, each in others.items() if each.value < ours - SAME}
    return dict(sorted(wins.items(), key=lambda item: item[1].value))


def lost(found: Costs, policies: Sequence[str]) -> dict[Place, dict[str, Estimate]]:
    """Every place where one of the policies costs less than ours."""
    rivals = {policy: found[policy] for policy in policies if policy in found}
    if OURS not in rivals:
        return {}
    places = {where: cheaper(rivals, where) for where in rivals[OURS]}
    return {where: wins for where, wins in places.items() if wins}
