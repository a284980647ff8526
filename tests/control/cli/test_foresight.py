"""Plan and simulate: what has not happened yet, from the file alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.local.manifests import SHIFT
from tests.support.cli_control import tidegate
from tests.support.spec_shifts import SHORT

STEPS = "  strategy: {kind: steps, steps: [1%, 5%, 20%, 50%, 100%], hold: 10s}\n"
QUICK = "  strategy: {bake: {for: 0s}}\n"


@pytest.fixture
def by_steps(tmp_path: Path) -> Path:
    return _written(tmp_path / "steps.yaml", STEPS)


@pytest.fixture
def by_evidence(tmp_path: Path) -> Path:
    return _written(tmp_path / "evidence.yaml", QUICK)


def _written(path: Path, strategy: str) -> Path:
    path.write_text(SHORT + strategy, encoding="utf-8")
    return path


def test_plan_of_steps_tells_times_and_requests(by_steps: Path) -> None:
    ran = tidegate("plan", by_steps, "--rate", "200")
    assert ran.code == 0, ran.err
    assert "takes 50 s" in ran.out
    assert "2 of 5  5 %    after 10 s" in ran.out
    assert "TO BE PROVEN" not in ran.out


def test_plan_by_evidence_tells_what_must_be_proven(by_evidence: Path) -> None:
    ran = tidegate("plan", by_evidence, "--rate", "50", "--baseline-errors", "1%")
    assert ran.code == 0, ran.err
    assert "TO BE PROVEN" in ran.out
    assert "  outcomes                1.25 x stable + 0.5 %  1 %" in ran.out
    assert "What would help" not in ran.out


def test_plan_of_thin_traffic_tells_what_would_help(by_evidence: Path) -> None:
    ran = tidegate("plan", by_evidence, "--rate", "0.5")
    assert "What would help, each by itself" in ran.out
    assert "of synthetic load" in ran.out


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_plan_for_machines(by_steps: Path, output: str, read: Any) -> None:
    plan = read(tidegate("plan", by_steps, "-o", output).out)
    assert [step["share"] for step in plan["steps"]] == ["1 %", "5 %", "20 %", "50 %", "100 %"]
    assert plan["needs"] == []


def test_plan_of_the_demos_own_shift() -> None:
    ran = tidegate("plan", SHIFT, "--rate", "200")
    assert ran.code == 0, ran.err
    assert "latency>" in ran.out


def test_simulate_tells_ends_and_draws_where_the_runs_stand(by_evidence: Path) -> None:
    ran = tidegate("simulate", "-f", by_evidence, "--rps", "50", "--canary-errors", "20%", "--runs", "20")
    assert ran.code == 0, ran.err
    assert "rolled back in 100 % of 20 runs" in ran.out
    assert "rolled back  100 % (84-100)" in ran.out
    assert "named first: outcomes" in ran.out
    assert "Share of v2 over time" in ran.out
    assert "█" in ran.out
    assert "0.3 % of v1's and 20 % of v2's fail" in ran.out


def test_simulate_draws_with_plain_signs_where_they_are_asked_for(by_steps: Path) -> None:
    ran = tidegate("--ascii", "simulate", "-f", by_steps, "--rps", "50", "--runs", "5")
    assert ran.code == 0, ran.err
    assert ran.out.isascii()
    assert "  100 % " in ran.out


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_simulate_for_machines(by_steps: Path, output: str, read: Any) -> None:
    words = ("simulate", "-f", by_steps, "--rps", "50", "--runs", "8", "--seed", "3", "-o", output)
    ran = tidegate(*words)
    found = read(ran.out)
    assert (found["runs"], found["seed"]) == (8, 3)
    assert sum(row["runs"] for row in found["ends"]) == 8
    assert found["ends"][0]["seconds"]["median"] > 50
    assert len(found["plot"]["parts"]) == len(found["plot"]["shares"])
    assert ran.out == tidegate(*words).out


def test_simulate_tells_how_far_it_is_where_nobody_reads_data(by_steps: Path) -> None:
    ran = tidegate("simulate", "-f", by_steps, "--rps", "0.1", "--runs", "3", "--within", "5m")
    assert ran.err.splitlines()[0] == "3 runs, 10% done"
    assert "undecided after 5 min 00 s in 100 % of 3 runs" in ran.out


def test_simulate_ends_at_the_deadline(tmp_path: Path) -> None:
    file = _written(tmp_path / "shift.yaml", QUICK + "  deadline: 2m\n")
    assert "undecided at the deadline, held" in tidegate("simulate", "-f", file, "--rps", "1", "--runs", "3").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--rps", "0"], "0 is not between 0.001 and", id="no traffic"),
        pytest.param(["--rps", "50", "--canary-errors", "2"], "'2' is not a part of requests", id="a bare number"),
        pytest.param(["--rps", "50", "--baseline-errors", "120%"], "120% is more than 100%", id="more than all"),
        pytest.param(["--rps", "50", "--runs", "0"], "0 is not in the range", id="no run"),
        pytest.param(
            ["--rps", "50", "--latency-factor", "nan"], "nan is not between 0.01 and 100 times", id="no number"
        ),
        pytest.param(["--rps", "50", "--within", "5"], "'5' is not a duration", id="a time without a unit"),
        pytest.param([], "--rps", id="no rate"),
    ],
)
def test_what_can_t_be_simulated_is_bad_input(by_steps: Path, words: list[str], said: str) -> None:
    ran = tidegate("simulate", "-f", by_steps, *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_shift_that_would_not_begin_is_not_foreseen(tmp_path: Path) -> None:
    file = _written(tmp_path / "shift.yaml", QUICK + "  budget: 1\n")
    planned = tidegate("plan", file, "--rate", "50")
    refused = "would not begin: a budget of 1 failed request is too small, "
    assert refused in planned.out.splitlines()[0]
    assert "takes" not in planned.out
    ran = tidegate("simulate", "-f", file, "--rps", "50")
    assert (ran.code, ran.out) == (2, "")
    assert refused in ran.err


def test_simulate_of_a_bad_manifest_shows_its_mistakes(tmp_path: Path) -> None:
    bad = _written(tmp_path / "bad.yaml", "  alpha: 50%\n  budget: 0\n")
    ran = tidegate("simulate", "-f", bad, "--rps", "50")
    assert (ran.code, ran.out) == (2, "")
    assert f"{bad}:8:10: " in ran.err
    assert f"{bad}:9:11: " in ran.err
