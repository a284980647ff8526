from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

from control.engine.foresee import Assumed, foresee
from control.view.plan import PlanView, next_share, plan_view, worth_foreseeing_s
from tests.support.shifts import shift
from tests.support.spec_shifts import parsed

WIDER = "wider proof margins (proof.extra):"
FIVE = "1%, 5%, 20%, 50%, 100%"


def test_enough_traffic() -> None:
    plan = plan_view(shift(steps=FIVE), rate=200)
    assert (plan.host, plan.routes, plan.total) == ("translator", ("translator, route primary", "edge"), "50 s")
    assert [step.starts for step in plan.steps] == ["at once", "after 10 s", "after 20 s", "after 30 s", "after 40 s"]
    assert [step.canary_requests for step in plan.steps][:2] == ["20 expected", "100 expected"]
    assert all(step.enough for step in plan.steps)
    assert plan.notes == ("At 1 %, 20 requests of v2 take 2,000 requests in all.",)
    assert plan.on_failure == "a bad version gives all traffic back to v1 at once"


def test_too_little_traffic_is_told_with_the_time_it_costs() -> None:
    plan = plan_view(shift(steps=FIVE), rate=20)
    first = plan.steps[0]
    assert (first.hold, first.enough) == ("1 min 40 s", False)
    assert first.note == "waits beyond its hold of 10 s for 20 requests"
    assert plan.steps[1].starts == "after 1 min 40 s"


def test_without_a_rate_the_shortest_time_is_told() -> None:
    plan = plan_view(shift(steps=FIVE, more="onFailure: hold"), rate=None)
    assert plan.total == "at least 50 s"
    assert plan.steps[0].canary_requests == "20 needed"
    assert plan.notes[1] == "Every step keeps to its hold from 200 requests a second on."
    assert plan.on_failure == "a bad version keeps its share until a person decides"


@pytest.mark.parametrize(
    ("hold", "rate", "notes"), [("10s", None, 2), ("0s", None, 1), ("10s", 5.0, 1)],
    ids=["a rate to keep to", "no hold, no rate to keep to", "the rate is known"],
)  # fmt: skip
def test_notes_only_where_they_help(hold: str, rate: float | None, notes: int) -> None:
    assert len(plan_view(shift(hold=hold), rate=rate).notes) == notes


def evidence(spec: str = "", *, rate: float | None = 50.0, errors: float = 0.003) -> PlanView:
    wanted = parsed(spec)
    given = Assumed(inf if rate is None else rate, errors, errors)
    within_s = worth_foreseeing_s(wanted, given)
    rng = np.random.default_rng(1)
    found = foresee(wanted, given, runs=20, within_s=within_s, rng=rng) if within_s is not None else None
    return plan_view(wanted, rate=rate, given=given, foreseen=found)


def test_by_evidence_the_way_of_a_good_version_is_told() -> None:
    plan = evidence("strategy: {bake: {for: 2m}}")
    assert plan.total.startswith("about ")
    assert "9 of 10 runs" in plan.total
    shares = [step.share for step in plan.steps]
    assert (shares[-2:], shares[0]) == (["20 %", "100 %"], "1 %")
    assert [step.number for step in plan.steps] == list(range(1, len(shares) + 1))
    assert plan.steps[-2].note == "the bake, in which everything is proven"
    assert plan.steps[0].starts == "after 5 s"
    assert (plan.steps[-1].hold, plan.steps[-1].canary_requests) == ("", "")
    assert "Times are the middle of 20 simulated runs of a version as good as v1." in plan.notes
    assert plan.remedies == ()


def test_by_evidence_what_must_be_proven_is_told_for_each_test() -> None:
    plan = evidence()
    assert [need.test for need in plan.needs] == [
        *("outcomes", "attempts", "abandoned"),
        *(f"latency (slowest {part} %)" for part in (25, 5, 1)),
    ]
    first = plan.needs[0]
    assert (first.proven, first.stable_rate) == ("1.25 x stable + 0.5 %", "0.3 %")
    assert first.requests == "3,889"
    assert first.time == "6 min 29 s"


def test_without_a_rate_requests_are_told_and_no_times() -> None:
    plan = evidence(rate=None)
    assert (plan.steps, plan.total) == ((), "as long as the requests below take")
    assert {need.time for need in plan.needs} == {""}
    assert plan.notes[-1] == "With --rate, times are told as well."
    assert plan_view(parsed(""), rate=None).needs == plan.needs


def test_what_no_number_of_requests_proves_is_said() -> None:
    plan = evidence("metrics: [{name: outcomes, tolerance: {extra: 0%}, proof: {extra: 0%}}]", errors=0.0)
    assert plan.needs[0].requests == "no number suffices"
    assert "However long it takes, nothing can be proven within these margins." in plan.notes
    assert [each.split(":")[0] for each in plan.remedies] == ["wider proof margins (proof.extra)"]


@pytest.mark.parametrize(
    ("spec", "than", "remedies"),
    [
        pytest.param("", "an hour", [WIDER + " outcomes ", "more traffic: 6 requests a second, "],
                     id="no deadline"),
        pytest.param("deadline: 2h", "its deadline of 2 h 00 min",
                     [WIDER + " outcomes ", "a later deadline: 2h43m", "more traffic: 3 requests"],
                     id="a deadline"),
        pytest.param("strategy: {bake: {for: 2h}}", "an hour", ["a shorter bake (strategy.bake.for)"],
                     id="the bake alone is too long"),
        pytest.param("deadline: 10h", "", [], id="there is time enough"),
    ],
)  # fmt: skip
def test_what_takes_too_long_is_told_with_what_would_help(spec: str, than: str, remedies: list[str]) -> None:
    plan = evidence(spec, rate=2.0)
    told = [f"It takes about 2 h 42 min at 2 requests a second, more than {than}."] if than else []
    assert [each for each in plan.notes if each.startswith("It takes")] == told
    assert len(plan.remedies) == len(remedies)
    assert all(each.startswith(wanted) for each, wanted in zip(plan.remedies, remedies, strict=True)), plan.remedies


def test_a_shift_that_would_not_arrive_is_given_no_time() -> None:
    plan = evidence("deadline: 11m\nonDeadline: rollback\nwarmUp: 1h")
    assert plan.headline.startswith("would not get to 100 % in 20 of 20 simulated runs of a good version")
    assert plan.total == ""


def test_latency_alone_may_lead_it() -> None:
    plan = evidence("metrics: [{name: latency}]")
    assert plan.total.startswith("about ")
    assert plan.steps[-1].share == "100 %"


def test_heavy_traffic_needs_no_budget_of_ones_own() -> None:
    assert evidence(rate=3000.0).headline.startswith("takes about ")


def test_a_budget_that_luck_can_spend_is_told() -> None:
    plan = evidence("budget: 1", errors=0.05)
    assert plan.headline.startswith("would not begin: a budget of 1 failed request is too small, ")
    assert (plan.steps, plan.total, plan.remedies, {each.time for each in plan.needs}) == ((), "", (), {""})
    assert len(plan.notes) == 1


def test_steps_with_such_a_budget_do_not_begin_either() -> None:
    plan = plan_view(shift(steps=FIVE, more="budget: 0.1"), rate=200)
    assert plan.headline.startswith("would not begin: a budget of 0.1 failed requests is too small, ")
    assert plan.steps == ()


def test_what_only_observes_says_so() -> None:
    plan = plan_view(shift(steps=FIVE, more="mode: observe"), rate=200)
    assert plan.headline == "observes: nothing is written; takes 50 s"
    assert plan.on_failure == "a bad version would go back, and nothing is written"


@pytest.mark.parametrize("rate", [None, 50.0], ids=["no rate", "a rate"])
def test_what_is_assumed_is_said(rate: float | None) -> None:
    (told,) = [each for each in evidence(rate=rate).notes if each.startswith("Assumed: ")]
    for each in ("outcomes 0.3 %", "attempts 0.6 %", "abandoned 0.1 %", "latency (slowest 5 %) 5 %"):
        assert each in told


@pytest.mark.parametrize(
    ("phase", "present", "share"),
    [
        pytest.param("Pending", None, "1/100", id="not begun: the first step"),
        pytest.param("Progressing", "1/20", "1/5", id="the step after this one"),
        pytest.param("Progressing", "1/10", "1/5", id="the plan was edited: the next above the present share"),
        pytest.param("Promoted", "1", "1", id="nothing is left"),
        pytest.param("RolledBack", "0", None, id="rolled back: none, until it is tried again"),
        pytest.param("RollingBack", "0", "0", id="going back"),
    ],
)
def test_the_share_of_the_next_step(phase: str, present: str | None, share: str | None) -> None:
    status: dict[str, Any] = {"phase": phase, "stepShare": present}
    assert next_share(shift(steps=FIVE).strategy, status) == (None if share is None else Fraction(share))
