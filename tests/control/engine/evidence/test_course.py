"""Which weight comes next: one row a rule, the order of the rules, and what no course may do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.evidence import (
    RUNGS,
    Action,
    Standing,
    budget_needed,
    course,
    findings,
    first_share,
    fresh,
    requests_needed,
    stage_s,
)
from control.engine.evidence.course import allowed
from tests.support.polls import one_test, terms

BAKED = terms(bake_s=60.0)
CLEAR = {"log_total": 0.0, "log_proof": 5.0, "upper": 0.0005, "excess": 0.0}


def found(of, **changes):
    """Findings in which everything is proven and nothing is wrong, but for the changes."""
    plain = findings(of, fresh(of))
    known = {**CLEAR, **changes}
    shaped = {name: np.full_like(getattr(plain, name), value) for name, value in known.items()}
    return replace(plain, **shaped)


def at(share=0.1, **changes):
    known = {
        "share": share,
        "polls": 5.0,
        "rate": 50.0,
        "cap": 1.0,
        "baking": False,
        "baked_s": 0.0,
        "ready": True,
    } | changes
    return Standing(**{name: np.array([value]) for name, value in known.items()})


ROWS = [
    ("harm", terms(), {"log_total": 5.0}, {}, Action.ROLL_BACK, 0.0),
    ("harm comes before a spent budget", terms(), {"log_total": 5.0, "excess": 60}, {}, Action.ROLL_BACK, 0.0),
    ("a spent budget", terms(), {"excess": 50.0}, {}, Action.SPENT, 0.0),
    ("pod or version", terms(), {"log_total": 5.0, "pod": 2}, {}, Action.POD, 0.1),
    ("suspected", terms(), {"log_total": 2.0}, {}, Action.SUSPECTED, 0.1),
    ("routing mismatch", terms(), {"log_misrouted": 5.0}, {}, Action.MISMATCH, 0.1),
    ("stable fails", terms(), {"outage": True}, {}, Action.OUTAGE, 0.1),
    ("one poll", terms(), {}, {"polls": 1.0}, Action.WAITING, 0.1),
    ("not ready", terms(), {}, {"ready": False}, Action.WAITING, 0.1),
    ("up one rung", terms(), {"log_proof": -0.5}, {}, Action.ADVANCE, 0.2),
    ("two rungs at most", terms(), {"log_proof": -1.0}, {"share": 0.01}, Action.ADVANCE, 0.05),
    (
        "half as likely to be no worse: 5 % is enough",
        terms(),
        {"log_proof": -1.0},
        {"share": 0.05},
        Action.UNPROVEN,
        0.05,
    ),
    ("half as likely, and higher: no step back", terms(), {"log_proof": -1.0}, {}, Action.UNPROVEN, 0.1),
    ("learn at 20 %", terms(), {"log_proof": -0.1}, {"share": 0.2}, Action.UNPROVEN, 0.2),
    ("beyond it when it leans the right way", terms(), {"log_proof": 0.1}, {"share": 0.2}, Action.ADVANCE, 0.5),
    ("the top rung", terms(), {"log_proof": 0.1}, {"share": 0.5}, Action.UNPROVEN, 0.5),
    ("proven below 20 %", terms(), {}, {"share": 0.1}, Action.ADVANCE, 0.35),
    ("proven at 20 %", terms(), {}, {"share": 0.2}, Action.PROMOTE, 1.0),
    ("proven at 50 %", terms(), {}, {"share": 0.5}, Action.PROMOTE, 1.0),
    ("few endpoints", terms(), {"log_proof": -0.5}, {"cap": 0.1}, Action.CAPPED, 0.1),
    ("few endpoints for 100 %", terms(), {}, {"share": 0.2, "cap": 0.5}, Action.CAPPED, 0.2),
    ("the budget", terms(), {"log_proof": -0.5, "upper": 0.5}, {}, Action.BUDGETED, 0.1),
    ("bake before 100 %", BAKED, {}, {"share": 0.2}, Action.BAKE, 0.2),
    ("bake when every proof leans", BAKED, {"log_proof": 0.1}, {"share": 0.2}, Action.BAKE, 0.2),
    ("no bake while one leans the other way", BAKED, {"log_proof": -0.1}, {"share": 0.2}, Action.UNPROVEN, 0.2),
    ("baking", BAKED, {}, {"share": 0.2, "baking": True, "baked_s": 59.0}, Action.BAKING, 0.2),
    ("baked", BAKED, {}, {"share": 0.2, "baking": True, "baked_s": 60.0}, Action.PROMOTE, 1.0),
    (
        "baked and not proven anew",
        BAKED,
        {"log_proof": 2.0},
        {"share": 0.2, "baking": True, "baked_s": 90.0},
        Action.BAKING,
        0.2,
    ),
    (
        "a bake at 95 % climbs on first",
        terms(bake_s=60.0, bake_at=0.95, rungs=(*RUNGS, 0.75, 0.95)),
        {},
        {"share": 0.5},
        Action.ADVANCE,
        0.95,
    ),
]


@pytest.mark.parametrize(
    ("of", "says", "stands", "action", "share"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_the_course(of, says, stands, action, share):
    taken = course(of, found(of, **says), at(**stands))
    assert Action(taken.action[0]) is action
    assert taken.share[0] == pytest.approx(share)


def test_one_unproven_test_of_several_keeps_it_from_100():
    of = terms(one_test("outcomes"), one_test("latency>250ms"))
    says = replace(found(of), log_proof=np.array([[5.0, 1.0]]))
    assert Action(course(of, says, at(0.5)).action[0]) is Action.UNPROVEN


@given(
    st.sampled_from(RUNGS),
    st.floats(0, 6),
    st.floats(-5, 6),
    st.floats(0.0005, 1),
    st.floats(-50, 60),
    st.floats(0.05, 2000),
    st.floats(0.01, 1),
)
def test_no_course_climbs_too_far_or_while_held(share, harm, proof, upper, excess, rate, cap):
    of = terms()
    taken = course(
        of, found(of, log_total=harm, log_proof=proof, upper=upper, excess=excess), at(share, rate=rate, cap=cap)
    )
    to, action = float(taken.share[0]), Action(taken.action[0])
    if to > share and action is not Action.PROMOTE:
        assert RUNGS.index(to) - RUNGS.index(share) <= of.jump
        assert to <= cap + 1e-9
        assert to * rate * stage_s(of) * upper <= of.rho * (of.budget - max(0, excess)) + 1e-6
    if harm >= np.log(of.hold_at):
        assert to <= share
    if action is Action.PROMOTE:
        assert proof >= of.log_proof
    if harm < of.log_harm and excess < of.budget:
        assert to >= share


@pytest.mark.parametrize(
    ("rate", "share"),
    [(50, 0.01), (500, 0.001), (5000, 0.001), (5, 0.1), (0.2, 0.2)],
    ids=["50 a second", "500", "more than the lowest rung bears", "5", "one in five seconds"],
)
def test_the_first_weight(rate, share):
    assert first_share(terms(), rate)[0] == share


def test_a_budget_that_is_used_up_allows_nothing():
    assert allowed(terms(), 50.0, 0.1, 50.0) == 0


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    [(0.0, 1000, 1100), (0.003, 1500, 2200), (0.021, 2500, 4000)],
    ids=["no errors", "few", "many"],
)
def test_how_many_canary_requests_a_proof_takes(rate, low, high):
    assert low <= requests_needed(terms(), 0, rate, 0.2) <= high


def test_a_wider_margin_takes_fewer_and_dispersion_more():
    wide = terms(replace(one_test(), proven=replace(one_test().proven, extra=0.02)))
    assert requests_needed(wide, 0, 0.003, 0.2) < requests_needed(terms(), 0, 0.003, 0.2) / 3
    assert requests_needed(terms(), 0, 0.003, 0.2, phi=3.0) == pytest.approx(
        3 * requests_needed(terms(), 0, 0.003, 0.2)
    )


def test_a_margin_that_no_bet_can_prove():
    none = terms(replace(one_test(), proven=replace(one_test().proven, ratio=1.0, extra=0.0)))
    assert requests_needed(none, 0, 0.0, 0.2) == float("inf")


def test_the_budget_that_chance_alone_might_need():
    assert budget_needed(0.003, 6000, 0.2) == pytest.approx(3 * np.sqrt(6000 * 0.003 / 0.8))
    assert budget_needed(0.003, 6000, 0.2, phi=4.0) == pytest.approx(2 * budget_needed(0.003, 6000, 0.2))
