"""Does the benchmark hold what it promises? The gates' results and the costs', as rows of one table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tests.bench.canary.choose import OURS, RIVALS
from tests.bench.canary.costs import WEIGHTINGS, Weighting, costs, pooled
from tests.bench.canary.gates import Gate, Result, evaluated
from tests.bench.canary.heats import Run
from tests.bench.canary.reasons import REASONS
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.summary import fated, steady
from tests.bench.canary.tables import measured
from tests.bench.canary.wilson import Estimate

OK, MISS, FAIL = "ok", "miss", "FAIL"
JUDGED = tuple(name for name, each in SCENARIOS.items() if each.fate in (Fate.PROMOTE, Fate.ROLL_BACK))


@dataclass(frozen=True, slots=True)
class Row:
    """A gate, as it is printed. `mark`: the aim is met, only the floor is, or neither."""

    mark: str
    gate: str
    found: str
    aim: str
    floor: str
    runs: int

    @property
    def line(self) -> str:
        return f"{self.mark:4} {self.gate}: {self.found} (aim {self.aim}, floor {self.floor}; {self.runs:,} runs)"


def verdicts(runs: Sequence[Run]) -> list[Row]:
    """Every gate that these runs decide. Costs are pooled with a steady load, and once more with every shape."""
    crossed = any(run.cell.shape != "steady" for run in runs)
    more = cost_rows(runs, ", every shape") if crossed else []
    return [*map(gate_row, evaluated(runs)), *cost_rows(steady(runs)), *more]


def gate_row(result: Result) -> Row:
    gate, times = result.gate, 100.0 if result.gate.unit == "%" else 1.0
    found = Estimate(*(round(times * each, 3) for each in (result.found.value, result.found.low, result.found.high)))
    mark = OK if result.aimed else MISS if result.held else FAIL
    unit = f" {gate.unit}" if gate.unit else ""
    aim, floor = (f"{'≥' if gate.least else '≤'} {round(times * each, 3):g}{unit}" for each in (gate.aim, gate.floor))
    return Row(mark, gate.name, measured(found) + unit, aim, floor, result.runs)


def cost_rows(runs: Sequence[Run], about: str = "") -> list[Row]:
    """Ours must cost less than every peer, under each weighting; only told where all met every scenario."""
    judged = [run for run in fated(runs, Fate.PROMOTE, Fate.ROLL_BACK) if run.cell.policy in RIVALS]
    if {(run.cell.policy, run.cell.scenario) for run in judged} != set(product(RIVALS, JUDGED)):
        return []
    return [
        _cost_row(weighting, pooled(costs(judged, weighting), RIVALS), len(judged), about) for weighting in WEIGHTINGS
    ]


def _cost_row(weighting: Weighting, found: Mapping[str, Estimate], runs: int, about: str) -> Row:
    best = min((policy for policy in found if policy != OURS), key=lambda policy: found[policy].value)
    mark = OK if found[OURS].value <= found[best].value else FAIL
    said = f"{measured(found[OURS])}; {best} {measured(found[best])}"
    return Row(mark, f"Pooled cost ({weighting}{about})", said, "best of all", "best of all", runs)


def unexplained(rows: Iterable[Row], reasons: Mapping[str, str] = REASONS) -> list[str]:
    """A sentence for each miss that has no reason."""
    return [
        f"{row.gate} misses its aim ({row.found}, aim {row.aim}): say why in tests/bench/canary/reasons.py"
        for row in rows
        if row.mark == MISS and not reasons.get(row.gate)
    ]


def strangers(gates: Iterable[Gate], reasons: Mapping[str, str] = REASONS) -> list[str]:
    """Reasons whose gate does not exist."""
    return sorted(set(reasons) - {gate.name for gate in gates})


def broken(rows: Iterable[Row]) -> list[str]:
    """A sentence for each gate below its floor."""
    return [f"{row.gate} is beyond its floor: {row.found}, floor {row.floor}" for row in rows if row.mark == FAIL]
