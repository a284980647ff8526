"""The journal tells of a trouble of sight once, and of its end once, whatever happens in between."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from control.engine.phase import Verb
from tests.support.fake_ports import World
from tests.support.shifts import apply, at_step, command, run, run_for, shift, state_of

LONG = timedelta(seconds=30)
Trouble = Callable[[World, bool], None]


def unreachable(world: World, lasts: bool) -> None:
    world.unreachable = frozenset({"edge"}) if lasts else frozenset()


def blind(world: World, lasts: bool) -> None:
    world.blind = lasts


def unknown_endpoints(world: World, lasts: bool) -> None:
    world.endpoints["v2"] = None if lasts else 1


def begun(hold: str = "1s") -> World:
    world = World()
    apply(world, shift(steps="50%, 100%", hold=hold))
    run(world, at_step(1))
    return world


def pending() -> World:
    world = World()
    apply(world, shift(steps="50%, 100%", hold="1s"))
    return world


def told(world: World) -> list[tuple[str, str]]:
    kinds = ("RouteUnreadable", "MetricsUnavailable", "EndpointsUnknown", "ReadableAgain")
    return [(str(each["reason"]), str(each["sentence"])) for each in world.entries if each["reason"] in kinds]


@pytest.mark.parametrize(
    ("start", "trouble", "reason", "again"),
    [
        pytest.param(begun, unreachable, "RouteUnreadable", "the routes can be read again", id="a route"),
        pytest.param(begun, blind, "MetricsUnavailable", "the metrics can be read again", id="the metrics"),
        pytest.param(pending, blind, "MetricsUnavailable", "the metrics can be read again", id="before it began"),
        pytest.param(
            pending, unknown_endpoints, "EndpointsUnknown", "the ready endpoints are known again", id="endpoints"
        ),
    ],
)
def test_its_end_is_told(start: Callable[[], World], trouble: Trouble, reason: str, again: str) -> None:
    world = start()
    trouble(world, True)
    run_for(world, LONG)
    assert [each for each, _ in told(world)] == [reason]
    trouble(world, False)
    run_for(world, LONG)
    assert told(world)[1:] == [("ReadableAgain", again)]
    assert state_of(world).troubled == ()


def test_it_is_told_once_through_what_people_do_meanwhile() -> None:
    world = begun(hold="10s")
    blind(world, True)
    run_for(world, LONG)
    command(world, Verb.PAUSE)
    run_for(world, LONG)
    command(world, Verb.RESUME)
    run_for(world, LONG)
    assert [reason for reason, _ in told(world)] == ["MetricsUnavailable"]
    command(world, Verb.SUSPEND)
    blind(world, False)
    run_for(world, LONG)
    assert [reason for reason, _ in told(world)] == ["MetricsUnavailable", "ReadableAgain"]


def test_it_is_told_once_through_a_rollback() -> None:
    world = begun(hold="10s")
    unreachable(world, True)
    run_for(world, LONG)
    command(world, Verb.ROLLBACK)
    run_for(world, LONG)
    assert [reason for reason, _ in told(world)] == ["RouteUnreadable"]
    unreachable(world, False)
    run(world)
    assert [reason for reason, _ in told(world)] == ["RouteUnreadable", "ReadableAgain"]


def test_what_was_never_told_has_no_end() -> None:
    world = begun(hold="1h")
    blind(world, True)
    run_for(world, LONG)
    blind(world, False)
    run_for(world, LONG)
    assert told(world) == []
