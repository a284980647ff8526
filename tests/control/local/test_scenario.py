"""What a demo shows: faults by version, the shift that is applied, and a split that somebody else made."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from control.local.byhand import split_by_hand, texts
from control.local.faults import FAULTS
from control.local.layout import Layout
from control.local.manifests import SHIFT, write_documents
from control.local.scenario import Scenario
from control.spec import Mode, parse_shift
from services.runtime.faults import parse_faults

TWO = Fraction(2, 100)


@pytest.mark.parametrize("kind", FAULTS)
def test_every_kind_is_a_fault_of_the_service(kind: str) -> None:
    assert len(parse_faults(FAULTS[kind].knob)) == 1


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        pytest.param(Scenario(), (), id="nobody fails"),
        pytest.param(Scenario(fault="crash"), (("v2", "crash:after=4s"),), id="a fault is the canary's"),
        pytest.param(
            Scenario(both_fail=TWO), (("v1", "internal:0.020000000"), ("v2", "internal:0.020000000")), id="both alike"
        ),
        pytest.param(Scenario(both_fail=Fraction(0)), (), id="both fail nothing"),
    ],
)
def test_who_fails_how(scenario: Scenario, expected: object) -> None:
    assert scenario.faults == expected


def test_a_shift_is_applied_as_its_file_stands() -> None:
    assert Scenario().text == SHIFT.read_bytes()
    assert Scenario().shift.mode is Mode.CONTROL


def test_an_observing_shift_is_the_same_but_for_its_mode() -> None:
    scenario = Scenario(observe=True)
    applied = parse_shift(scenario.text, "applied")
    assert applied == scenario.shift
    assert (applied.mode, applied.metrics) == (Mode.OBSERVE, Scenario().shift.metrics)


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        pytest.param(Scenario(), [], id="nothing to say"),
        pytest.param(Scenario(fault="tail"), ["800 ms late"], id="a fault"),
        pytest.param(Scenario(both_fail=TWO), ["both versions fail 2% of their requests"], id="both fail"),
        pytest.param(Scenario(fault="slow", observe=True), ["400 ms late", "v2 20% by hand"], id="observed too"),
    ],
)
def test_what_a_person_is_told(scenario: Scenario, words: list[str]) -> None:
    told = list(scenario.told())
    assert len(told) == len(words)
    assert all(word in line for word, line in zip(words, told, strict=True))


def test_a_split_by_hand_changes_the_weights_of_the_shifts_routes_and_nothing_else(tmp_path: Path) -> None:
    layout = Layout("127.64.0", tmp_path)
    write_documents(layout)
    before = texts(layout.documents)
    split_by_hand(layout.documents, Scenario().shift, Fraction(1, 5))
    after = texts(layout.documents)
    changed = {line for name in before for line in _changed(before[name], after[name])}
    assert changed == {("weight: 100", "weight: 80"), ("weight: 0", "weight: 20")}
    assert sum(before[name] != after[name] for name in before) == 2, "the gateway's file and the mesh's"
    split_by_hand(layout.documents, Scenario().shift, Fraction(1, 5))
    assert texts(layout.documents) == after, "the same split again"


def _changed(before: bytes, after: bytes) -> set[tuple[str, str]]:
    lines: Mapping[int, str] = dict(enumerate(before.decode().splitlines()))
    return {
        (lines[at].strip(), line.strip()) for at, line in enumerate(after.decode().splitlines()) if line != lines[at]
    }
