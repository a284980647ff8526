"""What is made of runs: shares with their intervals, costs, verdicts, pages, plots, and lines of JSON."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import pytest

from tests.bench.canary import __main__ as bench
from tests.bench.canary.choose import CROSS_TITLE, GATES_TITLE, OURS, RIVALS, Stage
from tests.bench.canary.costs import WEIGHTINGS, Weighting, cost, costs, lost, pooled
from tests.bench.canary.gates import GATES, Gate, Result, caught, evaluated, needed, share_of
from tests.bench.canary.heats import Cell, Run
from tests.bench.canary.plots import draw
from tests.bench.canary.reasons import REASONS
from tests.bench.canary.report import CROSS_PAGE, MAIN, SCENARIO_PAGE, Raced, levelled, pages
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.summary import summary
from tests.bench.canary.tables import percent, short, table
from tests.bench.canary.verdicts import FAIL, MISS, OK, Row, broken, cost_rows, gate_row, strangers, unexplained
from tests.bench.canary.wilson import Estimate, mean, proportion, quantile

USUAL = Weighting(200.0, 0.5)


def run(end: str, scenario: str = "aa-iid-0.3", policy: str = OURS, *, seed: int = 1, **others: object) -> Run:
    made = Run(Cell(policy, scenario), seed, end, 10.0, 500, 0.0, 0.0, "", parked=False)
    return replace(made, **others)  # type: ignore[arg-type]


def rightly(policy: str, scenario: str, seed: int = 1, **others: object) -> Run:
    """A run that ends as it should."""
    end = {Fate.PROMOTE: "promoted", Fate.ROLL_BACK: "rolled back"}.get(SCENARIOS[scenario].fate, "undecided")
    return run(end, scenario, policy, seed=seed, **others)


# ------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (0.04312, "0.043"),
        (4.312, "4.3"),
        (43.12, "43.1"),
        (4312.4, "4,312"),
        (-17.0, "-17.0"),
        (0.0002, "0.0002"),
    ],
)
def test_figures_are_short(value: float, said: str) -> None:
    assert short(value) == said


@pytest.mark.parametrize(
    ("hits", "of", "said"),
    [(0, 100, "0 [0, 3.7]"), (1, 2000, "0.05 [0.01, 0.28]"), (50, 100, "50.0 [40.4, 59.6]"), (4, 4, "100 [51.0, 100]")],
)
def test_parts_come_with_wilsons_interval(hits: int, of: int, said: str) -> None:
    assert percent(proportion(hits, of)) == said


def test_nothing_is_known_of_no_runs() -> None:
    assert (proportion(0, 0).low, proportion(0, 0).high) == (0.0, 1.0)
    assert mean([]).high == quantile([], 0.5).high == inf


def test_a_quantile_lies_within_its_interval() -> None:
    found = quantile(range(1, 1001), 0.9)
    assert (found.low, found.value, found.high) == pytest.approx((882.0, 900.1, 919.0), abs=2)


def test_tables_are_markdown() -> None:
    assert table(("a", "b"), [("x", "1")]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_a_summary_counts_each_end_and_takes_medians_of_those_that_ended_so() -> None:
    found = summary(
        [
            run("rolled back", "late", minutes=4.0, requests=100, excess=8.0, named="outcomes"),
            run("rolled back", "late", minutes=6.0, requests=300, excess=12.0, named="latency"),
            run("promoted", "late", minutes=9.0, excess=1000.0),
            run("undecided", "late", minutes=60.0, excess=20.0),
        ]
    )
    assert [found.ends[end].value for end in ("rolled back", "promoted", "undecided", "budget spent")] == [
        0.5,
        0.25,
        0.25,
        0,
    ]
    assert (found.rollback_minutes, found.rollback_requests, found.promote_minutes) == (5.0, 200.0, 9.0)
    assert (found.excess.value, found.named and found.named.value) == (260.0, 0.5)


def test_nobody_is_named_rightly_where_no_metric_is_to_blame() -> None:
    assert summary([run("rolled back", named="outcomes")]).named is None


def test_cells_with_more_runs_count_no_more() -> None:
    runs = [
        *(run("promoted", seed=seed) for seed in range(9)),
        *(run("promoted", "late", seed=seed) for seed in range(4)),
    ]
    assert len(levelled(runs)) == 8


# ------------------------------------------------------------------------------------------------ costs


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (run("promoted", minutes=4.0), 2.0),
        (run("rolled back"), 200.0),
        (run("budget spent"), 200.0),
        (run("undecided"), 30.0),
        (run("rolled back", "late", excess=12.0), 12.0),
        (run("promoted", "late", excess=900.0), 900.0),
        (run("undecided", "late", excess=50.0), 50.0),
        (run("promoted", "better", minutes=4.0, excess=-500.0), 2.0),
        (run("promoted", "warms-up", minutes=4.0, excess=6.0), 8.0),
        (run("promoted", "edge-tolerated-2.1", minutes=4.0, excess=300.0), 2.0),
        (run("rolled back", "scrape-gone"), 0.0),
        (run("promoted", "edge-proven-0.3", excess=300.0), 0.0),
    ],
    ids=lambda value: f"{value.cell.scenario} {value.end}" if isinstance(value, Run) else "",
)
def test_what_a_run_costs(made: Run, said: float) -> None:
    assert cost(made, USUAL) == said


def test_costs_are_pooled_over_the_cells_that_all_ran_each_counting_once() -> None:
    runs = [
        *(run("promoted", minutes=10.0, seed=seed) for seed in range(8)),
        run("rolled back", "late", excess=95.0),
        run("rolled back", "late-10", excess=10_000.0),
        run("promoted", policy="flagger", minutes=10.0),
        run("rolled back", "late", policy="flagger", excess=5.0),
    ]
    found = pooled(costs(runs, USUAL), RIVALS)
    assert {policy: each.value for policy, each in found.items()} == {OURS: 50.0, "flagger": 5.0}


def test_every_cell_that_a_peer_wins_is_found_and_no_other() -> None:
    took = {OURS: 10.0, "flagger": 5.0, "argo": 40.0, "msprt": 4.0}
    runs = [
        *(run("promoted", minutes=minutes, policy=policy) for policy, minutes in took.items()),
        *(run("rolled back", "late", excess=10.0, policy=policy) for policy in (OURS, "flagger")),
    ]
    found = lost(costs(runs, USUAL), RIVALS)
    assert {where: list(wins) for where, wins in found.items()} == {
        ("aa-iid-0.3", "steady", 50.0): ["msprt", "flagger"]
    }


def everybody(ours: Callable[[str], Run]) -> list[Run]:
    peers = [rightly(policy, scenario) for policy, scenario in product(RIVALS[1:], SCENARIOS)]
    return [*peers, *(ours(scenario) for scenario in SCENARIOS)]


@pytest.mark.parametrize(
    ("ours", "mark"),
    [
        (lambda scenario: rightly(OURS, scenario, minutes=9.0), OK),
        (lambda scenario: rightly(OURS, scenario, minutes=11.0), FAIL),
        (lambda scenario: run("rolled back", scenario, OURS), FAIL),
    ],
    ids=["a minute quicker", "a minute slower", "rolls everything back"],
)
def test_ours_must_be_the_cheapest(ours: Callable[[str], Run], mark: str) -> None:
    assert [row.mark for row in cost_rows(everybody(ours))] == [mark] * len(WEIGHTINGS)


def test_costs_are_no_gate_where_a_rival_or_a_scenario_is_missing() -> None:
    runs = everybody(lambda scenario: rightly(OURS, scenario))
    assert not cost_rows([run for run in runs if run.cell.policy != "iter8"])
    assert not cost_rows([run for run in runs if run.cell.scenario != "late"])


# ------------------------------------------------------------------------------------------------ verdicts


LATE = (Cell(OURS, "late"),)
ATMOST = Gate("missed", LATE, share_of("promoted"), 0.01, 0.02, "%")
ATLEAST = Gate("caught", LATE, caught, 0.99, 0.98, "%", least=True)


@pytest.mark.parametrize(
    ("gate", "value", "mark"),
    [
        (ATMOST, 0.0, OK),
        (ATMOST, 0.01, OK),
        (ATMOST, 0.015, MISS),
        (ATMOST, 0.021, FAIL),
        (ATLEAST, 1.0, OK),
        (ATLEAST, 0.985, MISS),
        (ATLEAST, 0.979, FAIL),
    ],
)
def test_a_gate_is_met_missed_or_broken(gate: Gate, value: float, mark: str) -> None:
    assert gate_row(Result(gate, Estimate(value, value, value), 100)).mark == mark


def test_a_gate_is_told_in_its_unit() -> None:
    row = gate_row(Result(ATLEAST, proportion(99, 100), 100))
    assert (row.found, row.aim, row.floor) == ("99.0 [94.6, 99.8] %", "≥ 99 %", "≥ 98 %")


def test_a_gate_is_decided_when_all_its_cells_ran() -> None:
    gates = (ATMOST, Gate("two", (*LATE, Cell(OURS, "ramp")), share_of("promoted"), 0.0, 0.0, "%"))
    assert [result.gate.name for result in evaluated([run("promoted", "late")], gates)] == ["missed"]


def test_a_miss_needs_a_reason_and_what_is_broken_fails() -> None:
    rows = [Row(mark, f"a gate that is {mark}", "1", "2", "3", 4) for mark in (OK, MISS, FAIL)]
    (sentence,) = unexplained(rows, {})
    assert sentence.startswith("a gate that is miss misses its aim (1, aim 2): say why in")
    assert not unexplained(rows, {"a gate that is miss": "since the world is so"})
    assert broken(rows) == ["a gate that is FAIL is beyond its floor: 1, floor 3"]


def test_reasons_are_of_gates() -> None:
    assert strangers(GATES, {"no such gate": "because"}) == ["no such gate"]
    assert not strangers(GATES, REASONS)


# ------------------------------------------------------------------------------------------------ pages


def ended(cell: Cell, seed: int) -> Run:
    bad = SCENARIOS[cell.scenario].fate is Fate.ROLL_BACK
    return replace(rightly(cell.policy, cell.scenario, seed), cell=cell, excess=20.0 * seed if bad else 0.0)


@pytest.fixture(scope="module")
def raced() -> tuple[Raced, ...]:
    """Every cell of the gates, all rivals in every scenario, and one under two shapes."""
    cells = dict.fromkeys([*needed(), *(Cell(policy, name) for policy, name in product(RIVALS, SCENARIOS))])
    runs = tuple(ended(cell, seed) for cell in cells for seed in (1, 2))
    more = tuple(Cell(policy, "late", shape) for policy in RIVALS for shape in ("bursts", "fade"))
    crossed = tuple(ended(cell, 1) for cell in more)
    return Raced(Stage(GATES_TITLE, tuple(cells), (1, 2)), runs, 1.0), Raced(
        Stage(CROSS_TITLE, more, (1,)), crossed, 1.0
    )


@pytest.fixture(scope="module")
def written(raced: tuple[Raced, ...]) -> dict[str, str]:
    rows = [Row(MISS, GATES[0].name, "1", "2", "3", 4)]
    return dict(pages(raced, rows, "2026-12-01", "on a machine"))


def test_the_page_says_how_many_runs_it_rests_on(written: dict[str, str]) -> None:
    assert "| gates | " in written[MAIN]
    assert "| 1 to 2 |" in written[MAIN]
    assert "Few runs (2 a cell at least)" in written[MAIN]


def test_the_page_tells_each_gate_and_why_an_aim_is_missed(written: dict[str, str]) -> None:
    assert f"| {GATES[0].name} | **miss** | 1 | 2 | 3 | 4 |" in written[MAIN]
    assert f"- *{GATES[0].name}*: {REASONS.get(GATES[0].name, '**no reason is given**')}" in written[MAIN]


def test_every_scenario_has_its_table_and_every_rival_its_row(written: dict[str, str]) -> None:
    parts = re.split(r"^## ", written[SCENARIO_PAGE], flags=re.MULTILINE)[1:]
    steady = [part for part in parts if ", " not in part.splitlines()[0]]
    assert [part.splitlines()[0].strip("`") for part in steady] == list(SCENARIOS)
    for part, policy in product(steady, RIVALS):
        assert f"| {policy} |" in part or f"| **{policy}** |" in part


def test_every_shape_that_ran_has_its_table(written: dict[str, str]) -> None:
    assert "## bursts, 50 a second" in written[CROSS_PAGE]
    assert "## fade, 50 a second" in written[CROSS_PAGE]


def test_tables_are_whole(written: dict[str, str]) -> None:
    """Every row has as many cells as its head."""
    for text in written.values():
        for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_plots_are_drawn_and_the_same_twice(raced: tuple[Raced, ...], tmp_path: Path) -> None:
    runs = [run for each in raced for run in each.runs]
    drawn = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        draw(runs, folder, "tuning", stories=())
        drawn.append({path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())})
    assert list(drawn[0]) == ["excess.svg", "false-rollbacks.svg"]
    assert drawn[0] == drawn[1]


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_refuses_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main({"SCENARIO": "lates"}) == 2
    assert "did you mean late?" in capsys.readouterr().err


def test_the_command_prints_tables_and_writes_a_line_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"SCENARIO": "errors-0.3-20", "POLICY": "tidegate,flagger", "SEEDS": "3-4", "JSON": str(tmp_path / "runs")}
    bench.main(words)
    printed = capsys.readouterr()
    assert "## `errors-0.3-20`" in printed.out
    assert "| **tidegate** | 2 |" in printed.out
    assert "chosen: 2 cells, seeds 3 to 4: 4 runs" in printed.err
    lines = [json.loads(line) for line in (tmp_path / "runs").read_text(encoding="utf-8").splitlines()]
    assert [(line["policy"], line["seed"]) for line in lines] == [("flagger", 3), ("flagger", 4), (OURS, 3), (OURS, 4)]
    assert {"stream", "scenario", "shape", "rps", "end", "minutes", "canaryRequests", "excess", "metric"} <= set(
        lines[0]
    )
    assert {line["stream"] for line in lines} == {"published"}
