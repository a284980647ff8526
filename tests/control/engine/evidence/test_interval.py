"""The bounds of a difference: their bets can't be expected to win, and they cover at all looks together."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from control.engine.evidence import Poll, Prior, Terms, fresh
from control.engine.evidence.interval import ABOVE, BELOW, Sums, fresh_interval, interval, log_ratio, widen
from control.engine.evidence.tide import CAP
from tests.support import polls
from tests.support.polls import one_test, terms

ONE = terms()
TWO = terms(one_test(), one_test("attempts", tries=3))
COUNTS = st.integers(0, 500).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def poll(canary: Any, stable: Any, **flags: bool) -> Poll:
    """Of one stratum. Units: `canary`, `stable` of shape (runs, tests, 2), or (tests, 2) for one run."""
    arms = [np.asarray(arm, float)[..., None, :] for arm in (canary, stable)]
    made = polls.poll(*(arm if arm.ndim == 4 else arm[None] for arm in arms))
    return replace(made, **{name: np.full(len(made.harm), value) for name, value in flags.items()})


def summed(*seen: Poll, of: Terms = ONE, phi: float = 1.0) -> Sums:
    known = replace(
        of, tests=tuple(replace(test, prior=Prior(phi=phi, weight=1e9, reference=1e9)) for test in of.tests)
    )
    sums = fresh_interval(known, len(seen[0].harm))
    for each in seen:
        sums = widen(known, fresh(known, len(each.harm)), sums, each)
    return sums


def found(*seen: Poll, of: Terms = ONE, phi: float = 1.0) -> tuple[float, float, float]:
    """Low, estimate and high of the first test, in percent."""
    difference = interval(of, summed(*seen, of=of, phi=phi))
    return tuple(round(float(each[0, 0]) * 100, 2) for each in (difference.low, difference.estimate, difference.high))  # type: ignore[return-value]


@pytest.mark.parametrize("phi", [1.0, 2.0])
@pytest.mark.parametrize(("n_c", "n_s"), [(5, 5), (3, 20), (20, 3)])
@pytest.mark.parametrize("q", [0.0, 0.02, 0.3, 0.9])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_no_bet_can_be_expected_to_win(n_c: int, n_s: int, p: float, q: float, phi: float) -> None:
    """Every outcome of both binomials, one run each: the true difference is refuted by none of the factors."""
    x, y = (each.ravel() for each in np.meshgrid(np.arange(n_c + 1), np.arange(n_s + 1)))
    counts = [np.stack([np.full(len(x), n), bad], axis=-1)[:, None, :] for n, bad in ((n_c, x), (n_s, y))]
    sums = summed(poll(*counts), phi=phi)
    chance = binom.pmf(x, n_c, p) * binom.pmf(y, n_s, q)
    for part in (sums.below, sums.above):
        expected = (chance[:, None] * np.exp(part[:, 0, :, 0] + part[:, 0, :, 1] * (p - q))).sum(axis=0)
        assert (expected <= 1 + 1e-9).all()


CASES = {
    "alike": (0.003, 0.003, 250, (0.1,)),
    "worse": (0.02, 0.003, 250, (0.1,)),
    "better": (0.003, 0.02, 250, (0.5,)),
    "half of them slow": (0.5, 0.5, 250, (0.2,)),
    "while the share grows": (0.01, 0.003, 250, (0.01, 0.01, 0.01, 0.1, 0.1, 0.5)),
    "never a failure of the canary": (0.0, 0.01, 250, (0.2,)),
}


@pytest.mark.parametrize(("p", "q", "n", "shares"), CASES.values(), ids=CASES.keys())
def test_both_bounds_cover_at_all_looks_together(p: float, q: float, n: int, shares: tuple[float, ...]) -> None:
    """Nominal 95 % in 500 runs of 120 looks; the difference drifts with the hour around its mean."""
    draw, runs = np.random.default_rng(5), 500
    nothing, sums, missed = fresh(ONE, runs), fresh_interval(ONE, runs), np.zeros(runs, bool)
    for look in range(120):
        shift = min(p, q) * 0.8 * np.sin(look / 10)
        n_c = draw.binomial(n, shares[look * len(shares) // 120], runs)
        counts = [(n_c, p + shift), (n - n_c, q + shift)]
        arms = [np.stack([m, draw.binomial(m, rate)], axis=-1)[:, None, :] for m, rate in counts]
        sums = widen(ONE, nothing, sums, poll(*arms))
        difference = interval(ONE, sums)
        missed |= (difference.low[:, 0] > p - q + 1e-12) | (difference.high[:, 0] < p - q - 1e-12)
    assert missed.mean() <= 0.05 + 1.96 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("canary", "stable", "said"),
    [
        pytest.param((1000, 0), (9000, 0), (-0.07, 0.0, 0.55), id="no failure at all"),
        pytest.param((2500, 50), (22500, 68), (0.88, 1.7, 2.84), id="worse"),
        pytest.param((2500, 50), (2500, 50), (-1.35, 0.0, 1.35), id="alike at half"),
        pytest.param((0, 0), (0, 0), (-100, np.nan, 100), id="nothing counted"),
        pytest.param((50, 10), (0, 0), (-100, np.nan, 100), id="no stable to compare with"),
        pytest.param((0, 0), (50, 10), (-100, np.nan, 100), id="no canary"),
        pytest.param((1e12, 1e10), (1e12, 1e10), (-0.01, 0.0, 0.01), id="very many"),
        pytest.param((10, 10), (10, 0), (13.82, 100.0, 100.0), id="nothing but failures"),
    ],
)
def test_what_is_said_of_one_poll(
    canary: tuple[float, float], stable: tuple[float, float], said: tuple[float, float, float]
) -> None:
    assert found(poll([canary], [stable])) == pytest.approx(said, abs=0.01, nan_ok=True)


def test_a_share_that_grows_while_the_rates_fall_is_no_difference() -> None:
    early, late = poll([(100, 10)], [(9900, 990)]), poll([(5000, 50)], [(5000, 50)])
    low, estimate, high = found(early, late)
    assert estimate == 0.0
    assert low < 0 < high


@example((4, 0), (1, 1))
@given(COUNTS, COUNTS)
def test_the_estimate_is_within_and_swapped_versions_mirror_it(
    canary: tuple[int, int], stable: tuple[int, int]
) -> None:
    difference = interval(ONE, summed(poll([canary], [stable])))
    swapped = interval(ONE, summed(poll([stable], [canary])))
    low, high = difference.low[0, 0], difference.high[0, 0]
    assert -1.0 <= low <= high <= 1.0
    assert np.isnan(difference.estimate[0, 0]) or low <= difference.estimate[0, 0] <= high
    assert swapped.high[0, 0] == pytest.approx(-low, abs=1e-9)


@pytest.mark.parametrize(
    ("flags", "bounded"),
    [
        ({}, (True, True)),
        ({"proof": False}, (True, False)),
        ({"harm": False}, (False, True)),
        ({"warm": True}, (True, True)),
    ],
    ids=["counts", "may not prove", "may not convict", "warming up"],
)
def test_only_what_counts_bounds(flags: dict[str, bool], bounded: tuple[bool, bool]) -> None:
    low, _, high = found(poll([(1000, 100)], [(1000, 10)], **flags))
    assert (low > -100, high < 100) == bounded


def test_warming_up_is_part_of_the_difference_but_not_of_what_releases_are_like() -> None:
    cold, warm = poll([(100, 50)], [(100, 1)], warm=True), poll([(1000, 10)], [(1000, 10)])
    assert found(cold, warm)[1] == pytest.approx(100 * (0.49 * 50) / 550, abs=0.01)
    assert log_ratio(summed(cold, warm), np.ones((1, 1)))[0][0, 0] == pytest.approx(0.0)


def test_clumps_and_tries_make_the_bounds_wider() -> None:
    counts = poll([(2500, 50)] * 2, [(22500, 68)] * 2)
    difference = interval(TWO, summed(counts, of=TWO))
    assert difference.high[0, 1] > difference.high[0, 0]
    assert found(counts, phi=4.0)[2] > found(counts)[2]
    assert BELOW[0] == 1 / ABOVE[0] > 0
    assert max(ABOVE) > CAP


def test_a_split_poll_says_the_same() -> None:
    whole = found(poll([(2000, 20)], [(8000, 40)]))
    assert found(poll([(1000, 13)], [(4000, 15)]), poll([(1000, 7)], [(4000, 25)])) == whole


def test_it_is_stored_bit_for_bit() -> None:
    sums = summed(poll([(1000, 3)] * 2, [(9000, 7)] * 2), poll([(10, 0)] * 2, [(90, 1)] * 2), of=TWO)
    back = Sums.of(TWO, sums.numbers())
    for name in ("below", "above", "weighted"):
        assert getattr(back, name).tobytes() == getattr(sums, name).tobytes()
    assert len(sums.numbers()) == 31 * len(TWO.tests)
    with pytest.raises(ValueError, match="62 numbers are no sums of 1 tests"):
        Sums.of(ONE, sums.numbers())


@pytest.mark.parametrize(
    ("counts", "ratio", "variance"),
    [
        pytest.param([((410, 14), (3702, 9))], 12.86, 0.1717, id="one poll"),
        pytest.param(
            [((100, 10), (9900, 990)), ((5000, 50), (5000, 50))], 1.0, 0.0286, id="falling rates, rising share"
        ),
        pytest.param([((1000, 0), (9000, 100))], 0.0089, 10.0, id="none of the canary"),
        pytest.param([((1000, 0), (9000, 0))], 1.0, 11.1, id="none at all"),
        pytest.param([((0, 0), (9000, 100))], np.nan, np.nan, id="nothing compared"),
    ],
)
def test_the_ratio_of_the_rates(counts: list[Any], ratio: float, variance: float) -> None:
    sums = summed(*(poll([canary], [stable]) for canary, stable in counts))
    found, spread = log_ratio(sums, np.ones((1, 1)))
    assert np.exp(found[0, 0]) == pytest.approx(ratio, rel=0.01, nan_ok=True)
    assert spread[0, 0] == pytest.approx(variance, rel=0.01, nan_ok=True)
    assert log_ratio(sums, np.full((1, 1), 4.0))[1][0, 0] == pytest.approx(4 * variance, rel=0.01, nan_ok=True)
