"""The clock was set in the middle of a run: which of its times move along?

All that the run still counts from or waits for: a hold has lasted as long as it has, whatever the clock says now. What
is told of the past keeps the times of then.
"""

from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from control.engine.state import ShiftState


def carried(state: ShiftState, by: timedelta) -> ShiftState:
    """The state as it would be, had the clock always been as it is since it was set `by` so much (forward: above 0).

    Example: a weight that was acknowledged at 10:00:00, with the clock set from 10:00:03 to 11:00:03, counts from
    11:00:00 on.
    """
    if not by:
        return state
    moved: ShiftState = _moved(replace(state, outbox=()), by)
    return replace(moved, outbox=state.outbox)


def _moved(value: Any, by: timedelta) -> Any:
    match value:
        case datetime():
            return value + by
        case tuple():
            return tuple(_moved(each, by) for each in value)
        case dict():
            return {key: _moved(each, by) for key, each in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: _moved(getattr(value, each.name), by) for each in fields(value)})
        case _:
            return value
