"""Dispersion: 1 for independent requests, large for clumps, blind to a process that is always worse."""

from dataclasses import fields

import numpy as np
import pytest

from control.engine.evidence import Prior
from control.engine.evidence.dispersion import (
    MOST,
    Dispersion,
    at_volume,
    fresh_dispersion,
    in_all,
    measured,
    own_reference,
    phi,
)
from control.engine.evidence.terms import columns
from tests.support.polls import one_test, terms

UNKNOWN = columns(terms(one_test(prior=Prior())))
RUNS, PROCESSES, POLLS = 60, 8, 360


def seen(events, *, requests=50, processes=PROCESSES, polls=POLLS, seed=3):
    """What `events(chance, requests array, poll)` of each poll and process leave behind."""
    chance = np.random.default_rng(seed)
    found = fresh_dispersion(RUNS, 1, processes)
    for number in range(polls):
        n = np.full((RUNS, 1, processes), float(requests))
        bad = np.minimum(events(chance, n, number), n)
        found = measured(found, np.stack([n, bad], -1))
    return found


def independent(chance, n, _):
    return chance.binomial(n.astype(int), 0.02)


def clumps_of_five(chance, n, _):
    """Geometric clumps of mean 5: variance over mean is 2 * 5 - 1 = 9."""
    clumps = chance.poisson(n * 0.02 / 5)
    return chance.negative_binomial(np.maximum(clumps, 1), 0.2) * (clumps > 0) + clumps


def worse_processes(chance, n, _):
    return chance.binomial(n.astype(int), 0.02 * np.linspace(0.4, 1.6, n.shape[-1]))


def one_outage_for_all(chance, n, number):
    return chance.binomial(n.astype(int), 0.2 if 100 < number < 172 else 0.02)


def noisy_minutes(chance, n, number):
    """Each process has good and bad minutes of its own, 12 polls long."""
    level = np.random.default_rng(number // 12).lognormal(-0.3, 0.8, n.shape)
    return chance.binomial(n.astype(int), np.minimum(0.02 * level, 1))


@pytest.mark.parametrize(
    ("events", "low", "high"),
    [
        (independent, 1.0, 1.1),
        (worse_processes, 1.0, 1.3),
        (one_outage_for_all, 1.0, 1.15),
        (clumps_of_five, 7.0, 11.0),
        (noisy_minutes, 3.0, 30.0),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_the_dispersion_of(events, low, high):
    assert low <= float(np.median(phi(seen(events), UNKNOWN))) <= high


def test_it_is_what_earlier_shifts_say_until_something_is_seen():
    nothing = fresh_dispersion(1, 1, 8)
    assert phi(nothing, UNKNOWN)[0, 0] == 2.0
    assert phi(nothing, columns(terms(one_test(prior=Prior(phi=5.0, weight=80)))))[0, 0] == 5.0


def test_history_outweighs_a_few_minutes():
    known = columns(terms(one_test(prior=Prior(phi=9.0, weight=2000))))
    assert phi(seen(independent, polls=60), known).min() > 6


def test_what_is_rare_takes_what_another_test_of_the_service_shows():
    """Two tests: one with many clumps, one that has shown nothing yet; known ones keep what they are known for."""
    of_clumps = seen(clumps_of_five)
    both = Dispersion(
        *(
            np.concatenate([part, np.zeros_like(part)], axis=1) if part.ndim > 1 else part
            for part in (getattr(of_clumps, each.name) for each in fields(Dispersion))
        )
    )
    unknown = columns(terms(one_test(prior=Prior()), one_test("attempts", prior=Prior())))
    assert phi(both, unknown)[:, 1] == pytest.approx(phi(both, unknown)[:, 0], rel=0.01)
    known = columns(terms(one_test(prior=Prior()), one_test("attempts", prior=Prior(phi=1.5, weight=80))))
    assert (phi(both, known)[:, 1] == 1.5).all()


def test_noise_that_releases_showed_multiplies_it():
    shared = columns(terms(one_test(prior=Prior(phi=1.5, weight=80, common=4.0))))
    assert in_all(np.array([[1.5]]), shared)[0, 0] == 6.0
    assert in_all(np.array([[150.0]]), shared)[0, 0] == MOST


def test_it_is_never_below_one():
    even = seen(lambda chance, n, _: np.ones_like(n))
    assert phi(even, UNKNOWN).min() == 1.0


def test_one_process_alone_shows_nothing():
    alone = seen(clumps_of_five, processes=1)
    assert (alone.freedom == 0).all()
    assert (phi(alone, UNKNOWN) == 2.0).all()


@pytest.mark.parametrize(
    ("phi_seen", "times", "expected"),
    [(1.0, 10.0, 1.0), (3.0, 1.0, 3.0), (3.0, 10.0, 21.0), (3.0, 0.1, 3.0)],
    ids=["independent at any volume", "as measured", "ten times the traffic", "less traffic is no excuse"],
)
def test_it_grows_with_the_volume(phi_seen, times, expected):
    found = seen(independent)
    here = np.full((RUNS, 1), 50.0 * times)
    scaled = at_volume(np.full((RUNS, 1), phi_seen), found, UNKNOWN, here, here * 0)
    assert scaled == pytest.approx(np.full((RUNS, 1), expected), rel=1e-6)


def test_the_volume_it_was_measured_at():
    assert own_reference(seen(independent)).mean() == pytest.approx(50 * 0.02, rel=0.02)
    assert (own_reference(fresh_dispersion(2, 1, 8)) == 0).all()
