"""The evidence: proved by enumeration, tried by simulation, restored bit for bit."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.codec import decode, encode
from control.engine.counting import (
    GRID,
    HOLD_AT,
    ROLLBACK_AT,
    TOLERATED,
    WORTH_SAYING,
    Evidence,
    Margin,
    Metric,
    MetricEvidence,
    factors,
    fresh,
    log_e_of_poll,
    log_harm,
    log_mean,
    merged,
    weigh,
)
from control.engine.readings import Increments, Tally


def binomial(n: int, p: float) -> np.ndarray:
    """Chances of 0..n bad ones."""
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


@pytest.mark.parametrize("margin", [Margin(1.0, 0.0), Margin(1.1, 0.0005), Margin(2.0, 0.05)], ids=str)
@pytest.mark.parametrize("p_stable", [0.0, 0.003, 0.02, 0.2, 0.45])
@pytest.mark.parametrize(("n_canary", "n_stable"), [(1, 1), (7, 60), (60, 7), (40, 40), (3, 200)])
def test_at_the_margin_no_bet_is_worth_more_than_its_stake(
    margin: Margin, p_stable: float, n_canary: int, n_stable: int
) -> None:
    """All outcomes of both versions, each with its chance: the expectation of every E is at most 1."""
    p_canary = min(1.0, margin.ratio * p_stable + margin.extra)
    bad_c, bad_s = np.arange(n_canary + 1), np.arange(n_stable + 1)
    x, y = (each.ravel() for each in np.meshgrid(bad_c, bad_s, indexing="ij"))
    canary = np.stack([np.full_like(x, n_canary), x], axis=-1)[:, None, :]
    stable = np.stack([np.full_like(y, n_stable), y], axis=-1)[:, None, :]
    chances = np.outer(binomial(n_canary, p_canary), binomial(n_stable, p_stable)).ravel()
    expected = chances @ np.exp(log_e_of_poll(canary, stable, margin))
    assert expected.shape == (len(GRID),)
    assert np.all(expected <= 1 + 1e-9), expected


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5])
def test_retries_of_one_request_count_as_one_bet(p: float) -> None:
    """Up to two retries a request, chance p for each in turn: E^(1/2) is a fair bet although x can exceed n."""
    per_request = np.array([1 - p, p * (1 - p), p * p])
    totals = np.array([1.0])
    for _ in range(6):
        totals = np.convolve(totals, per_request)
    x, y = (each.ravel() for each in np.meshgrid(range(13), range(13), indexing="ij"))
    canary = np.stack([np.full_like(x, 6), x], axis=-1)[:, None, :]
    stable = np.stack([np.full_like(y, 6), y], axis=-1)[:, None, :]
    expected = np.outer(totals, totals).ravel() @ np.exp(log_e_of_poll(canary, stable, Margin(1.0, 0.0), tries=2))
    assert np.all(expected <= 1 + 1e-9), expected


def test_ville_at_the_margin() -> None:
    """4,000 runs of a version just as bad as tolerated, looked at 240 times: few ever reach 20, fewer 100."""
    draw = np.random.default_rng(7)
    runs, polls, p = 4_000, 240, 0.02
    n_c, n_s = np.full((runs, polls), 20), np.full((runs, polls), 180)
    x = draw.binomial(20, TOLERATED.ratio * p + TOLERATED.extra, (runs, polls))
    y = draw.binomial(180, p, (runs, polls))
    log_e = log_e_of_poll(
        np.stack([n_c, x], axis=-1).reshape(-1, 1, 2), np.stack([n_s, y], axis=-1).reshape(-1, 1, 2)
    ).reshape(runs, polls, len(GRID))
    highest = log_mean(np.cumsum(log_e, axis=1)).max(axis=1)
    assert (highest >= math.log(20)).mean() <= 0.05
    assert (highest >= math.log(ROLLBACK_AT)).mean() <= 0.01


def test_a_bad_version_is_found_and_a_good_one_is_not() -> None:
    """0.3 % to 20 % needs some dozen canary requests; the same rate on both sides never does."""
    bad, good = fresh(0), fresh(0)
    for _ in range(30):
        bad = add(bad, canary=Tally(10, 2), stable=Tally(90, 0))
        good = add(good, canary=Tally(10, 0), stable=Tally(90, 1))
    assert bad.log_merged >= math.log(ROLLBACK_AT)
    assert good.log_merged < math.log(HOLD_AT)


def add(evidence: Evidence, *, canary: Tally, stable: Tally, retries: int = 2, stratum: str = "gw") -> Evidence:
    new = Increments({("v2", stratum): canary, ("v1", stratum): stable})
    return weigh(evidence, new, stable="v1", canary="v2", retries=retries)


WORKED = {
    "the share decides the factors": ((410, 14), (3690, 9), 2, 13.73),
    "fourteen of 410 against nine of 3,702": ((410, 14), (3702, 9), 2, 13.7256),
    "no failure is no harm": ((410, 0), (3702, 9), 2, -3.7562),
}


@pytest.mark.parametrize(("canary", "stable", "point", "expected"), WORKED.values(), ids=WORKED.keys())
def test_worked_examples(canary: tuple[int, int], stable: tuple[int, int], point: int, expected: float) -> None:
    assert log_e_of_poll([[canary]], [[stable]])[0, point] == pytest.approx(expected, abs=0.03)


def test_the_factors_of_the_first_example() -> None:
    a, b = factors([410], [3690])
    assert a[0, 2] == pytest.approx(3.48, abs=0.01)
    assert b[0, 2] == pytest.approx(1 - (a[0, 2] - 1) * 1.1 * 410 / 3690)


@given(n_c=st.integers(0, 10**12), n_s=st.integers(0, 10**12))
def test_no_factor_is_negative_at_any_share(n_c: int, n_s: int) -> None:
    a, b = factors([n_c], [n_s])
    assert np.all(a >= 1)
    assert np.all((b >= 0) & (b <= 1))


@pytest.mark.parametrize(
    ("canary", "stable"),
    [((0, 0), (0, 0)), ((10, 10), (0, 0)), ((0, 0), (10, 10))],
    ids=["nothing at all", "no stable traffic", "no canary traffic"],
)
def test_without_both_versions_nothing_is_learned(canary: tuple[int, int], stable: tuple[int, int]) -> None:
    assert np.all(log_e_of_poll([[canary]], [[stable]]) == 0)


counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@settings(deadline=None)
@given(counts, counts)
def test_one_more_failure_only_ever_points_one_way(canary: tuple[int, int], stable: tuple[int, int]) -> None:
    now = log_mean(log_e_of_poll([[canary]], [[stable]]))
    worse_canary = log_mean(log_e_of_poll([[(canary[0], canary[1] + 1)]], [[stable]]))
    worse_stable = log_mean(log_e_of_poll([[canary]], [[(stable[0], stable[1] + 1)]]))
    assert worse_canary >= now
    assert worse_stable <= now


@settings(deadline=None)
@given(counts, counts)
def test_a_poll_of_the_same_mix_may_be_split(canary: tuple[int, int], stable: tuple[int, int]) -> None:
    """Two halves of equal share add up to the whole, as two strata or as two polls."""
    whole = log_e_of_poll([[(2 * canary[0], 2 * canary[1])]], [[(2 * stable[0], 2 * stable[1])]])
    strata = log_e_of_poll([[canary, canary]], [[stable, stable]])
    assert np.allclose(whole, strata)
    assert np.allclose(whole, 2 * log_e_of_poll([[canary]], [[stable]]))


def test_runs_are_independent_rows() -> None:
    canary = [[[40, 3], [10, 0]], [[7, 7], [0, 0]]]
    stable = [[[60, 1], [90, 2]], [[70, 0], [5, 0]]]
    together = log_e_of_poll(canary, stable)
    for run in range(2):
        assert np.array_equal(together[run], log_e_of_poll([canary[run]], [stable[run]])[0])


def test_a_different_mix_of_callers_is_no_difference() -> None:
    """One caller always fails, and the canary sees mostly that one. Strata know; the sum would not."""
    evidence = fresh(0)
    for _ in range(50):
        evidence = add(evidence, canary=Tally(9, 9), stable=Tally(1, 1), stratum="bad caller")
        evidence = add(evidence, canary=Tally(1, 0), stable=Tally(9, 0), stratum="good caller")
    assert evidence.log_merged < math.log(HOLD_AT)


def test_tries_are_watched_only_where_a_route_repeats_them() -> None:
    assert [each.metric for each in fresh(0).metrics] == [Metric.OUTCOMES, Metric.ABANDONED]
    assert [each.metric for each in fresh(2).metrics] == [Metric.OUTCOMES, Metric.ATTEMPTS, Metric.ABANDONED]


def test_tries_stop_counting_when_the_route_stops_repeating() -> None:
    evidence = add(fresh(2), canary=Tally(10, 0, 9), stable=Tally(90, 0, 0))
    assert add(evidence, canary=Tally(10, 0, 9), stable=Tally(90), retries=0).metrics[1] == evidence.metrics[1]


def test_the_metric_that_says_most_is_named() -> None:
    evidence = fresh(2)
    assert evidence.leading.metric is Metric.OUTCOMES
    for _ in range(10):
        evidence = add(evidence, canary=Tally(10, 0, 8), stable=Tally(90))
    assert evidence.leading.metric is Metric.ATTEMPTS
    assert evidence.log_merged == pytest.approx(
        math.log(sum(w * math.exp(log_harm(each)) for w, each in zip((0.4, 0.4, 0.2), evidence.metrics, strict=True))),
        rel=1e-9,
    )


def test_evidence_that_is_told_has_the_numbers_of_the_metric_that_it_comes_from() -> None:
    evidence = add(fresh(2), canary=Tally(20, abandoned=1), stable=Tally(2434))
    assert WORTH_SAYING <= evidence.log_merged < math.log(HOLD_AT)
    assert evidence.leading.metric is Metric.ABANDONED


def test_the_weights_of_the_metrics_that_are_watched_add_up_to_one() -> None:
    for retries in (0, 2):
        assert fresh(retries).log_merged == pytest.approx(0.0, abs=1e-12)
    assert math.exp(merged(np.array([[math.log(90.0), 0.0]]), [0.4, 0.2])[0]) == pytest.approx((2 * 90 + 1) / 3)


def test_callers_who_leave_the_canary_alone_are_evidence() -> None:
    evidence = fresh(2)
    for _ in range(4):
        evidence = add(evidence, canary=Tally(7, abandoned=3), stable=Tally(90, abandoned=0))
    assert evidence.leading.metric is Metric.ABANDONED
    assert evidence.log_merged >= math.log(ROLLBACK_AT)
    assert (evidence.leading.canary_requests, evidence.leading.canary_bad) == (40, 12)


def test_a_version_that_answers_nobody_is_found_by_those_who_left() -> None:
    evidence = fresh(2)
    for _ in range(4):
        evidence = add(evidence, canary=Tally(abandoned=2), stable=Tally(90))
    assert evidence.log_merged >= math.log(ROLLBACK_AT)


def test_callers_who_leave_both_alike_are_none() -> None:
    evidence = fresh(2)
    for _ in range(50):
        evidence = add(evidence, canary=Tally(7, abandoned=3), stable=Tally(63, abandoned=27))
    assert evidence.log_merged < 0


def test_a_poll_without_news_changes_nothing() -> None:
    evidence = add(fresh(2), canary=Tally(10, 1, 1), stable=Tally(90))
    assert weigh(evidence, Increments(), stable="v1", canary="v2", retries=2) == evidence


polls = st.lists(st.tuples(counts, counts, st.integers(0, 30)), max_size=8)


@settings(deadline=None)
@given(before=polls, later=polls)
def test_stored_and_restored_it_goes_on_bit_for_bit(before: list, later: list) -> None:
    def grown(evidence: Evidence, rows: list) -> Evidence:
        for (n, bad), (m, worse), retried in rows:
            evidence = add(evidence, canary=Tally(n, bad, retried), stable=Tally(m, worse, 0))
        return evidence

    kept = grown(fresh(2), before)
    restored = decode(Evidence, json.loads(json.dumps(encode(kept))))
    assert grown(restored, later) == grown(kept, later)


def test_huge_evidence_does_not_overflow() -> None:
    found = MetricEvidence(Metric.OUTCOMES, log_e=(5000.0, 0.0, 0.0, 0.0))
    assert log_harm(found) == pytest.approx(5000 - math.log(4))
    assert Evidence((found,)).log_merged > math.log(ROLLBACK_AT)


def test_the_grid_costs_what_a_mixture_costs() -> None:
    assert log_mean(np.array([[10.0, 0.0, 0.0, 0.0]]))[0] >= 10 - math.log(len(GRID))
