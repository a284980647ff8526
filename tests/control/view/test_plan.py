from fractions import Fraction
from typing import Any

import pytest

from control.view.plan import next_share, plan_view
from tests.support.shifts import shift

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


@pytest.mark.parametrize(
    ("phase", "present", "share"),
    [
        pytest.param("Pending", None, "1/100", id="not begun: the first step"),
        pytest.param("Progressing", "1/20", "1/5", id="the step after this one"),
        pytest.param("Progressing", "1/10", "1/5", id="the plan was edited: the next above the present share"),
        pytest.param("Promoted", "1", "1", id="nothing is left"),
        pytest.param("RolledBack", "0", "1/100", id="rolled back: a retry begins at the first step"),
        pytest.param("RollingBack", "0", "0", id="going back"),
    ],
)
def test_the_share_of_the_next_step(phase: str, present: str | None, share: str) -> None:
    status: dict[str, Any] = {"phase": phase, "stepShare": present}
    assert next_share(shift(steps=FIVE).strategy, status) == Fraction(share)
