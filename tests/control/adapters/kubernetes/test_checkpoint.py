"""What of a shift is written to its object's status, and when."""

from datetime import UTC, datetime, timedelta
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

NOW = datetime(2026, 5, 1, tzinfo=UTC)
STATE: dict[str, Any] = {"phase": "Progressing", "share": "1/10", "cursor": "a", "decision": {"cause": "Insufficient"}}
LAST = Checkpoint(3, STATE, NOW)


@pytest.mark.parametrize(
    ("state", "later", "due"),
    [
        (STATE, timedelta(0), False),
        (STATE | {"cursor": "b", "tide": "c", "window": {}}, timedelta(0), False),
        (STATE | {"decision": {"cause": "Insufficient", "facts": {"n": "9"}}}, timedelta(0), False),
        (STATE | {"decision": {"cause": "HarmFound"}}, timedelta(0), True),
        (STATE | {"share": "1/5"}, timedelta(0), True),
        (STATE | {"intent": {"id": 4}}, timedelta(0), True),
        (STATE | {"commands": ["x"]}, timedelta(0), True),
        (STATE | {"guard": {"limit": 0.1}}, timedelta(0), True),
        (STATE | {"cursor": "b"}, EVERY, True),
    ],
    ids=["same", "counted", "facts", "cause", "share", "intent", "command", "guard begins", "long ago"],
)
def test_what_was_decided_is_due_at_once_and_what_was_counted_in_time(state: Any, later: timedelta, due: bool) -> None:
    assert is_due(LAST, state, NOW + later) is due


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
