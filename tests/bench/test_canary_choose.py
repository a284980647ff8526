"""What runs when somebody says SEEDS, SCENARIO, SHAPE, RPS, POLICY, FULL? What is refused, in words?"""

from pathlib import Path

import pytest

from tests.bench.canary.choose import (
    AGAINST_PEERS,
    CHOSEN,
    CROSS_TITLE,
    OURS,
    RIVALS,
    Refused,
    chosen,
    cross,
    plan,
)
from tests.bench.canary.conditions import TUNING
from tests.bench.canary.gates import needed
from tests.bench.canary.heats import Cell, heats, run_heat
from tests.bench.canary.scenarios import SCENARIOS
from tests.bench.canary.shapes import SHAPES


@pytest.mark.parametrize(
    ("said", "seeds"),
    [("7", [7]), ("1-3", [1, 2, 3]), ("1-2, 9", [1, 2, 9]), ("5-5", [5]), ("2,1-3", [2, 1, 3]), ("0", [0])],
)
def test_seeds(said: str, seeds: list[int]) -> None:
    assert list(chosen({"SEEDS": said}).seeds) == seeds


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"SEEDS": "3-1"}, "SEEDS=3-1: a range begins with its lower number"),
        ({"SEEDS": "x"}, "SEEDS=x: a whole number"),
        ({"SEEDS": "-1"}, "SEEDS=-1: a whole number"),
        ({"SEEDS": "1-"}, "SEEDS=1-: a whole number"),
        ({"SEEDS": "1-999999999999"}, "at most 100000 seeds"),
        ({"SCENARIO": "lates"}, "SCENARIO=lates: did you mean late?"),
        ({"SCENARIO": "zzz"}, "SCENARIO can be aa-iid-0.3"),
        ({"SHAPE": "stedy"}, "SHAPE=stedy: did you mean steady?"),
        ({"POLICY": "flager"}, "POLICY=flager: did you mean flagger?"),
        ({"RPS": "0"}, "RPS=0: requests a second: a number above 0"),
        ({"RPS": "nan"}, "RPS=nan: requests a second"),
        ({"RPS": "inf"}, "RPS=inf: requests a second"),
        ({"RPS": "many"}, "RPS=many: requests a second"),
        ({"FULL": "yes"}, "FULL=yes: 1 or 0"),
        ({"JSON": "/no/such/folder/runs.jsonl"}, "there is no folder /no/such/folder"),
        ({"PAGES": "/tmp/pages", "SCENARIO": "late"}, "pages tell of whole runs"),
    ],
    ids=lambda value: " ".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else "",
)
def test_what_does_not_exist_is_refused_in_words(environ: dict[str, str], told: str) -> None:
    with pytest.raises(Refused) as refused:
        chosen(environ)
    assert told in str(refused.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(Refused) as refused:
        chosen({"SEEDS": "x", "SCENARIO": "late,zzz", "RPS": "-1"})
    assert [line.split("=")[0].split(" ")[0] for line in str(refused.value).splitlines()] == [
        "SEEDS",
        "SCENARIO",
        "SCENARIO",
        "RPS",
    ]


def test_without_a_word_gates_and_peers_run_and_no_cell_twice() -> None:
    cells = [cell for stage in plan(chosen({})) for cell in stage.cells]
    assert len(cells) == len(set(cells))
    assert set(needed()) <= set(cells)
    assert {(cell.policy, cell.scenario) for cell in cells} >= {(each, name) for each in RIVALS for name in SCENARIOS}


def test_words_without_anything_in_them_are_not_said() -> None:
    assert chosen({"SEEDS": "", "SCENARIO": " ", "FULL": "0", "JSON": ""}) == chosen({})


def test_what_is_narrowed_is_just_that() -> None:
    (stage,) = plan(chosen({"SCENARIO": "late*", "POLICY": "tidegate,flagger", "RPS": "5,50", "SEEDS": "1-3"}))
    assert set(stage.cells) == {
        Cell(policy, scenario, "steady", rps)
        for policy in ("tidegate", "flagger")
        for scenario in ("late", "late-10")
        for rps in (5.0, 50.0)
    }
    assert stage.seeds == (1, 2, 3)


def test_what_is_not_said_of_a_narrowed_run_is_the_default() -> None:
    (stage,) = plan(chosen({"SCENARIO": "late"}))
    assert stage.cells == tuple(Cell(policy, "late") for policy in RIVALS)
    assert len(stage.seeds) == CHOSEN


def test_the_full_cross_has_every_scenario_shape_and_rival() -> None:
    *others, full = plan(chosen({"FULL": "1"}))
    assert full.title == CROSS_TITLE
    assert not {cell for stage in others for cell in stage.cells} & set(full.cells)
    assert {(cell.scenario, cell.shape, cell.policy) for cell in cross()} == {
        (scenario, shape, policy) for scenario in SCENARIOS for shape in SHAPES for policy in RIVALS
    }


def test_seeds_hold_for_every_stage_and_a_place_for_its_pages(tmp_path: Path) -> None:
    choice = chosen({"SEEDS": "4", "PAGES": str(tmp_path)})
    assert {stage.seeds for stage in plan(choice)} == {(4,)}
    assert choice.pages == tmp_path
    assert {len(stage.seeds) for stage in plan(chosen({}))} >= {AGAINST_PEERS}


def test_heats_hold_every_run_once_whatever_their_layout() -> None:
    cells = [Cell(OURS, name, shape) for name in ("late", "spread-0.3-6") for shape in ("steady", "route-mix")]
    runs = [run for heat in heats(cells, range(1, 4)) for run in heat.runs]
    assert sorted(runs, key=repr) == sorted(((cell, seed) for cell in cells for seed in range(1, 4)), key=repr)


@pytest.mark.parametrize("policy", ["tidegate", "flagger", "kayenta-1m", "iter8"])
def test_a_seed_alone_ends_as_it_did_among_others(policy: str) -> None:
    cells = [Cell(policy, "errors-0.3-20"), Cell(policy, "edge-twice-0.3")]
    (together,) = heats(cells, range(1, 5))
    (alone,) = heats(cells[:1], [3])
    found = {(run.cell, run.seed): run for run in run_heat(together, TUNING)}
    assert run_heat(alone, TUNING) == [found[cells[0], 3]]
