"""The schedule is fixed beforehand."""

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.loadgen.schedule import Spacing, arrivals


def test_even() -> None:
    assert list(arrivals(4, duration_s=1, spacing=Spacing.EVEN, seed=0)) == [0, 0.25, 0.5, 0.75]


def test_without_duration_it_never_ends() -> None:
    assert list(islice(arrivals(10, duration_s=None, spacing=Spacing.EVEN, seed=0), 1_000))[-1] == 99.9


@given(seed=st.integers(0, 2**31), rate=st.floats(1, 1_000))
def test_poisson_ascends_repeats_by_seed_and_has_the_rate(seed: int, rate: float) -> None:
    times = list(islice(arrivals(rate, duration_s=None, spacing=Spacing.POISSON, seed=seed), 500))
    assert times == list(islice(arrivals(rate, duration_s=None, spacing=Spacing.POISSON, seed=seed), 500))
    assert all(later >= earlier for earlier, later in pairwise(times))
    assert 0.7 < times[-1] * rate / 500 < 1.3


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_an_impossible_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        next(arrivals(rate, duration_s=1, spacing=Spacing.EVEN, seed=0))
