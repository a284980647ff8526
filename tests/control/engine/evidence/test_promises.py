"""The promises of a whole run, by simulation at the edge of what they are about (Ville's inequality)."""

import numpy as np
import pytest
from scipy.stats import binomtest

from control.engine.evidence import findings, fresh, weigh
from tests.support.polls import one_test, poll, terms

RUNS, POLLS = 4000, 240


def at_the_edge(p_s: float, p_c: float, *, share: float = 0.1, requests: int = 250, seed: int = 11):
    """The largest evidence of each run, for harm and for being no worse, looked at in every poll."""
    of, chance = terms(one_test()), np.random.default_rng(seed)
    tide = fresh(of, RUNS)
    most = np.full((2, RUNS), -np.inf)
    for _ in range(POLLS):
        n_c = chance.binomial(requests, share, RUNS)
        canary = np.stack([n_c, chance.binomial(n_c, p_c)], -1)[:, None, None]
        stable = np.stack([requests - n_c, chance.binomial(requests - n_c, p_s)], -1)[:, None, None]
        tide = weigh(of, tide, poll(canary, stable))
        found = findings(of, tide)
        most = np.maximum(most, [found.log_total, found.log_proof[:, 0]])
    return most


def upper_of(hits: int) -> float:
    return float(binomtest(hits, RUNS).proportion_ci(method="wilson").high)


@pytest.mark.parametrize("p_s", [0.003, 0.021])
def test_a_version_at_the_tolerated_edge_is_rarely_called_harmful(p_s):
    harm, _ = at_the_edge(p_s, 1.1 * p_s + 0.0005)
    assert upper_of(int((harm >= np.log(20)).sum())) <= 0.05
    assert upper_of(int((harm >= np.log(100)).sum())) <= 0.01


@pytest.mark.parametrize("p_s", [0.003, 0.021])
def test_a_version_at_the_proven_edge_is_rarely_called_good(p_s):
    _, proof = at_the_edge(p_s, 1.25 * p_s + 0.005)
    assert upper_of(int((proof >= np.log(20)).sum())) <= 0.05


def test_the_promises_are_not_kept_by_never_deciding():
    harm, _ = at_the_edge(0.003, 0.02)
    _, proof = at_the_edge(0.003, 0.003)
    assert (harm >= np.log(100)).mean() > 0.99
    assert (proof >= np.log(20)).mean() > 0.95
