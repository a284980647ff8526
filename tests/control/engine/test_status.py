"""The status that every tool reads."""

import json
import math
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.decision import Cause, Decision
from control.engine.evidence import fresh
from control.engine.evidence.interval import fresh_interval, widen
from control.engine.phase import Event, Phase, Verdict
from control.engine.state import Bake, GaugeSeen, Guard, Intent, RouteSeen, Seen, ShiftState, Step, Window
from control.engine.status import status
from control.engine.terms import terms_of
from control.spec import Mode, TrafficShift
from tests.support.fake_ports import START
from tests.support.polls import poll
from tests.support.shifts import by_evidence, shift
from tests.support.situations import HARM, LATER, PROVEN, SHIFT, WATCHED, bets, state, tide

FIELDS = {
    "observedGeneration",
    "run",
    "subject",
    "mode",
    "phase",
    "outcome",
    "step",
    "totalSteps",
    "stepShare",
    "share",
    "verdict",
    "reason",
    "waitingFor",
    "waitingSince",
    "waitingUntil",
    "nextCommand",
    "startedAt",
    "stepEnteredAt",
    "finishedAt",
    "firstBadAt",
    "parked",
    "evidence",
    "unwatched",
    "harm",
    "upperBound",
    "budget",
    "bake",
    "guard",
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


JUDGED = Seen(verdict=Verdict.FAIL, verdicts={"outcomes": Verdict.FAIL})


def test_a_row_of_evidence_has_all_its_numbers() -> None:
    """The example of the documentation: 14 of 410 failed against 9 of 3,702, 212 : 1 for harm."""
    log = math.log(212)
    found = state(tide=tide(harm=log, proof=-2.0, counts=(410, 14, 3702, 9)), seen=JUDGED)
    (row,) = status(SHIFT, found, LATER)["evidence"]
    assert row == {
        "metric": "outcomes",
        "test": "outcomes",
        "verdict": "fail",
        "harm": pytest.approx(212, rel=0.01),
        "proof": pytest.approx(math.exp(-2.0), abs=1e-4),
        "tolerated": {"ratio": 1.1, "extra": 0.0005},
        "proven": {"ratio": 1.25, "extra": 0.005},
        "sentence": "canary 14 of 410 failed, stable 9 of 3,702; tolerated up to 1.1 x stable + 0.05 %; "
        "evidence 212 : 1 for harm",
        "canary": {"requests": 410, "bad": 14, "rate": 14 / 410},
        "stable": {"requests": 3702, "bad": 9, "rate": 9 / 3702},
        "phi": 2.0,
        "difference": None,
    }


def test_the_difference_has_bounds_once_something_was_compared() -> None:
    terms = terms_of(SHIFT, WATCHED)
    nothing = fresh_interval(terms)
    some = widen(terms, fresh(terms), nothing, poll((400, 8), (400, 4)))
    unknown, found = (
        status(SHIFT, state(sums=Numbers.of(each.numbers())), LATER)["evidence"][0]["difference"]
        for each in (nothing, some)
    )
    assert unknown is None
    assert found["estimate"] == pytest.approx(0.01)
    assert found["low"] < 0.01 < found["high"]


def test_before_the_first_poll_there_is_nothing_to_show() -> None:
    found = status(SHIFT, state(Phase.PENDING, "0", step=0, watched=None, tide=Numbers()), LATER)
    assert (found["evidence"], found["budget"], found["upperBound"], found["unwatched"]) == ([], None, None, {})


def test_why_a_metric_is_not_watched_is_said() -> None:
    watched = replace(WATCHED, unwatched={"latency": "too few requests"})
    assert status(SHIFT, state(watched=watched), LATER)["unwatched"] == {"latency": "too few requests"}


@pytest.mark.parametrize(("excess", "spent", "left"), [(12.5, 12.5, 37.5), (-3.0, 0.0, 50.0), (60.0, 60.0, 0.0)])
def test_the_budget(excess: float, spent: float, left: float) -> None:
    found = status(SHIFT, state(tide=tide(excess=excess)), LATER)["budget"]
    assert found == {"limit": 50.0, "spent": spent, "left": left}


BAKES = {
    "none is asked for": (by_evidence(), state(), None),
    "fixed steps have none": (SHIFT, state(), None),
    "it is ahead": (
        by_evidence(bake="10m"), state(),
        {"for": "10m", "at": "1/5", "since": None, "until": None, "lastedSeconds": 0.0},
    ),
    "it is under way": (
        by_evidence(bake="10m"), state(bake=Bake(LATER - timedelta(minutes=2), 60.0)),
        {"for": "10m", "at": "1/5", "since": "2026-01-01T00:07:00Z", "until": "2026-01-01T00:17:00Z",
         "lastedSeconds": 180.0},
    ),
    "it is interrupted": (
        by_evidence(bake="10m"), state(bake=Bake(None, 60.0)),
        {"for": "10m", "at": "1/5", "since": None, "until": None, "lastedSeconds": 60.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "now", "bake"), BAKES.values(), ids=BAKES.keys())
def test_the_bake(wanted: TrafficShift, now: ShiftState, bake: object) -> None:
    assert status(wanted, now, LATER)["bake"] == bake


def test_the_guard_says_until_when_it_watches() -> None:
    guard = Guard(0.005, bets=bets(math.log(1e6)), polls=9.0, requests=1400, bad=30)
    found = status(SHIFT, state(Phase.PROMOTED, "1", finished_at=START, guard=guard), LATER)["guard"]
    assert found["until"] == "2026-01-01T00:10:00Z"
    assert found["sentence"].startswith("30 of 1,400 failed at 100 %, 0.5 % may; evidence ")
    assert (found["limit"], found["requests"], found["bad"]) == (0.005, 1400, 30)
    assert status(SHIFT, state(Phase.PROMOTING, "1", guard=Guard(0.005)), LATER)["guard"]["until"] is None
    assert status(SHIFT, state(), LATER)["guard"] is None


def test_a_parked_shift_says_since_when_and_where_it_goes_on() -> None:
    intent = Intent(3, Fraction(0), LATER)
    parked = state(Phase.PARKED, "0", intent=intent, decision=Decision(Cause.PARKED, facts={"blind": "60 s"}))
    found = status(SHIFT, replace(parked, steps=state(share="1/2").steps), LATER)
    assert found["parked"] == {"since": "2026-01-01T00:10:00Z", "share": "1/2"}
    assert found["conditions"][0]["type"] == "Parked"
    assert status(SHIFT, state(), LATER)["parked"] is None


ENDS = {
    "a failure": Cause.HARM_FOUND,
    "a spent budget": Cause.BUDGET_SPENT,
    "a broken objective": Cause.GUARD_BROKEN,
    "a person": Cause.COMMANDED,
}


@pytest.mark.parametrize("cause", ENDS.values(), ids=ENDS.keys())
def test_what_ended_it_is_told_apart(cause: Cause) -> None:
    over = state(Phase.ROLLED_BACK, "0", outcome=Decision(cause, Event.ROLL_BACK), decision=Decision(Cause.DONE))
    assert status(SHIFT, over, LATER)["outcome"] == cause.value
    assert status(SHIFT, state(outcome=Decision(cause, Event.ROLL_BACK)), LATER)["outcome"] is None


GAUGE = """metrics:
    - {name: outcomes}
    - {name: queue, prometheus: {kind: gauge, value: 'max(queue{version="{{ version }}"})', max: 50, for: 1m}}
"""


def test_a_gauge_has_a_row_of_its_own() -> None:
    wanted = shift(steps="10%, 50%, 100%", hold="10s", more=GAUGE)
    shown = Seen(gauges=(GaugeSeen("queue", 99.0, None),), verdicts={"queue": Verdict.INSUFFICIENT})
    row = status(wanted, state(seen=shown), LATER)["evidence"][-1]
    assert row == {
        "metric": "queue",
        "test": "queue",
        "verdict": "insufficient",
        "low": None,
        "high": 50.0,
        "sentence": "canary 99, stable unknown",
        "canary": {"value": 99.0},
        "stable": {"value": None},
    }


def test_who_only_observes_says_so() -> None:
    watching = replace(state(), subject=replace(state().subject, mode=Mode.OBSERVE))
    assert status(SHIFT, watching, LATER)["mode"] == "observe"
    assert status(SHIFT, state(), LATER)["mode"] == "control"


def test_the_rungs_ahead_are_counted_as_steps() -> None:
    found = status(by_evidence(), state(share="1/5", step=3), LATER)
    assert (found["step"], found["totalSteps"]) == (3, 6)


def test_proof_and_harm_are_odds_that_people_can_read() -> None:
    found = status(SHIFT, state(tide=tide(harm=HARM * 20, proof=PROVEN)), LATER)["evidence"][0]
    assert (found["harm"], found["proof"]) == (1e9, round(math.exp(PROVEN), 4))


@pytest.mark.parametrize("cause", [Cause.REJECTED, Cause.HANDS_OFF, Cause.STABLE_GONE, Cause.ROUTE_MISSING])
def test_what_keeps_it_from_moving_is_a_condition(cause: Cause) -> None:
    conditions = status(SHIFT, state(decision=Decision(cause)), LATER)["conditions"]
    assert [each["reason"] for each in conditions] == [cause.value]


def test_an_ordinary_hold_is_none() -> None:
    assert status(SHIFT, state(decision=Decision(Cause.HOLDING)), LATER)["conditions"] == []


def test_counts_that_are_none_are_told_as_long_as_they_are() -> None:
    told = Cursor(at=LATER, troubles=("requests of v2 at gw#1 are no counts (nan)",))
    found = status(SHIFT, state(cursor=told), LATER)["conditions"]
    assert [(each["type"], each["message"]) for each in found] == [
        ("CountsUnusable", "not learned from: requests of v2 at gw#1 are no counts (nan)")
    ]
    assert status(SHIFT, state(), LATER)["conditions"] == []
