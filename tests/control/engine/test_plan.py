"""Which step is next, how long each takes at least, and how traffic goes back little by little."""

from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.phase import Event, Phase
from control.engine.plan import nearest, next_step, plan, shares_ahead, step_length, way_back, way_up
from control.spec import Strategy
from tests.support.shifts import by_evidence, shift

STRATEGY = shift(steps="1%, 20%, 100%", hold="10s").strategy
EVIDENCE = by_evidence(bake="10m").strategy


@pytest.mark.parametrize(
    ("strategy", "share", "ahead"),
    [
        (STRATEGY, "0", ["1/100", "1/5", "1"]),
        (STRATEGY, "1/100", ["1/5", "1"]),
        (STRATEGY, "1/10", ["1/5", "1"]),
        (STRATEGY, "1/5", ["1"]),
        (STRATEGY, "1", []),
        (EVIDENCE, "1/5", ["7/20", "1/2", "1"]),
        (EVIDENCE, "1/2", ["1"]),
    ],
)
def test_the_next_step_is_the_first_above(strategy: Strategy, share: str, ahead: list[str]) -> None:
    assert [str(each) for each in shares_ahead(strategy, Fraction(share))] == ahead
    assert next_step(strategy, Fraction(share)) == (Fraction(ahead[0]) if ahead else None)


@pytest.mark.parametrize(
    ("to", "phase", "event"),
    [
        ("1/5", Phase.PENDING, Event.BEGIN),
        ("1/5", Phase.PROGRESSING, Event.ADVANCE),
        ("1", Phase.PENDING, Event.FILL),
        ("1", Phase.PROGRESSING, Event.FILL),
    ],
)
def test_a_run_that_has_begun_does_not_begin_again(to: str, phase: Phase, event: Event) -> None:
    assert way_up(Fraction(to), phase) is event


def test_steps_follow_each_other() -> None:
    assert [(each.begins.total_seconds(), each.ends.total_seconds()) for each in plan(STRATEGY)] == [
        (0, 10),
        (10, 20),
        (20, 30),
    ]


def test_by_evidence_only_the_bake_has_a_length() -> None:
    planned = {str(each.share): each.ends - each.begins for each in plan(EVIDENCE, 50.0)}
    assert planned["1/5"] == timedelta(minutes=10)
    assert {length for share, length in planned.items() if share != "1/5"} == {timedelta(0)}


@pytest.mark.parametrize(
    ("rate", "seconds"), [(None, 10), (0.0, 10), (10.0, 200), (1000.0, 10)], ids=["unknown", "none", "slow", "fast"]
)
def test_where_traffic_is_thin_a_step_takes_longer(rate: float | None, seconds: int) -> None:
    assert step_length(STRATEGY, Fraction(1, 100), rate) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("share", "exact"), [(0.001, "1/1000"), (0.1, "1/10"), (0.35, "7/20"), (1.0, "1")])
def test_a_number_stands_for_an_exact_share(share: float, exact: str) -> None:
    assert nearest(EVIDENCE, share) == Fraction(exact)


@pytest.mark.parametrize(
    ("share", "back"),
    [
        ("1", "1/2 1/4 3/25 3/50 3/100 1/100 0"),
        ("1/2", "1/4 3/25 3/50 3/100 1/100 0"),
        ("1/50", "1/100 0"),
        ("1/100", "0"),
        ("1/1000", "0"),
        ("0", "0"),
    ],
)
def test_a_return_halves_in_whole_percents(share: str, back: str) -> None:
    assert " ".join(map(str, way_back(Fraction(share)))) == back


@given(st.fractions(0, 1, max_denominator=1000))
def test_a_return_only_ever_falls_and_ends_at_nothing(share: Fraction) -> None:
    left = way_back(share)
    assert left[-1] == 0
    assert all(before > after for before, after in pairwise([share, *left])) or share == 0
