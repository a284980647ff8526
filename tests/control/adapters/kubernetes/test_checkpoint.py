"""What of a shift is written to its object's status, and when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from control.adapters.kubernetes.checkpoint import (
    EVERY,
    HISTORY_KEPT,
    Checkpoint,
    is_due,
    kept,
    patch,
    percent,
    printed,
)
from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.decision import Cause, Decision
from control.engine.phase import Event
from control.engine.state import Guard, Intent, Window
from tests.support.situations import state

NOW = datetime(2026, 5, 1, tzinfo=UTC)
STATE = state(decision=Decision(Cause.INSUFFICIENT))
LAST = Checkpoint(3, STATE, NOW)


@pytest.mark.parametrize(
    ("changes", "later", "due"),
    [
        ({}, timedelta(0), False),
        ({"cursor": Cursor(), "tide": Numbers(), "window": Window()}, timedelta(0), False),
        ({"decision": Decision(Cause.INSUFFICIENT, facts={"n": "9"})}, timedelta(0), False),
        ({"decision": Decision(Cause.HARM_FOUND)}, timedelta(0), True),
        ({"decision": Decision(Cause.INSUFFICIENT, Event.ADVANCE)}, timedelta(0), True),
        ({"share": Fraction(1, 5)}, timedelta(0), True),
        ({"intent": Intent(4, Fraction(1, 5), NOW)}, timedelta(0), True),
        ({"commands": ("x",)}, timedelta(0), True),
        ({"guard": Guard(0.1)}, timedelta(0), True),
        ({"cursor": Cursor()}, EVERY, True),
    ],
    ids=["same", "counted", "facts", "cause", "event", "share", "intent", "command", "guard begins", "long ago"],
)
def test_what_was_decided_is_due_at_once_and_what_was_counted_in_time(
    changes: dict[str, Any], later: timedelta, due: bool
) -> None:
    assert is_due(LAST, replace(STATE, **changes), NOW + later) is due


def test_the_first_is_always_due() -> None:
    assert is_due(Checkpoint(), STATE, NOW)


def test_a_write_proves_that_nobody_wrote_since() -> None:
    assert patch(LAST, "77", {"a": 1}, exists=True) == [
        {"op": "test", "path": "/status/checkpoint", "value": 3},
        {"op": "replace", "path": "/status", "value": {"a": 1}},
    ]
    assert patch(Checkpoint(), "77", {}, exists=False)[0] == {
        "op": "test",
        "path": "/metadata/resourceVersion",
        "value": "77",
    }


@pytest.mark.parametrize(("share", "text"), [("1/20", "5 %"), ("1/8", "12.5 %"), ("1", "100 %"), (None, "")])
def test_shares_are_printed_as_people_write_them(share: str | None, text: str) -> None:
    assert percent(share) == text


def test_columns_tell_three_weights() -> None:
    status = {"share": {"configured": "1/5", "acknowledged": None, "observedRatio": 0.1987}}
    assert printed(status) == {"configured": "20 %", "acknowledged": "", "observed": "19.9 %"}
    assert printed({}) == {"configured": "", "acknowledged": "", "observed": ""}


def test_history_keeps_the_newest_each_once() -> None:
    old = [{"seq": n} for n in range(HISTORY_KEPT)]
    found = kept(old, [{"seq": HISTORY_KEPT - 1}, {"seq": HISTORY_KEPT}])
    assert [each["seq"] for each in found] == list(range(1, HISTORY_KEPT + 1))
