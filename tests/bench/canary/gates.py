"""Which promises must the benchmark hold? A row a gate: what is measured, the aim, and the floor below which a test fails.

A miss of an aim is published with its reason (`REASONS`), never tuned away.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tests.bench.canary.heats import Cell, Run
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.wilson import Estimate, mean, proportion, quantile

Runs = Sequence[Run]
Measure = Callable[[Runs], Estimate]


@dataclass(frozen=True, slots=True)
class Gate:
    """`measure` of all runs of `cells` must be at most `aim` (`least`: at least), and never beyond `floor`."""

    name: str
    cells: tuple[Cell, ...]
    measure: Measure
    aim: float
    floor: float
    unit: str
    least: bool = False

    def meets(self, value: float, bound: float) -> bool:
        return value >= bound - 1e-9 if self.least else value <= bound + 1e-9


@dataclass(frozen=True, slots=True)
class Result:
    gate: Gate
    found: Estimate
    runs: int

    @property
    def aimed(self) -> bool:
        return self.gate.meets(self.found.value, self.gate.aim)

    @property
    def held(self) -> bool:
        return self.gate.meets(self.found.value, self.gate.floor)


def share_of(*ends: str) -> Measure:
    """The part of runs that ended so."""
    return lambda runs: proportion(sum(run.end in ends for run in runs), len(runs))


def pooled(*ends: str) -> Measure:
    """The mean over cells of the part of runs that ended so, each cell counting the same; as sure as so many runs."""

    def of(runs: Runs) -> Estimate:
        found = [(sum(run.end in ends for run in each) / len(each), len(each)) for each in by_cell(runs).values()]
        worth = len(found) ** 2 / sum(1 / number for _, number in found)
        return proportion(sum(part for part, _ in found) / len(found) * worth, worth)

    return of


def worst_share(*ends: str) -> Measure:
    """The highest part of any cell, with an interval that holds for all cells at once."""

    def of(runs: Runs) -> Estimate:
        cells = by_cell(runs).values()
        found = [proportion(sum(run.end in ends for run in each), len(each), len(cells)) for each in cells]
        return max(found, key=lambda each: each.value)

    return of


def by_cell(runs: Runs) -> Mapping[Cell, list[Run]]:
    ordered = sorted(runs, key=lambda run: repr(run.cell))
    return {cell: list(each) for cell, each in groupby(ordered, key=lambda run: run.cell)}


def mean_excess(runs: Runs) -> Estimate:
    return mean([run.excess for run in runs])


def worst_excess(runs: Runs) -> Estimate:
    """The highest mean of any scenario, with its interval."""
    return max((mean_excess(each) for each in by_cell(runs).values()), key=lambda found: found.value)


def requests_p90(runs: Runs) -> Estimate:
    return quantile([run.requests for run in runs], 0.9)


def median_minutes(runs: Runs) -> Estimate:
    """Of all runs; one that is not promoted took the whole hour."""
    return quantile([run.minutes if run.end == "promoted" else 60.0 for run in runs], 0.5)


def caught(runs: Runs) -> Estimate:
    return share_of("rolled back")(runs)


def cells(
    policy: str, names: Iterable[str], rates: Iterable[float] = (50.0,), shape: str = "steady"
) -> tuple[Cell, ...]:
    return tuple(Cell(policy, name, shape, rps) for name in names for rps in rates)


def tagged(tag: str) -> tuple[str, ...]:
    return tuple(name for name, scenario in SCENARIOS.items() if tag in scenario.tags)


FALSE = share_of("rolled back")
ALIKE = cells("tidegate-fixed", tagged("independent")) + cells("tidegate", tagged("independent"))
SPREAD = cells("tidegate-fixed", tagged("spread")) + cells("tidegate", tagged("spread"))
MODERATE = tuple(name for name in tagged("independent") if "clumps-20" not in name)
"""Noise whose dispersion is 10 at most."""
KNOWN, FAST, BAKED = "tidegate-fast-known", "tidegate-fast", "tidegate"
SLOWLY, INFORMED = "tidegate-prometheus", "tidegate-history"
JUDGED_BAD = tuple(name for name, scenario in SCENARIOS.items() if scenario.fate is Fate.ROLL_BACK)

GATES = (
    Gate("A/A, independent noise: false rollback, pooled", ALIKE, pooled("rolled back"), 0.005, 0.01, "%"),
    Gate("A/A, independent noise: false rollback, worst scenario", ALIKE, worst_share("rolled back"), 0.02, 0.03, "%"),
    Gate("A/A, processes differ (3 or 6 of the canary, 10 of stable): false rollback", SPREAD, FALSE, 0.01, 0.02, "%"),
    Gate("A/A promoted within the hour, dispersion at most 10, five earlier shifts", cells(INFORMED, MODERATE), share_of("promoted"), 0.95, 0.90, "%", least=True),
    Gate("A/A stopped by the budget, dispersion at most 10, five earlier shifts", cells(INFORMED, MODERATE), share_of("budget spent"), 0.01, 0.02, "%"),
    Gate("Noise that all of stable shares, five earlier shifts: false rollback", cells("tidegate-fixed-history", tagged("common")), FALSE, 0.05, 1.0, "%"),
    Gate("The same, nothing known of the service (no aim)", cells("tidegate-fixed", tagged("common")), FALSE, 1.0, 1.0, "%"),
    Gate("0.3 to 2 %: mean excess failures", cells(KNOWN, ["errors-0.3-2"]), mean_excess, 11.0, 12.0, ""),
    Gate("0.3 to 20 %: mean excess failures", cells(KNOWN, ["errors-0.3-20"]), mean_excess, 4.5, 5.5, ""),
    Gate("0.3 to 20 % at 500 a second: mean excess failures", cells(KNOWN, ["errors-0.3-20"], [500.0]), mean_excess, 5.0, 6.0, ""),
    Gate("0.3 to 2 %, Prometheus, 15 s lag: mean excess failures", cells(SLOWLY, ["errors-0.3-2"]), mean_excess, 14.0, 15.0, ""),
    Gate("0.3 to 20 %, Prometheus, 15 s lag: mean excess failures", cells(SLOWLY, ["errors-0.3-20"]), mean_excess, 7.0, 8.0, ""),
    Gate("Slow tail: canary requests, 90th percentile", cells(KNOWN, ["tail"]), requests_p90, 800.0, 900.0, ""),
    Gate("Good version promoted, bake off: median minutes", cells(KNOWN, ["aa-iid-0.3"]), median_minutes, 4.2, 5.0, "min"),
    Gate("The same, nothing known of the service", cells(FAST, ["aa-iid-0.3"]), median_minutes, 7.0, 9.0, "min"),
    Gate("Missed at twice the proven margin", cells(FAST, tagged("edge-twice")) + cells(KNOWN, tagged("edge-twice")), share_of("promoted"), 0.001, 0.01, "%"),
    Gate("Missed at the proven margin", cells(FAST, tagged("edge-proven")) + cells(KNOWN, tagged("edge-proven")), worst_share("promoted"), 0.05, 0.05, "%"),
    Gate("Missed, beginning late, with the bake and the guard at 100 %", cells(BAKED, tagged("late")), share_of("promoted"), 0.01, 0.02, "%"),
    Gate("Mean excess in the worst scenario, in budgets of 50", cells(BAKED, JUDGED_BAD), lambda runs: _in_budgets(worst_excess(runs)), 1.0, 1.1, ""),
    Gate("Retry storm that callers don't see: caught", cells(BAKED, ["retry-storm"]), caught, 0.995, 0.99, "%", least=True),
    Gate("No data: promoted", cells(BAKED, tagged("no-data")), share_of("promoted"), 0.0, 0.0, "%"),
    Gate("No data: counted as the version's failure", cells(BAKED, tagged("no-data")), share_of("rolled back", "budget spent"), 0.0, 0.0, "%"),
)  # fmt: skip


def _in_budgets(found: Estimate) -> Estimate:
    return Estimate(found.value / 50.0, found.low / 50.0, found.high / 50.0)


def needed(gates: Iterable[Gate] = GATES) -> tuple[Cell, ...]:
    """Every cell that a gate rests on, once."""
    return tuple(dict.fromkeys(cell for gate in gates for cell in gate.cells))


def evaluated(runs: Iterable[Run], gates: Iterable[Gate] = GATES) -> list[Result]:
    """Each gate whose cells were all run."""
    found = by_cell(list(runs))
    results = []
    for gate in gates:
        if all(cell in found for cell in gate.cells):
            mine = [run for cell in gate.cells for run in found[cell]]
            results.append(Result(gate, gate.measure(mine), len(mine)))
    return results


def line(result: Result) -> str:
    """A gate as a line of text."""
    gate, found = result.gate, result.found
    times = 100.0 if gate.unit == "%" else 1.0
    value, low, high, aim, floor = (each * times for each in (found.value, found.low, found.high, gate.aim, gate.floor))
    mark = "ok  " if result.aimed else "miss" if result.held else "FAIL"
    sign = ">=" if gate.least else "<="
    return f"{mark} {gate.name}: {value:.2f} [{low:.2f}, {high:.2f}] {gate.unit} (aim {sign} {aim:g}, floor {floor:g}; {result.runs} runs)"
