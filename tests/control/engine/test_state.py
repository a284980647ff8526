"""What is stored comes back bit for bit, fits, and is refused when it is from the future."""

import json
import struct
from dataclasses import fields, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine import upcast as upcasting
from control.engine.codec import Numbers, decode, encode, pack, parse_time, squeezed, time_text
from control.engine.cursor import Cursor, Place, tables_of
from control.engine.decision import Cause, Decision
from control.engine.evidence import fresh
from control.engine.evidence.interval import fresh_interval
from control.engine.explain import sentence
from control.engine.phase import Event, Phase, Verb
from control.engine.state import AIMED_BYTES, MOST_BYTES, RouteSeen, Seen, ShiftState, new_state
from control.engine.terms import terms_of
from control.engine.upcast import SCHEMA, upcast
from control.engine.watched import Watched
from control.errors import InvariantBroken
from control.ports import Stored
from control.spec import TrafficShift, to_document
from tests.support.fake_ports import START, Behaviour, World
from tests.support.shifts import KEY, apply, by_evidence, command, phase_of, run, shift, state_of
from tests.support.situations import SHIFT, one_test, state, tide_of

FIXTURES = Path(__file__).parent / "states"


@pytest.mark.parametrize(
    "wanted", [shift(steps="10%, 100%", hold="2s"), by_evidence(bake="20s")], ids=["steps", "evidence"]
)
def test_every_state_of_a_run_comes_back_bit_for_bit(wanted: TrafficShift) -> None:
    world = World(behaviours={"v1": Behaviour(retried=1), "v2": Behaviour(retried=1)})
    apply(world, wanted)
    kept: list[dict[str, object]] = []
    world.kill = lambda call, when: kept.append(dict(world.stored[KEY].state)) if when == "after" else None
    run(world)
    assert len(kept) > 10
    for each in kept:
        text = json.dumps(each)
        assert json.dumps(ShiftState.from_json(json.loads(text)).to_json()) == text


SIX = (
    "outcomes",
    "attempts",
    "abandoned",
    "latency>50ms",
    "latency>100ms",
    "latency>500ms",
    "misses",
    "first-token>250ms",
)
"""Six metrics: four built in, of which latency has three edges, and two of a team's own."""
DICE = np.random.default_rng(4)


def crowded() -> ShiftState:
    """A hundred proxies, eight tests of six metrics, eight processes a version, a dozen steps."""
    watched = Watched(tuple(one_test(name) for name in SIX), {"latency": (50.0, 100.0, 500.0)})
    tables = {
        "#requests": {
            (version, f"gateway-{i}.shop#{10**8 + i}", f"gateway-{i}.shop"): (0, 10**6 + i * 7919, i, i * 31, i * 7, i)
            for version in ("v1", "v2") for i in range(100)
        },
        "#pods": {
            (version, f"10.1.7.{i}:8080", ""): (0, 10**6 + i * 977, i) for version in ("v1", "v2") for i in range(8)
        },
    }  # fmt: skip
    names, packed = tables_of(tables)
    places = {version: tuple(Place(f"10.1.7.{i}:8080", served=True) for i in range(8)) for version in ("v1", "v2")}
    terms = terms_of(SHIFT, watched)
    known = fresh(terms)
    tide = _filled(known, {"harm", "block", "proof", "upper_log", "upper_gain", "routing"})
    counted = _filled(known.seen, {"chi"})
    proxies = tuple(f"gateway-{i}.shop" for i in range(32))
    left = Decision(Cause.STEP_ENTERED, Event.ADVANCE, {f"fact{i}": str(i * 7919) for i in range(11)})
    return replace(
        state(),
        watched=watched,
        tide=Numbers.of(replace(known, **tide, seen=replace(known.seen, **counted)).numbers()),
        sums=Numbers.of([float(DICE.uniform(-40, 40)) for _ in fresh_interval(terms).numbers()]),
        cursor=Cursor(START, names, packed, places={"#pods": places}, waiting=(2.0,) + (0.0,) * 4 * len(SIX)),
        steps=(replace(state().steps[0], left_at=START, left=left),) * 12,
        seen=Seen((RouteSeen("default/edge", "edge", holders=proxies, acknowledged=proxies),) * 2),
    )


def _filled(known: Any, digits: set[str]) -> dict[str, Any]:
    """Logs with all their digits, and counts, which are whole."""
    shapes = {each.name: getattr(known, each.name).shape for each in fields(known) if each.name != "seen"}
    return {
        name: DICE.uniform(-40, 40, shape) if name in digits else np.floor(DICE.uniform(0, 10**5, shape))
        for name, shape in shapes.items()
    }


def test_a_state_with_a_hundred_proxies_and_six_metrics_fits() -> None:
    full = crowded()
    assert len(json.dumps(full.to_json())) < AIMED_BYTES
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
    "a list that is text": {**state().to_json(), "set_aside": 7},
    "a value that is a list": {**state().to_json(), "intent": []},
    "a cursor that is garbage": {**state().to_json(), "cursor": "garbage"},
    "a cursor that is none": {**state().to_json(), "cursor": 7},
    "steps that are something else": {**state().to_json(), "steps": pack({"mood": "good"})},
    "evidence that is garbage": {**state().to_json(), "tide": "garbage"},
    "evidence that is cut off": {**state().to_json(), "tide": squeezed(b"1234567")},
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_state_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(InvariantBroken):
        ShiftState.from_json(data)


@given(st.lists(st.floats()))
def test_numbers_are_kept_to_their_last_bit(values: list[float]) -> None:
    """Infinities, a zero with a sign, and what is no number at all."""
    kept = Numbers.parse(Numbers.of(values).text())
    assert struct.pack(f"{len(values)}d", *kept.values) == struct.pack(f"{len(values)}d", *values)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.name)
def test_a_state_of_every_released_version_is_read(path: Path) -> None:
    found = ShiftState.from_json(json.loads(path.read_text()))
    assert (found.phase, found.step, found.subject.canary) == (Phase.PROGRESSING, 2, "v2")
    assert len(found.steps) == 2
    assert found.seen.canary_endpoints == 1


def test_there_is_a_stored_state_of_each_version() -> None:
    assert [path.name for path in sorted(FIXTURES.glob("*.json"))] == [
        f"v{number}.json" for number in range(1, SCHEMA + 1)
    ]


def old_run(version: str = "v1") -> World:
    """A run that a controller of the first version (or of this one) began, at its second step of three."""
    world = World()
    world.set_weights({"v1": 50, "v2": 50})
    world.set_weights({"v1": 50, "v2": 50}, "edge")
    spec = to_document(shift())
    spec["spec"] = {key: spec["spec"][key] for key in ("target", "stable", "canary", "poll", "strategy")}
    world.now += timedelta(seconds=14)
    world.stored[KEY] = Stored(*KEY, spec, json.loads((FIXTURES / f"{version}.json").read_text()), 7)
    return world


def test_a_running_shift_of_an_older_version_goes_on() -> None:
    """Where it stands, and by its own spec: nothing is told as changed, what is compared begins anew."""
    world = old_run()
    run(world, lambda each: bool(state_of(each).tide.values))
    found = state_of(world)
    assert (found.phase, found.step, found.run) == (Phase.PROGRESSING, 2, 1)
    run(world)
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, 1)
    assert "SpecChanged" not in [entry["reason"] for entry in world.entries]


def test_the_stored_evidence_of_this_version_fits_the_core() -> None:
    """When it does not, what is stored has another form: a new schema version, or, before this one was ever released,
    the example written anew by python -m tests.support.stored_state.
    """
    world = old_run(f"v{SCHEMA}")
    before = state_of(world)
    assert before.watched is not None
    assert tide_of(shift(), before).polls[0] > 0
    run(world)
    assert (phase_of(world), world.share()) == (Phase.PROMOTED, 1)
    assert state_of(world).run == before.run


def test_nor_is_harm_forgiven_by_an_upgrade() -> None:
    world = old_run()
    world.behaviours["v2"] = Behaviour(failing=Fraction(1, 2))
    run(world)
    assert (phase_of(world), world.share()) == (Phase.ROLLED_BACK, 0)


def test_a_decision_of_an_older_version_is_told_as_it_was() -> None:
    found = ShiftState.from_json(json.loads((FIXTURES / "v1.json").read_text()))
    left = found.steps[0].left
    assert left is not None
    assert sentence(left, found, "translator") == (
        "canary 0 of 100 failed, stable 0 of 1,940; tolerated up to 1.1 x stable + 0.05 %; no evidence of harm"
    )


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
    assert not new_state(shift()).to_json().keys() & {"cursor", "steps", "seen", "watched", "tide", "sums"}


def test_the_counters_used_up_and_what_came_of_them_are_one_write() -> None:
    """Whichever save is the last one, its cursor has seen exactly the requests that its steps have counted."""
    world = World()
    apply(world, shift(steps="10%, 100%", hold="2s"))
    kept: list[ShiftState] = []
    world.kill = lambda call, when: kept.append(state_of(world)) if (call, when) == ("save", "after") else None
    run(world)
    first = next(each for each in kept if each.steps)
    began = sum(row[1] for row in first.cursor.rows("#requests").values())
    for each in kept:
        if each.steps:
            counted = sum(step.canary.requests + step.stable.requests for step in each.steps)
            assert counted == sum(row[1] for row in each.cursor.rows("#requests").values()) - began


def test_commands_survive() -> None:
    world = World()
    apply(world, shift(hold="1h"))
    run(world, lambda each: state_of(each).step == 1)
    command(world, Verb.PAUSE, id="x")
    assert state_of(world).commands == ("x",)
