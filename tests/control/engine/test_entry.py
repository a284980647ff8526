"""What a finished run leaves behind, from the state that it ended with."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from control.engine.codec import Numbers
from control.engine.decision import Cause, Decision
from control.engine.entry import entry_of, service_of
from control.engine.evidence import Prior, Tide, fresh, weigh
from control.engine.evidence.interval import Sums, fresh_interval, widen
from control.engine.judge import weighed
from control.engine.ledger import LedgerEntry, from_plain, to_plain
from control.engine.phase import Phase, Verdict
from control.engine.priors import priors_of
from control.engine.state import ShiftState, Step, new_state
from control.engine.status_evidence import UNASKED
from control.engine.terms import terms_of
from control.engine.watched import Watched
from tests.support.fake_ports import START
from tests.support.polls import one_test, poll
from tests.support.shifts import shift

SHIFT = shift()
TESTS = (one_test(prior=Prior()), one_test("latency>250ms", metric="latency", prior=Prior()))
WATCHED = Watched(TESTS, longest_s=1.5)
TERMS = terms_of(SHIFT, WATCHED)


def counts(*bad: int, n: int) -> np.ndarray[Any, Any]:
    """One run, a test each, one stratum."""
    return np.array([[[[n, each]] for each in bad]], float)


def evidence(polls: int, canary: tuple[int, int], stable: tuple[int, int], *, clumped: bool) -> tuple[Tide, Sums]:
    """So many polls of 200 and 2,000 requests, with so many bad ones a test, of four processes of stable."""
    tide, sums = fresh(TERMS), fresh_interval(TERMS)
    for number in range(polls):
        of_stable = np.zeros((1, 2, 8, 2))
        of_stable[0, :, :4, 0] = 500
        of_stable[0, 0, :4, 1] = [0, 0, 0, 0] if clumped else stable[0] / 4
        of_stable[0, 0, number % 4, 1] = stable[0] if clumped else stable[0] / 4
        each = poll(counts(*canary, n=200), counts(*stable, n=2000), stable_pods=of_stable)
        sums, tide = widen(TERMS, tide, sums, each), weigh(TERMS, tide, each)
    return tide, sums


def ended(cause: Cause, canary: tuple[int, int] = (1, 1), *, clumped: bool = False, **changes: Any) -> ShiftState:
    tide, sums = evidence(40, canary, (8, 10), clumped=clumped)
    phase = Phase.PROMOTED if cause is Cause.PROMOTED else Phase.ROLLED_BACK
    steps = (Step(1, Fraction(1, 20), START), Step(2, Fraction(1, 5), START))
    facts = {"by": "ada", "because": ": looks odd", "last": "9", "of": "9", "windowCanary": "9"}
    known: dict[str, Any] = {
        "phase": phase,
        "run": 3,
        "steps": steps,
        "started_at": START,
        "finished_at": START + timedelta(minutes=5),
        "outcome": Decision(cause, facts=facts),
        "watched": WATCHED,
        "tide": Numbers.of(tide.numbers()),
        "sums": Numbers.of(sums.numbers()),
    }
    return replace(new_state(SHIFT), **known | changes)


def entry(state: ShiftState, **verdicts: Verdict) -> LedgerEntry:
    judged = weighed(SHIFT, state, UNASKED, START)
    found = entry_of(SHIFT, state, replace(judged, verdicts=verdicts))
    assert found is not None
    return found


def test_a_promoted_run() -> None:
    found = entry(ended(Cause.PROMOTED))
    assert (found.shift, found.run, found.stable, found.canary) == ("translator", 3, "v1", "v2")
    assert (found.outcome, found.cause, found.mode, found.longest_s) == ("promoted", "Promoted", "control", 1.5)
    assert found.shares == (Fraction(1, 20), Fraction(1, 5))
    assert [each.test for each in found.tests] == ["outcomes", "latency>250ms"]
    outcomes = found.tests[0]
    assert (outcomes.canary.requests, outcomes.canary.bad, outcomes.stable.bad) == (8000, 40, 320)
    assert outcomes.verdict == "pass"
    assert outcomes.difference is not None
    assert outcomes.difference.low < 0.001 < outcomes.difference.high
    assert outcomes.log_ratio == pytest.approx(np.log((40 / 8000) / (320 / 80000)), abs=0.02)
    assert found.rule.startswith("v2 may replace v1: at most ")
    assert from_plain(to_plain(found)).tests[1].metric == "latency"


def test_noise_is_that_of_this_run_alone() -> None:
    found = entry(ended(Cause.PROMOTED, clumped=True))
    outcomes, latency = found.tests
    assert outcomes.phi > 4, "eight bad requests of one process in each poll"
    assert outcomes.freedom > 0
    assert outcomes.reference == pytest.approx(2.0)
    assert (latency.phi, latency.freedom) == (1.0, 0.0)
    assert priors_of([found])["outcomes"].phi == outcomes.phi


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({}, "pass"),
        ({"outcomes": Verdict.UNAVAILABLE}, "pass"),
        ({"outcomes": Verdict.INSUFFICIENT}, "insufficient"),
        ({"outcomes": Verdict.FAIL}, "fail"),
    ],
    ids=["not told", "blind in the last moment", "insufficient", "fail"],
)
def test_the_verdict_is_the_last_one_that_could_be_given(last: dict[str, Verdict], said: str) -> None:
    assert entry(ended(Cause.PROMOTED), **last).tests[0].verdict == said


def test_a_run_that_was_rolled_back_for_harm_names_it() -> None:
    found = entry(ended(Cause.HARM_FOUND, canary=(12, 1)), outcomes=Verdict.FAIL)
    assert found.outcome == "rolled back"
    assert found.rule == "v2 must not be tried again as it is: 480 of 8,000 (v1: 320 of 80,000) requests failed"
    assert found.tests[0].harm == 1e9


def test_a_run_that_a_person_took_back_teaches_nothing() -> None:
    assert entry(ended(Cause.COMMANDED)).rule == "no rule: all traffic goes back to v1 (asked for by ada: looks odd)"


def test_a_run_without_evidence_still_leaves_what_was_tried() -> None:
    bare = ended(Cause.CANARY_GONE, watched=None, tide=Numbers(), sums=Numbers())
    found = entry(bare)
    assert found.tests == ()
    assert found.rule.startswith("v2 lost its endpoints")
    assert entry(ended(Cause.PROMOTED, sums=Numbers())).tests[0].log_ratio is None


@pytest.mark.parametrize(
    "changes",
    [{"phase": Phase.PROGRESSING}, {"started_at": None}, {"finished_at": None}, {"outcome": None}],
    ids=["not over", "never begun", "no end", "no outcome"],
)
def test_what_is_not_over_or_never_began_leaves_nothing(changes: dict[str, Any]) -> None:
    state = ended(Cause.PROMOTED, **changes)
    assert entry_of(SHIFT, state, weighed(SHIFT, state, UNASKED, START)) is None


@pytest.mark.parametrize(
    ("host", "namespace", "service"),
    [
        ("translator.default.svc.cluster.local", "default", "translator"),
        ("translator.shop.svc.cluster.local", "default", "translator.shop.svc.cluster.local"),
        ("api.example.com", "default", "api.example.com"),
    ],
)
def test_the_name_of_a_ledger(host: str, namespace: str, service: str) -> None:
    assert service_of(host, namespace) == service
