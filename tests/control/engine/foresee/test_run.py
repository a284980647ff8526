"""How a shift would go: its ends, its times and its price, by evidence and by fixed steps."""

from typing import Any

import numpy as np
import pytest

from control.engine.foresee import UNNAMED, Assumed, End, Foreseen, foresee, setting
from tests.support.spec_shifts import parsed

STEPS = "strategy: {kind: steps, steps: [1%, 10%, 100%], hold: 30s, minRequests: 20}\n"
QUICK = "strategy: {bake: {for: 0s}}\n"


def go(spec: str = "", *, runs: int = 40, within_s: float = 1800, seed: int = 1, **given: Any) -> Foreseen:
    return foresee(
        parsed(spec), Assumed(**{"per_s": 50.0, **given}), runs=runs, within_s=within_s, rng=np.random.default_rng(seed)
    )


def part(found: Foreseen, end: End) -> float:
    return float((found.end == end).mean())


ENDS = {
    "a good version is promoted": (QUICK, {}, End.PROMOTED),
    "one that fails more is rolled back": (QUICK, {"canary": 0.02}, End.ROLLED_BACK),
    "one that fails every time": (QUICK, {"canary": 1.0}, End.ROLLED_BACK),
    "one that is slow": (QUICK, {"latency_factor": 2}, End.ROLLED_BACK),
    "one that costs more than it may, before anything is proven": (
        "budget: 6\nalpha: 0.0001%\n", {"canary": 0.02}, End.SPENT),
    "too little traffic": ("", {"per_s": 0.5}, End.GOING),
    "a good one by steps": (STEPS, {}, End.PROMOTED),
    "a bad one by steps": (STEPS, {"canary": 0.2}, End.ROLLED_BACK),
    "a bad one by steps that the traffic can't tell": (STEPS, {"canary": 0.05, "per_s": 5.0}, End.RETURNED),
    "one that never has enough requests": (STEPS, {"per_s": 0.5}, End.GOING),
    "a window of no time returns nothing": (STEPS + "rollbackWindow: 0s", {"canary": 0.05, "per_s": 5.0}, End.PROMOTED),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "given", "end"), ENDS.values(), ids=ENDS.keys())
def test_most_runs_end_as_they_should(spec: str, given: dict[str, Any], end: End) -> None:
    assert part(go(spec, **given), end) >= 0.8


def test_the_same_seed_is_the_same_luck() -> None:
    one, same, other = (go(QUICK, canary=0.02, seed=seed) for seed in (1, 1, 2))
    assert (one.seconds == same.seconds).all()
    assert (one.failed == same.failed).all()
    assert (one.changes == same.changes).all()
    assert not (one.failed == other.failed).all()


def test_by_steps_each_step_lasts_its_hold_and_longer_for_enough_requests() -> None:
    found = go(STEPS, per_s=200.0)
    assert set(found.seconds[found.end == End.PROMOTED]) == {5 + 30 + 5 + 30 + 5 + 30}
    assert [float(np.median(found.entered(share))) for share in (0.01, 0.1, 1)] == [5, 40, 75]
    thin = go(STEPS, per_s=10.0)
    assert np.nanmedian(thin.entered(0.1)) == pytest.approx(200, abs=60)


def test_a_bake_is_waited_for() -> None:
    with_bake, without = go("strategy: {bake: {for: 10m}}"), go(QUICK)
    assert (with_bake.end == End.PROMOTED).all()
    assert with_bake.seconds.min() > 600
    assert np.median(with_bake.seconds) > np.median(without.seconds)


def test_what_is_counted_when_it_ends_is_told_later() -> None:
    mesh, prometheus = (go(QUICK + f"source: {source}", canary=0.1) for source in ("mesh", "prometheus"))
    assert np.median(prometheus.seconds) > np.median(mesh.seconds)
    assert prometheus.excess.mean() > mesh.excess.mean()


def test_nothing_is_decided_while_a_process_warms_up() -> None:
    warm, cold = go(QUICK + "warmUp: 3m"), go(QUICK)
    assert np.nanmin(warm.entered(0.02)) >= 180
    assert np.nanmin(cold.entered(0.02)) < 180


def test_the_price_is_what_was_sent_and_failed() -> None:
    found = go(QUICK, canary=0.05, runs=200)
    assert found.failed.sum() / found.requests.sum() == pytest.approx(0.05, rel=0.1)
    assert found.excess == pytest.approx(found.failed - 0.003 * found.requests)


def test_the_metric_that_did_most_is_named() -> None:
    at = setting(parsed(QUICK), Assumed(50.0))
    names = [test.metric for test in at.terms.tests]
    slow, failing = go(QUICK, latency_factor=3), go(QUICK, canary=0.2)
    assert {names[test] for test in slow.leading[slow.end == End.ROLLED_BACK]} == {"latency"}
    assert names[np.bincount(failing.leading[failing.end == End.ROLLED_BACK]).argmax()] == "outcomes"
    assert set(go(QUICK).leading) == {UNNAMED}


def test_where_every_run_stands_at_each_moment() -> None:
    found = go(QUICK, canary=0.05, within_s=1200)
    moments = np.arange(0.0, 1200.0, 5.0)
    shares = found.shares_at(moments)
    rungs = {0.0, *(float(each) for each in parsed(QUICK).strategy.shares)}
    assert set(np.unique(shares)) <= rungs
    assert (shares[0] == 0).all()
    back = found.end == End.ROLLED_BACK
    assert (shares[:, back][moments[:, None] > found.seconds[None, back] + 5] == 0).all()
    still = go("", per_s=0.5, within_s=300).shares_at(np.array([299.0]))
    assert (still > 0).all()


def test_a_canary_that_has_everything_has_it_from_then_on() -> None:
    found = go(STEPS, runs=20)
    full = found.entered(1.0)
    assert (found.shares_at(np.array([float(full.max())]))[0][found.end == End.PROMOTED] == 1).all()


def test_progress_is_told_from_nothing_to_all() -> None:
    told: list[float] = []
    rng = np.random.default_rng(1)
    foresee(parsed(STEPS), Assumed(50.0), runs=5, within_s=600, rng=rng, told=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert all(0 <= each <= 1 for each in told)


def test_progress_is_told_to_the_end_where_nothing_is_decided() -> None:
    told: list[float] = []
    foresee(parsed(""), Assumed(0.1), runs=2, within_s=100, rng=np.random.default_rng(1), told=told.append)
    assert told[-1] == 1.0


def test_false_rollbacks_are_no_more_than_promised() -> None:
    found = go("alpha: 5%\nstrategy: {bake: {for: 0s}}", runs=400)
    assert part(found, End.ROLLED_BACK) <= 0.05
    assert part(found, End.PROMOTED) >= 0.9
