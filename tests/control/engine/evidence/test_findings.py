"""What the evidence says: the bound on the excess, which test is named, and when stable itself is what fails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.evidence import Prior, findings, fresh, weigh
from tests.support.polls import learned, of_processes, one_test, poll, terms


def test_nothing_is_ruled_out_before_anything_is_seen():
    found = findings(terms(), fresh(terms()))
    assert found.upper[0] == 1.0
    assert found.log_total[0] == 0.0
    assert found.log_proof[0, 0] == 0.0


def test_the_bound_falls_as_good_requests_come():
    bounds = [findings(terms(), learned(terms(), [poll((50, 0), (450, 1))] * n)).upper[0] for n in (1, 10, 100)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 0.002


def test_where_nothing_is_counted_all_tests_bound_it():
    """A shift that watches latency alone: its shares grow with what is known, as others do."""
    slow = terms(one_test("latency>1ms"))
    assert findings(slow, fresh(slow, 1)).upper[0] == 1.0
    assert findings(slow, learned(slow, [poll((50, 0), (450, 1))] * 10)).upper[0] < 0.02


@pytest.mark.parametrize(("p_s", "p_c"), [(0.003, 0.02), (0.02, 0.02), (0.01, 0.06)])
def test_the_true_excess_is_rarely_above_the_bound_at_any_time(p_s, p_c):
    runs, of, chance = 1000, terms(), np.random.default_rng(5)
    tide, missed = fresh(of, runs), np.zeros(runs, bool)
    for _ in range(150):
        n_c = chance.binomial(300, 0.1, runs)
        canary = np.stack([n_c, chance.binomial(n_c, p_c)], -1)[:, None, None]
        stable = np.stack([300 - n_c, chance.binomial(300 - n_c, p_s)], -1)[:, None, None]
        tide = weigh(of, tide, poll(canary, stable))
        missed |= findings(of, tide).upper < (p_c - p_s)
    assert missed.mean() <= 0.06


TWO = terms(one_test("outcomes"), one_test("latency>250ms"))


@pytest.mark.parametrize(
    ("outcomes", "slow", "named"), [(9, 0, 0), (0, 9, 1), (0, 0, 0)], ids=["outcomes", "latency", "nothing"]
)
def test_the_test_that_says_most_is_named(outcomes, slow, named):
    canary = np.array([[[[100.0, outcomes]], [[100.0, slow]]]])
    stable = np.array([[[[900.0, 3]], [[900.0, 3]]]])
    assert findings(TWO, learned(TWO, [poll(canary, stable)] * 5)).leading[0] == named


@pytest.mark.parametrize(
    ("stable_bad", "fails"), [(2, False), (60, True)], ids=["a normal hour", "stable itself is failing"]
)
def test_stable_s_own_outage(stable_bad, fails):
    tide = learned(terms(), [poll((50, 0), (450, 2))] * 20 + [poll((50, 0), (450, stable_bad))] * 10)
    assert findings(terms(), tide).outage[0] == fails


def test_an_outage_is_over_when_it_is_over():
    tide = learned(terms(), [poll((50, 0), (450, 60))] * 10 + [poll((50, 0), (450, 2))] * 40)
    assert not findings(terms(), tide).outage[0]


def test_clumps_are_no_harm():
    """One clump of 20 on the canary where stable had many: multiplied it is certain harm, averaged it is not."""
    noisy = terms(one_test(prior=Prior(phi=2.0, weight=1e9)))
    polls = [poll((50, 0), (450, 1))] * 60 + [poll((50, 20), (450, 0))]
    tide = learned(noisy, polls)
    assert findings(noisy, tide).log_total[0] < np.log(100)
    assert findings(terms(), learned(terms(), polls)).log_total[0] > np.log(100)


def test_a_catastrophe_needs_no_second_opinion():
    noisy = terms(one_test(prior=Prior(phi=2.0, weight=1e9)))
    tide = learned(noisy, [poll((50, 0), (450, 1))] * 60 + [poll((50, 50), (450, 1))])
    assert findings(noisy, tide).log_total[0] >= np.log(100)


@pytest.mark.parametrize(
    ("canary_pods", "named"),
    [([(30, 9), (30, 0), (30, 0)], 0), ([(30, 3), (30, 3), (30, 3)], -1), ([], -1)],
    ids=["one of three", "all of them", "nobody knows the processes"],
)
def test_the_process_to_name(canary_pods, named):
    each = poll((90, 9), (900, 3), canary_pods=of_processes(canary_pods))
    found = findings(terms(), learned(terms(), [each] * 4))
    assert found.log_total[0] > np.log(100)
    assert found.pod[0] == named


def many(rows):
    """Polls of one run: (canary bad of 50, stable bad of 200 on each of two processes)."""
    return [
        poll(
            (50, x),
            (400, y + z),
            stable_pods=of_processes([(200, y), (200, z)]),
            canary_pods=of_processes([(25, x - x // 2), (25, x // 2)]),
        )
        for x, y, z in rows
    ]


bad = st.integers(0, 20)


@settings(max_examples=60)
@given(st.lists(st.tuples(bad, bad, bad), min_size=1, max_size=12), st.data())
def test_one_more_failure_of_the_canary_never_speaks_for_it(rows, data):
    """With nothing known beforehand, whatever stable's processes showed: no version excuses itself by how it fails."""
    unknown = terms(one_test(prior=Prior()))
    at = data.draw(st.integers(0, len(rows) - 1))
    worse = [(x + (n == at), y, z) for n, (x, y, z) in enumerate(rows)]
    here, there = (findings(unknown, learned(unknown, many(each))) for each in (rows, worse))
    assert there.log_harm[0, 0] >= here.log_harm[0, 0] - 1e-9
    assert there.log_proof[0, 0] <= here.log_proof[0, 0] + 1e-9
    assert there.excess[0] >= here.excess[0]


def test_what_is_known_later_of_stable_s_noise_counts_for_earlier_bets():
    """Bets that were tempered by 2; then stable's processes turn out to fail in lumps."""
    unknown = terms(one_test(prior=Prior()))
    calm, lumps = [(8, 1, 0)] * 6, [(0, 20, 0), (0, 0, 20)] * 6
    before = findings(unknown, learned(unknown, many(calm)))
    after = findings(unknown, learned(unknown, many(calm + lumps)))
    assert before.log_harm[0, 0] > np.log(100)
    assert after.phi[0, 0] > 4 * before.phi[0, 0]
    assert after.log_harm[0, 0] < np.log(5)
