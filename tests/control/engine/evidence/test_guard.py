"""The absolute guard after 100 %: it speaks when the objective is broken, and rarely otherwise."""

import numpy as np
import pytest

from control.engine.evidence.guard import fresh_guard, limit_of, log_broken, weigh_guard
from control.engine.evidence.terms import Margin

BROKEN = np.log(100)
TOLERATED = Margin(1.1, 0.0005)
LIMITS = {
    "the objective": (0.995, 0.003, 0.005),
    "what was tolerated all along, where that is more": (0.9999, 0.0, 0.0005),
    "three times what stable did, where it did not keep the objective": (0.995, 0.02, 0.06),
    "just kept": (0.75, 0.25, 0.2755),
    "all": (0.9, 0.5, 1.0),
}


@pytest.mark.parametrize(("objective", "failing", "limit"), LIMITS.values(), ids=LIMITS.keys())
def test_the_part_of_requests_that_may_fail(objective, failing, limit):
    assert float(limit_of(objective, failing, TOLERATED)) == pytest.approx(limit)


def test_a_service_without_an_objective_swings_without_being_blamed():
    """Rates that rise by 80 % and fall again: what stable did, on the mean, is no promise."""
    chance, guard, most = np.random.default_rng(3), fresh_guard(1000), np.full(1000, -np.inf)
    limit = limit_of(0.995, 0.021, TOLERATED)
    for poll in range(240):
        rate = 0.021 * (1.0 + 0.8 * np.sin(poll / 240 * 2 * np.pi))
        guard = weigh_guard(guard, np.full(1000, 250.0), chance.binomial(250, rate, 1000).astype(float), limit)
        most = np.maximum(most, log_broken(guard))
    assert (most >= BROKEN).mean() <= 0.013


@pytest.mark.parametrize(
    ("polls", "broken"),
    [
        ([(100, 0)] * 50, False),
        ([(100, 1)] * 50, False),
        ([(100, 5)] * 10, True),
        ([(100, 0)] * 200 + [(100, 20)] * 2, True),
        ([(0, 0)] * 50, False),
        ([], False),
    ],
    ids=["no failure", "within the objective", "five times it", "late", "no traffic", "nothing yet"],
)
def test_what_breaks_an_objective_of_99_percent(polls, broken):
    guard = fresh_guard()
    for n, bad in polls:
        guard = weigh_guard(guard, np.array([float(n)]), np.array([float(bad)]), 0.01)
    assert (log_broken(guard)[0] >= BROKEN) is np.bool_(broken)


def test_a_service_that_just_keeps_its_objective_is_rarely_blamed():
    chance, guard, most = np.random.default_rng(2), fresh_guard(4000), np.full(4000, -np.inf)
    for _ in range(240):
        guard = weigh_guard(guard, np.full(4000, 250.0), chance.binomial(250, 0.005, 4000).astype(float), 0.005)
        most = np.maximum(most, log_broken(guard))
    assert (most >= BROKEN).mean() <= 0.013


def test_polls_without_requests_change_nothing():
    before = weigh_guard(fresh_guard(), np.array([100.0]), np.array([3.0]), 0.01)
    after = weigh_guard(before, np.array([0.0]), np.array([0.0]), 0.01)
    assert (after[0] == before[0]).all()
    assert (after[1] == before[1]).all()


def test_dispersion_tempers_it():
    plain = weigh_guard(fresh_guard(), np.array([100.0]), np.array([9.0]), 0.01)
    noisy = weigh_guard(fresh_guard(), np.array([100.0]), np.array([9.0]), 0.01, phi=3.0)
    assert log_broken(noisy)[0] < log_broken(plain)[0]
