"""The arithmetic of one poll: every outcome enumerated, and the laws that the proof and a reader rely on."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from control.engine.evidence.bets import (
    HARM_GRID,
    PROOF_GRID,
    UPPER_GRID,
    log_e,
    log_e_of_block,
    log_factors,
    log_kept,
    log_mean,
    log_start,
)

MARGINS = [(1.1, 0.0005), (1.0, 0.0), (1.25, 0.005)]
SIZES = [(7, 20), (30, 30), (60, 600), (200, 25), (600, 120)]
RATES = [0.0, 0.003, 0.021, 0.1, 0.3, 0.6]


def expectation(n_c: int, n_s: int, p_c: float, p_s: float, margin: tuple[float, float], grid: tuple[float, ...]):
    """E over both binomials of each bet of the grid."""
    x, y = np.arange(n_c + 1.0), np.arange(n_s + 1.0)
    canary = np.stack(np.broadcast_arrays(n_c * 1.0, x[:, None] + 0 * y), -1)[..., None, :]
    stable = np.stack(np.broadcast_arrays(n_s * 1.0, y[None, :] + 0 * x[:, None]), -1)[..., None, :]
    chance = binom.pmf(x, n_c, p_c)[:, None] * binom.pmf(y, n_s, p_s)[None, :]
    return (chance[..., None] * np.exp(log_e(canary, stable, *margin, grid))).sum(axis=(0, 1))


@pytest.mark.parametrize("margin", MARGINS, ids=str)
@pytest.mark.parametrize(("sizes", "p_s"), list(product(SIZES, RATES)), ids=str)
def test_no_bet_gains_at_the_edge_of_what_it_claims(sizes, p_s, margin):
    edge = min(1.0, margin[0] * p_s + margin[1])
    if margin[0] * p_s + margin[1] <= 1.0:
        assert expectation(*sizes, edge, p_s, margin, PROOF_GRID).max() <= 1 + 1e-9
    assert expectation(*sizes, edge, p_s, margin, HARM_GRID).max() <= 1 + 1e-9


@pytest.mark.parametrize("within", [0.0, 0.5, 0.9])
def test_no_bet_on_harm_gains_within_what_is_tolerated(within):
    for sizes, p_s, margin in product(SIZES, RATES, MARGINS):
        tolerated = min(1.0, margin[0] * p_s + margin[1])
        assert expectation(*sizes, within * tolerated, p_s, margin, HARM_GRID).max() <= 1 + 1e-9


@pytest.mark.parametrize("beyond", [1.1, 2.0, 5.0])
def test_no_bet_on_being_no_worse_gains_outside_the_proven_margin(beyond):
    for sizes, p_s, margin in product(SIZES, RATES, MARGINS):
        outside = min(1.0, beyond * (margin[0] * p_s + margin[1]))
        if outside >= margin[0] * p_s + margin[1]:
            assert expectation(*sizes, outside, p_s, margin, PROOF_GRID).max() <= 1 + 1e-9


def test_a_bet_on_harm_gains_when_there_is_harm():
    assert expectation(60, 600, 0.1, 0.003, MARGINS[0], HARM_GRID).min() > 1


def test_retries_of_one_request_up_to_its_tries_do_not_make_a_bet_gain():
    """X in 0..2 a request, E^(1/2): enumerated for requests that are tried once more or twice more together."""
    n_c, n_s, tries, p_s = 12, 40, 2, 0.05
    edge = 1.1 * 2 * p_s + 0.0005
    for grid, p_c in ((HARM_GRID, edge / 2), (PROOF_GRID, edge / 2)):
        x, y = np.arange(n_c + 1.0), np.arange(n_s + 1.0)
        canary = np.stack(np.broadcast_arrays(n_c * 1.0, 2 * x[:, None] + 0 * y), -1)[..., None, :]
        stable = np.stack(np.broadcast_arrays(n_s * 1.0, 2 * y[None, :] + 0 * x[:, None]), -1)[..., None, :]
        chance = binom.pmf(x, n_c, p_c)[:, None] * binom.pmf(y, n_s, p_s)[None, :]
        gained = np.exp(log_e(canary, stable, 1.1, 0.0005, grid) / tries)
        assert (chance[..., None] * gained).sum(axis=(0, 1)).max() <= 1 + 1e-9


counts = st.tuples(st.integers(1, 5000), st.integers(1, 5000), st.integers(0, 50), st.integers(0, 50))


@given(counts)
def test_one_more_failure_never_points_the_wrong_way(found):
    n_c, n_s, x, y = found
    here = log_e(np.array([[n_c, x]]), np.array([[n_s, y]]), 1.1, 0.0005, HARM_GRID)
    more_canary = log_e(np.array([[n_c, x + 1]]), np.array([[n_s, y]]), 1.1, 0.0005, HARM_GRID)
    more_stable = log_e(np.array([[n_c, x]]), np.array([[n_s, y + 1]]), 1.1, 0.0005, HARM_GRID)
    assert (more_canary >= here).all()
    assert (more_stable <= here).all()


@given(counts, st.integers(2, 9))
def test_a_poll_split_at_the_same_share_says_the_same(found, parts):
    n_c, n_s, x, y = found
    whole = log_e(np.array([[n_c * parts, x * parts]]), np.array([[n_s * parts, y * parts]]), 1.1, 0.0005, UPPER_GRID)
    part = log_e(np.array([[n_c, x]]), np.array([[n_s, y]]), 1.1, 0.0005, UPPER_GRID)
    assert whole == pytest.approx(part * parts, rel=1e-9, abs=1e-6)


@given(counts)
def test_strata_of_one_share_say_what_they_say_together(found):
    n_c, n_s, x, y = found
    apart = log_e(np.array([[n_c, x], [n_c, x]]), np.array([[n_s, y], [n_s, y]]), 1.1, 0.0005, HARM_GRID)
    together = log_e(np.array([[2 * n_c, 2 * x]]), np.array([[2 * n_s, 2 * y]]), 1.1, 0.0005, HARM_GRID)
    assert apart == pytest.approx(together, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(("canary", "stable"), [(0, 0), (0, 100), (100, 0)])
def test_a_version_without_requests_teaches_nothing(canary, stable):
    for grid in (HARM_GRID, PROOF_GRID):
        assert (log_e(np.array([[canary, 0]]), np.array([[stable, 0]]), 1.1, 0.0005, grid) == 0).all()


@pytest.mark.parametrize(
    ("canary", "stable", "expected"),
    [((410, 14), (3702, 9), 13.7), ((410, 0), (3702, 9), -3.8)],
    ids=["fourteen failures", "none"],
)
def test_the_examples_of_the_docstring(canary, stable, expected):
    assert log_e(np.array([canary]), np.array([stable]), 1.1, 0.0005, (5.0,)) == pytest.approx([expected], abs=0.15)


def test_a_mix_of_senders_is_no_difference_between_versions():
    """A caller that always fails half of its requests prefers the canary by mere routing (Simpson)."""
    canary = np.array([[1000, 500], [100, 1]])
    stable = np.array([[1000, 500], [9000, 90]])
    assert log_mean(log_e(canary, stable, 1.1, 0.0005, HARM_GRID)) < 0
    assert log_mean(log_e(canary.sum(0, keepdims=True), stable.sum(0, keepdims=True), 1.1, 0.0005, HARM_GRID)) > 50


@given(st.integers(1, 40), st.floats(0.01, 0.9))
def test_the_averaging_bet_is_fair_for_clumps_of_any_size(clump, share):
    """One clump goes to the canary as a whole with its share: at the edge, the expectation is 1."""
    log_a, log_b, _ = log_factors(share, 1 - share, 1.0, HARM_GRID)
    none, all_of_it = np.array(0.0), np.array(float(clump))
    canary_has_it = np.exp(log_e_of_block(all_of_it, none, log_a, log_b))
    stable_has_it = np.exp(log_e_of_block(none, all_of_it, log_a, log_b))
    assert (share * canary_has_it + (1 - share) * stable_has_it).max() <= 1 + 1e-9


def test_stakes_laid_over_time_are_one_stake():
    polls = np.arange(1.0, 2001.0)
    laid = np.exp(log_start(polls)).cumsum()
    assert laid + np.exp(log_kept(polls)) == pytest.approx(np.ones(2000))
