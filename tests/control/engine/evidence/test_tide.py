"""The state of the evidence, and the step that moves it: what counts, what is neutral, and what survives a restart."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.evidence import Prior, Tide, findings, fresh, rebake, resized, weigh
from tests.support.polls import learned, of_processes, one_test, poll, terms

FEW = terms(one_test("outcomes"), one_test("attempts", tries=2), one_test("latency>250ms", prior=Prior()))
BAD, GOOD = poll((50, 8), (450, 2)), poll((50, 0), (450, 2))
NO = np.array([False])
YES = np.array([True])


def several(runs: int = 3, seed: int = 4, of_tests: int = 3):
    """Polls of several runs with processes, as a busy hour might bring them."""
    chance = np.random.default_rng(seed)
    for _ in range(30):
        sent = chance.integers(0, 300, (runs, of_tests, 1))
        canary = np.stack([sent, chance.binomial(sent, 0.05)], -1)
        stable = np.stack([sent * 5, chance.binomial(sent * 5, 0.02)], -1)
        pods = chance.binomial(40, 0.3, (2, runs, of_tests, 8, 1))
        by_process = [np.concatenate([each * 20, each], -1).astype(float) for each in pods]
        yield poll(canary, stable, stable_pods=by_process[0], canary_pods=by_process[1])


def one_of(each, run: int):
    return type(each)(*(getattr(each, name)[run : run + 1] for name in each.__slots__))


def same(one: Tide, other: Tide) -> bool:
    return all(a == b or (np.isnan(a) and np.isnan(b)) for a, b in zip(one.numbers(), other.numbers(), strict=True))


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("neither version has a request", poll((0, 0), (0, 0))),
        ("only stable has requests", poll((0, 0), (400, 3))),
        ("only the canary has requests", poll((40, 3), (0, 0))),
        ("the poll may not count yet", poll((50, 8), (450, 2), harm=NO, proof=NO)),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_neutral_polls(what, changed):
    before, after = findings(terms(), learned(terms(), [BAD] * 2)), None
    after = findings(terms(), learned(terms(), [BAD, changed, BAD]))
    assert after.log_harm == pytest.approx(before.log_harm)
    assert after.log_proof == pytest.approx(before.log_proof)


def test_a_run_among_many_is_the_run_alone():
    """The controller's one run and the simulator's thousands are the same lines: the same bits."""
    polls = list(several())
    together = learned(FEW, polls)
    for run in range(3):
        alone = learned(FEW, [one_of(each, run) for each in polls])
        assert same(alone, together.runs(np.array([run])))


@given(st.integers(0, 29))
def test_written_down_and_read_back_at_any_moment_it_goes_on_bit_for_bit(at):
    polls = [one_of(each, 0) for each in several()]
    before = learned(FEW, polls[:at]) if at else fresh(FEW)
    restored = Tide.of(FEW, json.loads(json.dumps(before.numbers())))
    assert same(learned(FEW, polls[at:], restored), learned(FEW, polls))


def test_numbers_of_other_tests_are_refused():
    with pytest.raises(ValueError, match="numbers"):
        Tide.of(FEW, fresh(terms()).numbers())


def test_several_runs_have_no_state_to_store():
    with pytest.raises(ValueError, match="one run"):
        fresh(FEW, 2).numbers()


def test_a_few_dozen_numbers_a_test():
    assert len(fresh(FEW).numbers()) / 3 < 120


def test_harm_grows_with_a_bad_canary_and_proof_with_a_good_one():
    bad, good = findings(terms(), learned(terms(), [BAD] * 10)), findings(terms(), learned(terms(), [GOOD] * 40))
    assert bad.log_total[0] > np.log(100) > np.log(5) > good.log_total[0]
    assert bad.log_proof[0, 0] < 0 < np.log(20) < good.log_proof[0, 0]


def test_a_fault_that_begins_late_is_found_as_if_all_before_had_not_been():
    early = findings(terms(), learned(terms(), [BAD] * 6)).log_total[0]
    late = findings(terms(), learned(terms(), [GOOD] * 100 + [BAD] * 6)).log_total[0]
    assert late > early - np.log(2 * 100 * 101) - 1


def test_dispersion_tempers():
    noisy = terms(one_test(prior=Prior(phi=4.0, weight=1e9)))
    plain = learned(terms(), [BAD] * 10)
    assert findings(noisy, learned(noisy, [BAD] * 10)).log_total[0] < findings(terms(), plain).log_total[0] / 3


@pytest.mark.parametrize(("bad_of_50", "harmful"), [(3, False), (25, True)], ids=["within five points", "far beyond"])
def test_a_warm_up_window_is_loose_but_not_blind(bad_of_50, harmful):
    warm = poll((50, bad_of_50), (450, 2), warm=YES)
    assert (findings(terms(), learned(terms(), [warm] * 10)).log_total[0] >= np.log(100)) is np.bool_(harmful)


def test_a_warm_up_window_proves_nothing():
    assert findings(terms(), learned(terms(), [poll((50, 0), (450, 2), warm=YES)] * 80)).log_proof[0, 0] == 0


def test_the_proof_begins_anew_with_the_bake_and_harm_does_not():
    tide = learned(terms(), [GOOD] * 60 + [BAD])
    anew = rebake(tide, YES)
    assert findings(terms(), anew).log_proof[0, 0] == 0
    assert (anew.harm == tide.harm).all()
    assert (rebake(tide, NO).proof == tide.proof).all()


def test_a_proof_that_lost_its_sharpest_bet_goes_on_with_the_others():
    tide = learned(terms(), [poll((50, 1), (450, 2))] + [GOOD] * 100)
    assert findings(terms(), tide).log_proof[0, 0] > np.log(20)


def routed(share: float, canary: int, stable: int):
    return poll((1, 0), (1, 0), share=np.array([share]), sent=np.array([[float(canary), float(stable)]]))


@pytest.mark.parametrize(
    ("configured", "canary", "stable", "wrong"),
    [(0.1, 50, 450, False), (0.1, 25, 475, True), (0.1, 100, 400, True), (0.1, 0, 500, True), (0.5, 240, 260, False)],
    ids=["as configured", "half", "double", "none at all", "half of all, as configured"],
)
def test_requests_that_do_not_follow_the_weights(configured, canary, stable, wrong):
    tide = learned(terms(), [routed(configured, canary, stable)] * 20)
    assert (findings(terms(), tide).log_misrouted[0] >= np.log(100)) is np.bool_(wrong)


def test_a_new_weight_is_tested_anew():
    tide = learned(terms(), [routed(0.1, 25, 475)] * 20)
    assert findings(terms(), resized(tide, YES)).log_misrouted[0] == 0
    assert findings(terms(), resized(tide, NO)).log_misrouted[0] > np.log(100)


@pytest.mark.parametrize(
    ("canary", "stable", "excess"),
    [((100, 5), (900, 0), 5.0), ((100, 5), (900, 45), 0.0), ((100, 0), (900, 9), -1.0), ((100, 5), (0, 0), 5.0)],
    ids=["all of it", "stable is as bad", "better", "no stable to compare with"],
)
def test_the_excess_of_failed_requests(canary, stable, excess):
    assert learned(terms(), [poll(canary, stable)]).excess[0] == pytest.approx(excess)


def test_only_what_callers_see_costs_budget():
    retried = terms(one_test("attempts", tries=2))
    assert learned(retried, [poll((100, 50), (900, 0))]).excess[0] == 0


amounts = st.sampled_from([0, 1, 3, 50, 4000, 10**12])


@given(st.lists(st.tuples(amounts, amounts, st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_evidence_is_never_nan_whatever_the_counts(polls):
    made = [
        poll(
            (n, np.floor(n * bad)),
            (m, np.floor(m * worse)),
            stable_pods=of_processes([(m, np.floor(m * worse)), (m, 0)]),
            canary_pods=of_processes([(n, np.floor(n * bad))]),
        )
        for n, m, bad, worse in polls
    ]
    found = findings(terms(one_test(prior=Prior())), learned(terms(one_test(prior=Prior())), made))
    for name in ("log_harm", "log_total", "log_proof", "upper", "excess", "excess_sd", "phi", "ratio"):
        assert not np.isnan(getattr(found, name)).any(), name
    assert (found.upper > 0).all()
    assert (found.upper <= 1).all()


def test_weighing_leaves_the_state_that_it_was_given_as_it_was():
    tide = learned(FEW, [one_of(each, 0) for each in several()])
    before = tide.numbers()
    weigh(FEW, tide, one_of(next(several()), 0))
    assert tide.numbers() == before
