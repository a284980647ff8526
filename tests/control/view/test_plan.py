from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from control.view.plan import expected, plan_view
from tests.support.cli_documents import document


@pytest.mark.parametrize(
    ("share", "hold_s", "needed", "rate", "seconds"),
    [
        pytest.param("1/100", 5, 20, 200, 10, id="20 of 2 a second take 10 s"),
        pytest.param("1/100", 15, 20, 200, 15, id="the hold is longer"),
        pytest.param("1", 5, 20, 200, 5, id="plenty of traffic"),
        pytest.param("1/100", 5, 20, None, 5, id="nobody knows the traffic"),
        pytest.param("0", 5, 20, 200, 5, id="no share, no requests"),
    ],
)
def test_how_long_a_step_takes(share: str, hold_s: int, needed: int, rate: float | None, seconds: int) -> None:
    found = expected(Fraction(share), hold=timedelta(seconds=hold_s), needed=needed, rate=rate)
    assert found == timedelta(seconds=seconds)


def test_enough_traffic() -> None:
    plan = plan_view(document(), rate=200)
    assert (plan.host, plan.routes, plan.total) == ("translator", ("translator, route primary", "edge"), "50 s")
    assert [step.starts for step in plan.steps] == ["at once", "after 10 s", "after 20 s", "after 30 s", "after 40 s"]
    assert [step.canary_requests for step in plan.steps][:2] == ["20 expected", "100 expected"]
    assert all(step.enough for step in plan.steps)
    assert plan.notes == ("At 1 %, 20 requests of v2 take 2,000 requests in all.",)
    assert plan.on_failure == "a bad version gives all traffic back to v1 at once"


def test_too_little_traffic_is_told_with_the_time_it_costs() -> None:
    plan = plan_view(document(), rate=20)
    first = plan.steps[0]
    assert (first.hold, first.enough) == ("1 min 40 s", False)
    assert first.note == "waits beyond its hold of 10 s for 20 requests"
    assert plan.steps[1].starts == "after 1 min 40 s"


def test_without_a_rate_the_shortest_time_is_told() -> None:
    plan = plan_view(document(onFailure="hold"), rate=None)
    assert plan.total == "at least 50 s"
    assert plan.steps[0].canary_requests == "20 needed"
    assert plan.notes[1] == "Every step keeps to its hold from 200 requests a second on."
    assert plan.on_failure == "a bad version keeps its share until a person decides"


@pytest.mark.parametrize(
    ("strategy", "notes"),
    [
        pytest.param({"steps": [], "hold": "10s", "minRequests": 20}, 0, id="no steps"),
        pytest.param({"steps": ["5%"], "hold": "10s", "minRequests": 0}, 0, id="no requests needed"),
        pytest.param({"steps": ["5%"], "hold": "0s", "minRequests": 20}, 1, id="no hold: no rate to keep to"),
    ],
)
def test_notes_only_where_they_help(strategy: dict[str, Any], notes: int) -> None:
    assert len(plan_view(document(strategy=strategy), rate=None).notes) == notes
