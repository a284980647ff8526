"""One decision from one situation: each rule, its neighbours, and what it must not do. Fixed steps."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.decision import Cause, Decision
from control.engine.evidence import Action
from control.engine.move import move
from control.engine.observation import Observation, beside_held
from control.engine.phase import Event, Phase
from control.engine.state import Intent, ShiftState, Subject, Window
from control.errors import InvariantBroken
from control.spec import Mode
from tests.support.fake_ports import START
from tests.support.shifts import shift
from tests.support.situations import DOUBT, HARM, LATER, SHIFT, decided, seen, state, tide

NOBODY = Window(5, 0, 900, 0, 180)
FAILING = {"tide": tide(harm=HARM)}
DECISIONS = {
    "a good step leads to the next": (state(), seen(), Cause.STEP_ENTERED, Event.ADVANCE),
    "the last one to 100 %": (state(share="1/2"), seen(), Cause.FULL_ENTERED, Event.FILL),
    "at 100 % it is done": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 0, 99, 0)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a request that still ended on stable is no matter": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 199, 1)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a silent poll after it is no matter": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 199, 1, 2)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % a silent poll makes no request of stable unseen": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 90, 10, 2)), seen(), Cause.NOT_OBSERVED, None,
    ),
    "at 100 % many that did are": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 9, 90, 10)), seen(), Cause.NOT_OBSERVED, None,
    ),
    "at 100 % nothing seen is nothing done": (
        state(Phase.PROMOTING, "1", window=Window(5)), seen(), Cause.NO_DATA, None,
    ),
    "at 100 % stable may be silent": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 0, 99, 0)), seen(unseen=("v1",)),
        Cause.PROMOTED, Event.FINISH,
    ),
    "at 100 % nothing is compared, so nothing is doubted": (
        state(Phase.PROMOTING, "1", window=Window(5, 500, 0, 99, 0), tide=tide(harm=DOUBT)), seen(),
        Cause.PROMOTED, Event.FINISH,
    ),
    "the hold is not over": (state(acknowledged_at=LATER), seen(), Cause.HOLDING, None),
    "the weight is not acknowledged": (state(acknowledged_at=None), seen(), Cause.AWAITING_PROXIES, None),
    "nobody has looked at this weight yet": (state(window=Window()), seen(), Cause.DWELLING, None),
    "no request of the canary": (state(window=NOBODY), seen(), Cause.NO_DATA, None),
    "the source does not know the canary": (state(), seen(unseen=("v2",)), Cause.VERSION_UNSEEN, None),
    "nor stable": (state(), seen(unseen=("v1",)), Cause.VERSION_UNSEEN, None),
    "too few requests": (state(window=Window(5, 19, 900, 1, 1)), seen(), Cause.INSUFFICIENT, None),
    "no stable traffic": (state(window=Window(5, 500, 0, 1, 0)), seen(), Cause.NO_DATA, None),
    "the source can't be read": (state(), seen(readable=False), Cause.METRICS_UNAVAILABLE, None),
    "a person's metric can't be read": (
        state(), seen(troubles={"misses": "two series"}), Cause.METRICS_UNAVAILABLE, None,
    ),
    "doubt holds": (state(tide=tide(harm=DOUBT)), seen(), Cause.SUSPECTED, None),
    "rest is rest": (state(Phase.ROLLED_BACK, "0", generation=SHIFT.generation), seen(), Cause.DONE, None),
    "a changed spec after a rollback begins again": (
        state(Phase.ROLLED_BACK, "0", generation="other"), seen(), Cause.RENEWED, Event.RENEW,
    ),
    "a spec that nobody remembers is no changed one": (
        state(Phase.ROLLED_BACK, "0", generation=""), seen(), Cause.DONE, None,
    ),
    "suspended means suspended": (
        state(Phase.SUSPENDED, **FAILING), seen(canary_endpoints=0), Cause.SUSPENDED, None,
    ),
    "drained is rolled back": (
        state(Phase.ROLLING_BACK, "0", window=Window(2, 3, 99, 0, 50)), seen(), Cause.ROLLED_BACK, Event.DRAINED,
    ),
    "not looked at since is not drained": (
        state(Phase.ROLLING_BACK, "0", window=Window()), seen(), Cause.AWAITING_DRAIN, None,
    ),
    "an unread proxy may hide requests": (
        state(Phase.ROLLING_BACK, "0", window=Window(2, 3, 99, 0, 50)),
        seen(unread=("gw",)), Cause.AWAITING_DRAIN, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), DECISIONS.values(), ids=DECISIONS.keys())
def test_a_decision(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SHIFT, now, world)
    assert (found.cause, found.event) == (cause, event)


DEADLINES = {
    "it is not over": ("deadline: 1h", Phase.PROGRESSING, Cause.STEP_ENTERED, Event.ADVANCE),
    "it holds": ("deadline: 1m", Phase.PROGRESSING, Cause.OVERDUE, None),
    "it goes back": ("deadline: 1m\n  onDeadline: rollback", Phase.PROGRESSING, Cause.DEADLINE_PASSED, Event.ROLL_BACK),
    "a parked one goes back": (
        "deadline: 1m\n  onDeadline: rollback", Phase.PARKED, Cause.DEADLINE_PASSED, Event.ROLL_BACK,
    ),
    "a parked one holds": ("deadline: 1m", Phase.PARKED, Cause.OVERDUE, None),
    "a paused one is a person's": ("deadline: 1m\n  onDeadline: rollback", Phase.PAUSED, Cause.PAUSED, None),
}  # fmt: skip


@pytest.mark.parametrize(("more", "phase", "cause", "event"), DEADLINES.values(), ids=DEADLINES.keys())
def test_the_deadline(more: str, phase: Phase, cause: Cause, event: Event | None) -> None:
    wanted = shift(steps="10%, 50%, 100%", hold="10s", more=more)
    found = decided(wanted, state(phase, "0" if phase is Phase.PARKED else "1/10"), seen())
    assert (found.cause, found.event) == (cause, event)


OBSERVING = Subject(SHIFT.host, "v1", "v2", SHIFT.target.routes, Mode.OBSERVE)
SEES = shift(steps="10%, 50%, 100%", hold="10s", more="mode: observe")
CARRIES = replace(seen().routes[0], configured=Fraction(9, 10), in_place=False)
ONLY_LOOKS = {
    "other weights are no drift": (state(), seen(routes=(CARRIES,)), Cause.STEP_ENTERED, Event.ADVANCE),
    "a weight that somebody gave is no hindrance": (
        state(Phase.PENDING, "0", step=0), seen(routes=(CARRIES,)), Cause.STEP_ENTERED, Event.BEGIN,
    ),
    "no hands are on anything": (
        state(), seen(routes=(replace(CARRIES, hands_off=True),)), Cause.STEP_ENTERED, Event.ADVANCE,
    ),
    "what a proxy refuses is not ours": (
        state(), seen(routes=(replace(CARRIES, acknowledged=(), rejections=(("gw", "no"),)),)),
        Cause.STEP_ENTERED, Event.ADVANCE,
    ),
    "at 100 % it need not be seen there": (
        state(Phase.PROMOTING, "1", window=Window(5, 50, 450, 9, 81)), seen(), Cause.PROMOTED, Event.FINISH,
    ),
    "nothing drains": (
        state(Phase.ROLLING_BACK, "0", window=Window()), seen(), Cause.ROLLED_BACK, Event.DRAINED,
    ),
    "harm is harm": (state(**FAILING), seen(), Cause.HARM_FOUND, Event.ROLL_BACK),
    "a canary that is gone is gone": (state(), seen(canary_endpoints=0), Cause.CANARY_GONE, Event.ROLL_BACK),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "cause", "event"), ONLY_LOOKS.values(), ids=ONLY_LOOKS.keys())
def test_who_only_observes(now: ShiftState, world: Observation, cause: Cause, event: Event | None) -> None:
    found = decided(SEES, replace(now, subject=OBSERVING), world)
    assert (found.cause, found.event) == (cause, event)


@pytest.mark.parametrize("mode", Mode)
def test_another_mode_is_another_run(mode: Mode) -> None:
    """What was only observed is not taken over: the weights that would have been were never written."""
    wanted = SEES if mode is Mode.CONTROL else SHIFT
    now = replace(state(), subject=replace(OBSERVING, mode=mode))
    assert decided(wanted, now, seen()).cause is Cause.SUPERSEDED


def test_a_rule_that_waits_says_until_when() -> None:
    assert decided(SHIFT, state(acknowledged_at=LATER), seen()).until == LATER + timedelta(seconds=10)


def test_a_route_that_no_proxy_holds_is_spare_beside_one_that_is_held() -> None:
    held, unheld = seen().routes[0], replace(seen().routes[0], key="other", holders=(), acknowledged=())
    assert [each.in_force for each in beside_held([held, unheld])] == [True, True]
    assert [each.in_force for each in beside_held([unheld, unheld])] == [False, False]
    assert beside_held([unheld])[0].unheld


def test_a_refused_intent_holds() -> None:
    refused = Intent(1, Fraction(1, 10), START, rejected="no such cluster", rejected_at=START)
    assert decided(SHIFT, state(intent=refused), seen()).cause is Cause.REJECTED


def test_a_move_that_the_table_does_not_have_is_our_bug() -> None:
    with pytest.raises(InvariantBroken, match="finish can't happen to a shift that is Pending"):
        move(SHIFT, state(Phase.PENDING), Decision(Cause.PROMOTED, Event.FINISH), LATER)


def test_every_course_of_the_evidence_has_its_rule() -> None:
    """Each action of the core is answered somewhere; none falls through to a step up unseen."""
    assert {each.name for each in Action} == {
        "ROLL_BACK", "SPENT", "POD", "SUSPECTED", "MISMATCH", "OUTAGE", "WAITING", "PROMOTE", "BAKE", "BAKING",
        "ADVANCE", "UNPROVEN", "CAPPED", "BUDGETED",
    }  # fmt: skip
