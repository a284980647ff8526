"""The status that every tool reads."""

import json
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.decision import Cause, Decision
from control.engine.counting import Evidence, Metric, MetricEvidence
from control.engine.phase import Event, Phase, Verdict
from control.engine.state import RouteSeen, Seen, Step, Window
from control.engine.status import status
from tests.support.fake_ports import START
from tests.support.situations import LATER, SHIFT, state

FIELDS = {
    "observedGeneration",
    "run",
    "subject",
    "phase",
    "step",
    "totalSteps",
    "stepShare",
    "share",
    "verdict",
    "reason",
    "waitingFor",
    "waitingUntil",
    "nextCommand",
    "startedAt",
    "stepEnteredAt",
    "finishedAt",
    "firstBadAt",
    "evidence",
    "steps",
    "proxies",
    "canaryEndpoints",
    "stableEndpoints",
    "conditions",
}


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_has_a_whole_status(phase: Phase) -> None:
    found = json.loads(json.dumps(status(SHIFT, state(phase), LATER)))
    assert set(found) == FIELDS
    assert found["phase"] == phase
    assert found["reason"]


def test_waiting_ends_where_the_decision_says() -> None:
    until = LATER + timedelta(seconds=7)
    found = status(SHIFT, state(decision=Decision(Cause.HOLDING, until=until)), LATER)
    assert (found["waitingUntil"], found["nextCommand"]) == ("2026-01-01T00:10:07Z", "tidegate promote translator")
    assert status(SHIFT, state(decision=Decision(Cause.HOLDING, until=until)), until)["waitingUntil"] is None


def route(configured: str, *, in_force: bool = True) -> RouteSeen:
    return RouteSeen("k", "route", "r", Fraction(configured), ("gw",), ("gw",), in_force=in_force)


SHARES = {
    "one weight, in force": ((route("1/10"), route("1/10")), {"configured": "1/10", "acknowledged": "1/10"}),
    "one weight, not everywhere": (
        (route("1/10"), route("1/10", in_force=False)),
        {"configured": "1/10", "acknowledged": None},
    ),
    "two weights are no weight": ((route("1/10"), route("1/2")), {"configured": None, "acknowledged": None}),
    "nothing known": ((), {"configured": None, "acknowledged": None}),
}


@pytest.mark.parametrize(("routes", "expected"), SHARES.values(), ids=SHARES.keys())
def test_the_three_weights(routes: tuple[RouteSeen, ...], expected: dict[str, str | None]) -> None:
    found = status(SHIFT, state(seen=Seen(routes)), LATER)["share"]
    assert found == expected | {"observedRatio": pytest.approx(500 / 1400)}


OBSERVED = {
    "a step is observed since it was acknowledged": ("1/10", Window(3, 10, 90, 9, 1), 0.1),
    "nothing was counted": ("1/10", Window(3), None),
    "at the end the last poll that counted any": ("1", Window(9, 100, 5, 50, 0, 4), 1.0),
    "at 0 a silent poll is none of the canary": ("0", Window(9, 5, 100, 3, 50, 1), 0.0),
    "at 0 the last poll may still have some": ("0", Window(9, 5, 100, 1, 3), 0.25),
    "at the end only the last poll counts": ("1", Window(3, 100, 5, 50, 0), 1.0),
    "at 0 too": ("0", Window(3, 5, 100, 0, 50), 0.0),
    "at 0 no traffic at all is none of the canary": ("0", Window(1), 0.0),
    "at 0 not looked at is not known": ("0", Window(), None),
    "at 100 % no traffic is not known": ("1", Window(1), None),
}


@pytest.mark.parametrize(("share", "window", "expected"), OBSERVED.values(), ids=OBSERVED.keys())
def test_observed_means_counted(share: str, window: Window, expected: float | None) -> None:
    assert window.observed(Fraction(share)) == expected


@pytest.mark.parametrize(
    ("event", "word"),
    [(Event.ADVANCE, "advance"), (Event.FILL, "advance"), (Event.FINISH, "promote"), (Event.ROLL_BACK, "roll_back"),
     (Event.FREEZE, "hold"), (None, "hold")],
)  # fmt: skip
def test_a_step_says_why_it_was_left(event: Event | None, word: str) -> None:
    step = Step(1, Fraction(1, 10), START, START, LATER, window=Window(3, 10, 90), left=Decision(Cause.HOLDING, event))
    found = status(SHIFT, state(steps=(step,)), LATER)["steps"][0]
    assert found["decision"] == word
    assert (found["configured"], found["acknowledged"], found["observedRatio"]) == ("1/10", "1/10", 0.1)


def test_a_step_that_nobody_acknowledged_says_so() -> None:
    step = Step(1, Fraction(1, 10), START, left_at=LATER, left=Decision(Cause.HARM_FOUND, Event.ROLL_BACK))
    assert status(SHIFT, state(Phase.ROLLING_BACK, "0", steps=(step,)), LATER)["steps"][0]["acknowledged"] is None


def test_what_ended_a_run_stays_its_reason() -> None:
    outcome = Decision(Cause.CANARY_GONE, Event.ROLL_BACK)
    for phase in (Phase.ROLLING_BACK, Phase.ROLLED_BACK):
        found = status(SHIFT, state(phase, "0", outcome=outcome, decision=Decision(Cause.DONE)), LATER)
        assert "no ready endpoint left" in found["reason"]


def test_the_failure_belongs_to_the_metric_that_leads() -> None:
    metrics = (
        MetricEvidence(Metric.OUTCOMES, (0.0,) * 4, 100, 0, 900, 0),
        MetricEvidence(Metric.ATTEMPTS, (900.0,) * 4, 100, 50, 900, 0),
    )
    found = status(SHIFT, state(evidence=Evidence(metrics), seen=Seen(verdict=Verdict.FAIL)), LATER)
    assert [each["verdict"] for each in found["evidence"]] == ["pass", "fail"]
    assert found["evidence"][1]["harm"] == 1e9
    doubtful = replace(metrics[0], log_e=(3.0,) * 4)
    found = status(SHIFT, state(evidence=Evidence((doubtful, metrics[1])), seen=Seen(verdict=Verdict.FAIL)), LATER)
    assert [each["verdict"] for each in found["evidence"]] == ["insufficient", "fail"]


@pytest.mark.parametrize("cause", [Cause.REJECTED, Cause.HANDS_OFF, Cause.STABLE_GONE, Cause.ROUTE_MISSING])
def test_what_keeps_it_from_moving_is_a_condition(cause: Cause) -> None:
    conditions = status(SHIFT, state(decision=Decision(cause)), LATER)["conditions"]
    assert [each["reason"] for each in conditions] == [cause.value]


def test_an_ordinary_hold_is_none() -> None:
    assert status(SHIFT, state(decision=Decision(Cause.HOLDING)), LATER)["conditions"] == []
