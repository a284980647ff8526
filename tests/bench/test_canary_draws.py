"""Do counts that a number between 0 and 1 stands for have the distribution that they should?"""

import numpy as np
import pytest
from scipy import stats

from tests.bench.canary.draws import LARGE, binomial, clumped, poisson
from tests.bench.canary.luck import Luck

U = Luck.of([("draws", seed) for seed in range(20)]).uniform(1, 0, (2000,))
V = Luck.of([("draws", seed) for seed in range(20)]).uniform(2, 0, (2000,))


def test_luck_is_uniform_and_of_one_name() -> None:
    """Means and variances of uniform numbers; another channel, poll or name has nothing to do with them."""
    assert stats.kstest(U.ravel(), "uniform").pvalue > 0.001
    assert abs(np.corrcoef(U.ravel(), V.ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(U[0], U[1])[0, 1]) < 0.08


@pytest.mark.parametrize("mean", [0.01, 0.3, 2.0, LARGE - 0.01, LARGE, 12.0, 400.0])
def test_poisson_has_its_mean_variance_and_quantiles(mean: float) -> None:
    found = poisson(U, np.array(mean))
    assert found.mean() == pytest.approx(mean, rel=0.02, abs=0.003)
    assert found.var() == pytest.approx(mean, rel=0.05, abs=0.003)
    assert np.abs(found - stats.poisson.ppf(U, mean)).max() <= (0 if mean < LARGE else 1)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.4), (20, 0.003), (20, 0.9), (200, 0.021), (500, 0.0), (5000, 0.02), (300, 1.0)]
)
def test_binomial_has_its_mean_variance_and_bounds(n: int, p: float) -> None:
    found = binomial(U, np.array(float(n)), np.array(p))
    assert found.mean() == pytest.approx(n * p, rel=0.02, abs=0.003)
    assert found.var() == pytest.approx(n * p * (1 - p), rel=0.06, abs=0.003)
    assert found.min() >= 0
    assert found.max() <= n


@pytest.mark.parametrize("size", [1.0, 5.0, 20.0])
def test_clumps_have_their_size_and_at_least_one_event(size: float) -> None:
    """Sizes are geometric: variance size * (size - 1)."""
    found = clumped(U, V, np.full(U.shape, 4.0), np.array(size))
    assert found.min() >= 4
    assert found.mean() == pytest.approx(4 * size, rel=0.02)
    assert found.var() == pytest.approx(4 * size * (size - 1), rel=0.06, abs=1e-9)


def test_no_clump_has_no_event() -> None:
    assert not clumped(U, V, np.zeros(U.shape), np.array(5.0)).any()
