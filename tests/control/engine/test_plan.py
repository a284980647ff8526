"""Which step is next, and how long each takes at least."""

from datetime import timedelta
from fractions import Fraction

import pytest

from control.engine.phase import Event, Phase
from control.engine.plan import next_step, plan, shares_ahead, step_length, way_up
from tests.support.shifts import shift

STRATEGY = shift(steps="1%, 20%, 100%", hold="10s").strategy


@pytest.mark.parametrize(
    ("share", "ahead", "event"),
    [
        ("0", ["1/100", "1/5", "1"], Event.BEGIN),
        ("1/100", ["1/5", "1"], Event.ADVANCE),
        ("1/10", ["1/5", "1"], Event.ADVANCE),
        ("1/5", ["1"], Event.FILL),
        ("1", [], None),
    ],
)
def test_the_next_step_is_the_first_above(share: str, ahead: list[str], event: Event | None) -> None:
    assert [str(each) for each in shares_ahead(STRATEGY, Fraction(share))] == ahead
    assert next_step(STRATEGY, Fraction(share)) == (Fraction(ahead[0]) if ahead else None)
    assert way_up(STRATEGY, Fraction(share), Phase.PROGRESSING if share != "0" else Phase.PENDING) is event


def test_a_run_that_resumes_at_nothing_goes_on_and_does_not_begin_again() -> None:
    assert way_up(STRATEGY, Fraction(0), Phase.PROGRESSING) is Event.ADVANCE


def test_a_single_step_begins_at_the_end() -> None:
    assert way_up(shift(steps="100%").strategy, Fraction(0), Phase.PENDING) is Event.FILL


def test_steps_follow_each_other() -> None:
    assert [(each.begins.total_seconds(), each.ends.total_seconds()) for each in plan(STRATEGY)] == [
        (0, 10),
        (10, 20),
        (20, 30),
    ]


@pytest.mark.parametrize(
    ("rate", "seconds"), [(None, 10), (0.0, 10), (10.0, 200), (1000.0, 10)], ids=["unknown", "none", "slow", "fast"]
)
def test_where_traffic_is_thin_a_step_takes_longer(rate: float | None, seconds: int) -> None:
    assert step_length(STRATEGY, Fraction(1, 100), rate) == timedelta(seconds=seconds)
