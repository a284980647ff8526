"""What is stored comes back bit for bit, fits, and is refused when it is from the future."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from control.engine import upcast as upcasting
from control.engine.codec import decode, encode, parse_time, time_text
from control.engine.counting import Metric
from control.engine.phase import Phase, Verb
from control.engine.readings import UNKNOWN, Cursor
from control.engine.state import MOST_BYTES, RouteSeen, Seen, ShiftState, new_state
from control.engine.upcast import SCHEMA, upcast
from control.errors import InvariantBroken
from tests.support.fake_ports import START, Behaviour, World
from tests.support.shifts import KEY, apply, command, run, shift, state_of
from tests.support.situations import state

FIXTURES = Path(__file__).parent / "states"


def test_every_state_of_a_run_comes_back_bit_for_bit() -> None:
    world = World(behaviours={"v1": Behaviour(retried=1), "v2": Behaviour(retried=1)})
    apply(world, shift(steps="10%, 100%", hold="2s"))
    kept: list[dict[str, object]] = []
    world.kill = lambda call, when: kept.append(dict(world.stored[KEY].state)) if when == "after" else None
    run(world)
    assert len(kept) > 10
    for each in kept:
        text = json.dumps(each)
        assert json.dumps(ShiftState.from_json(json.loads(text)).to_json()) == text


def test_a_state_with_a_hundred_proxies_and_thirty_steps_fits() -> None:
    marks = tuple((v, f"gateway-{i}.shop#{10**8 + i}", f"gateway-{i}.shop", 10**9 + i * 7919, i, i * 31, i * 7)
                  for v in ("v1", "v2") for i in range(100))  # fmt: skip
    steps = state().steps * 30
    names = tuple(f"gateway-{i}.shop" for i in range(32))
    routes = (RouteSeen("default/edge", "VirtualService default/edge", holders=names, acknowledged=names),) * 2
    full = replace(state(), cursor=Cursor(marks), steps=steps, seen=Seen(routes))
    assert len(json.dumps(full.to_json())) < MOST_BYTES
    assert ShiftState.from_json(full.to_json()) == full


def test_a_state_that_does_not_fit_is_our_bug() -> None:
    with pytest.raises(InvariantBroken, match=f"more than {MOST_BYTES:,}"):
        replace(state(), commands=tuple(str(number) for number in range(10_000))).to_json()


def test_a_state_of_a_newer_version_is_refused_clearly() -> None:
    with pytest.raises(
        InvariantBroken, match=f"schema version {SCHEMA + 1}, this program knows up to {SCHEMA}"
    ) as caught:
        ShiftState.from_json({**state().to_json(), "schema": SCHEMA + 1})
    assert "newer tidegate" in caught.value.hint


BROKEN = {
    "empty": {},
    "no version": {"phase": "Pending"},
    "a version that is none": {**state().to_json(), "schema": "one"},
    "an unknown phase": {**state().to_json(), "phase": "Flying"},
    "an unknown field": {**state().to_json(), "mood": "good"},
    "a missing field": {key: each for key, each in state().to_json().items() if key != "generation"},
    "a number that is text": {**state().to_json(), "step": "2"},
    "a list that is text": {**state().to_json(), "steps": 7},
    "a value that is a list": {**state().to_json(), "intent": []},
    "a cursor that is garbage": {**state().to_json(), "cursor": "garbage"},
    "no cursor": {key: each for key, each in state().to_json().items() if key != "cursor"},
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_state_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(InvariantBroken):
        ShiftState.from_json(data)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.name)
def test_a_state_of_every_released_version_is_read(path: Path) -> None:
    found = ShiftState.from_json(json.loads(path.read_text()))
    assert (found.phase, found.step, found.subject.canary) == (Phase.PROGRESSING, 2, "v2")


def test_a_state_from_before_abandoned_requests_were_counted_does_not_know_them() -> None:
    found = ShiftState.from_json(json.loads((FIXTURES / "v1.json").read_text()))
    assert {mark[-1] for mark in found.cursor.marks} == {UNKNOWN}
    assert ShiftState.from_json(found.to_json()) == found
    assert found.evidence is not None
    assert [each.metric for each in found.evidence.metrics] == [Metric.OUTCOMES, Metric.ATTEMPTS]


def test_there_is_a_stored_state_of_each_version() -> None:
    assert [path.name for path in sorted(FIXTURES.glob("*.json"))] == [
        f"v{number}.json" for number in range(1, SCHEMA + 1)
    ]


def test_an_old_state_climbs_one_version_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upcasting, "SCHEMA", 3)
    monkeypatch.setitem(upcasting.UPCASTERS, 1, lambda fields: {**fields, "one": True})
    monkeypatch.setitem(upcasting.UPCASTERS, 2, lambda fields: {**fields, "two": fields["one"]})
    assert upcast({"schema": 1, "old": 7}) == {"old": 7, "one": True, "two": True}
    assert upcast({"schema": 3, "old": 7}) == {"old": 7}


def test_a_new_state_has_written_nothing() -> None:
    found = new_state(shift())
    assert (found.phase, found.share, found.intent) == (Phase.PENDING, 0, None)


def test_times_read_back() -> None:
    assert parse_time(time_text(START)) == START
    assert time_text(START).endswith("Z")


def test_only_what_differs_from_its_default_is_stored() -> None:
    assert encode(Seen()) == {}
    assert decode(Seen, {}) == Seen()


def test_the_counters_used_up_and_what_came_of_them_are_one_write() -> None:
    """Whichever save is the last one, its cursor has seen exactly the requests that its steps have counted."""
    world = World()
    apply(world, shift(steps="10%, 100%", hold="2s"))
    kept: list[ShiftState] = []
    world.kill = lambda call, when: kept.append(state_of(world)) if (call, when) == ("save", "after") else None
    run(world)
    first = next(each for each in kept if each.steps)
    began = sum(mark[3] for mark in first.cursor.marks)
    for each in kept:
        if each.steps:
            counted = sum(step.canary.requests + step.stable.requests for step in each.steps)
            assert counted == sum(mark[3] for mark in each.cursor.marks) - began


def test_commands_survive() -> None:
    world = World()
    apply(world, shift(hold="1h"))
    run(world, lambda each: state_of(each).step == 1)
    command(world, Verb.PAUSE, id="x")
    assert state_of(world).commands == ("x",)
