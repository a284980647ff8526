"""Processes that differ for good widen the margin; harm that one of several carries is named after it."""

import numpy as np
import pytest

from control.engine.evidence import Prior
from control.engine.evidence.pods import spread, suspect, widening
from control.engine.evidence.terms import columns
from tests.support.polls import of_processes, one_test, terms

UNKNOWN = columns(terms(one_test()))
ONE = np.ones((1, 1))


@pytest.mark.parametrize(
    ("rows", "low", "high"),
    [
        ([(10_000, 200)] * 8, 0.0, 0.001),
        ([(10_000, 200 + each) for each in (-12, 9, -3, 14, 0, -8, 5, -5)], 0.0, 0.03),
        ([(10_000, 100), (10_000, 150), (10_000, 200), (10_000, 250), (10_000, 300)], 0.2, 0.4),
        ([(100, 1), (100, 0), (100, 3)], 0.0, 0.25),
        ([(10_000, 200)], 0.0, 0.0),
        ([], 0.0, 0.0),
    ],
    ids=["alike", "chance", "different", "too few to tell", "one process", "none"],
)
def test_spread(rows, low, high):
    assert low <= spread(of_processes(rows), ONE, UNKNOWN)[0, 0] <= high


def test_earlier_shifts_tell_the_spread_where_this_one_can_not():
    known = columns(terms(one_test(prior=Prior(spread=0.4))))
    assert spread(of_processes([]), ONE, known)[0, 0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("sigma", "canary", "stable", "prior", "factor"),
    [
        (0.0, 1, 1, Prior(), 1.0),
        (0.3, 3, 10, Prior(), np.exp(2.82 * 0.3 * np.sqrt(1 / 3 + 1 / 10))),
        (0.3, 3, 3, Prior(), np.exp(6.96 * 0.3 * np.sqrt(2 / 3))),
        (0.0, 3, 10, Prior(releases=0.2, known=6), np.exp(2.02 * 0.2)),
        (3.0, 1, 2, Prior(), 10.0),
    ],
    ids=["alike", "ten of stable", "few of stable: a wider quantile", "releases that differ", "never beyond ten"],
)
def test_widening(sigma, canary, stable, prior, factor):
    found = widening(np.array([[sigma]]), ONE * canary, ONE * stable, columns(terms(one_test(prior=prior))))
    assert found[0, 0] == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(
    ("canary", "expected"),
    [
        ([(100, 0), (100, 30), (100, 1)], 1),
        ([(100, 10), (100, 11), (100, 10)], -1),
        ([(100, 0), (100, 30)], -1),
        ([(40, 0), (100, 30), (3, 0)], -1),
        ([(100, 0), (100, 0), (100, 0)], -1),
    ],
    ids=["one of three", "all of them", "one of two can't be told", "the others served too little", "no harm at all"],
)
def test_the_process_that_carries_the_harm(canary, expected):
    stable = np.array([[[4000.0, 12.0]]])
    assert suspect(of_processes(canary), stable, ONE, ONE * 1.1, ONE * 0.0005, 5.0)[0, 0] == expected
