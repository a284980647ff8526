"""What came of many foreseen runs, in numbers and words."""

from typing import Any

import numpy as np
import pytest

from control.engine.foresee import Assumed, foresee, setting
from control.view.simulate import SimulationView, simulation_view, wilson
from tests.support.spec_shifts import parsed

QUICK = "strategy: {bake: {for: 0s}}\n"
STEPS = "strategy: {kind: steps, steps: [1%, 10%, 100%], hold: 30s}\n"


def view(spec: str, *, runs: int = 30, within_s: float = 1200, **given: Any) -> SimulationView:
    shift, assumed = parsed(spec), Assumed(**{"per_s": 50.0, **given})
    found = foresee(shift, assumed, runs=runs, within_s=within_s, rng=np.random.default_rng(1))
    return simulation_view(setting(shift, assumed), found, seed=1, within_s=within_s)


def test_a_bad_version() -> None:
    found = view(QUICK, canary=0.1)
    assert [row.end for row in found.ends] == ["promoted", "rolledBack", "returned", "budgetSpent", "undecided"]
    assert sum(row.runs for row in found.ends) == 30
    back = next(row for row in found.ends if row.end == "rolledBack")
    assert (back.runs, back.chance, back.high) == (30, 1.0, 1.0)
    assert 0.85 < back.low < 0.9
    assert back.seconds is not None
    assert back.seconds.median <= back.seconds.p90
    assert back.canary_failures is not None
    assert back.excess_failures is not None
    assert 0 < back.excess_failures.mean < back.canary_failures.mean
    assert found.headline.startswith("rolled back in 100 % of 30 runs, after ")
    assert found.headline.endswith(" failed requests")
    assert found.blamed[0].test == "outcomes"
    assert sum(each.part for each in found.blamed) == pytest.approx(1)


def test_no_end_that_none_had_has_a_time_or_a_price() -> None:
    row = view(QUICK, canary=0.1).ends[0]
    assert (row.runs, row.chance, row.low) == (0, 0.0, 0.0)
    assert row.seconds is row.canary_requests is row.canary_failures is row.excess_failures is None


def test_a_good_version_costs_nothing_worth_a_number() -> None:
    found = view(STEPS, per_s=200.0)
    assert found.headline == "promoted in 100 % of 30 runs, after 1 min 45 s, at no price"
    assert found.blamed == ()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        pytest.param("", "undecided after 5 min 00 s", id="no deadline"),
        pytest.param("deadline: 1h", "undecided after 5 min 00 s", id="a deadline that is later"),
        pytest.param("deadline: 5m\nstrategy: {bake: {for: 0s}}", "undecided at the deadline, held", id="a deadline"),
        pytest.param("deadline: 5m\nonDeadline: rollback\nstrategy: {bake: {for: 0s}}",
                     "undecided at the deadline, rolled back", id="a deadline that takes it back"),
    ],
)  # fmt: skip
def test_undecided_is_told_with_what_follows(spec: str, sentence: str) -> None:
    found = view(spec, per_s=0.5, within_s=300)
    assert found.ends[-1].sentence == sentence
    assert found.headline.startswith(f"{sentence} in 100 % of 30 runs, ")


def test_a_failed_version_that_is_held_is_called_so() -> None:
    assert view(QUICK + "onFailure: hold", canary=0.2).ends[1].sentence == "found to do harm, and held"


def test_the_plot_is_where_runs_stand() -> None:
    plot = view(STEPS, per_s=200.0).plot
    assert plot.shares == ("100 %", "10 %", "1 %", "0 %")
    assert len(plot.seconds) == 60
    columns = zip(*plot.parts, strict=True)
    assert all(sum(column) == pytest.approx(1) for column in columns)
    assert plot.parts[0][-1] == 1.0
    assert plot.parts[3][0] == 1.0
    assert plot.seconds[-1] == pytest.approx(1.05 * 105)


def test_the_plot_goes_on_while_runs_do() -> None:
    assert view("", per_s=0.5, within_s=300).plot.seconds[-1] == 300


def test_shares_that_no_run_stood_at_are_left_out() -> None:
    plot = view(QUICK, canary=0.5).plot
    assert plot.shares[0] == "100 %"
    assert plot.shares[-1] == "0 %"
    assert "50 %" not in plot.shares


@pytest.mark.parametrize(
    ("spec", "given", "note"),
    [
        pytest.param(STEPS + "rollbackWindow: 0s", {"canary": 0.01, "per_s": 100.0},
                     "Promoted, this version would fail 2,520 more requests an hour.", id="a bad one that is promoted"),
        pytest.param(QUICK, {"retries": 0}, "attempts is not compared: no route repeats a failed try.", id="no tries"),
    ],
)  # fmt: skip
def test_what_people_should_know_besides(spec: str, given: dict[str, Any], note: str) -> None:
    assert any(each.startswith(note) for each in view(spec, within_s=300, **given).notes)


def test_what_is_assumed_is_said() -> None:
    assert view(STEPS, latency_factor=2, canary=0.02).assumed == (
        "50 requests a second",
        "0.3 % of v1's and 2 % of v2's fail",
        "v2 takes 2 times as long",
        "3 processes of each version, 2 retries a request at most",
        "failures that do not clump, of a service that nothing is known of yet",
    )


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        pytest.param(0, 500, 0.0, 0.0076, id="never"),
        pytest.param(500, 500, 0.9924, 1.0, id="always"),
        pytest.param(50, 100, 0.404, 0.596, id="half of them"),
        pytest.param(1, 1, 0.2065, 1.0, id="once"),
    ],
)
def test_bounds_of_a_chance(count: int, of: int, low: float, high: float) -> None:
    assert wilson(count, of) == pytest.approx((low, high), abs=5e-4)
