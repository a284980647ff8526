"""Every cause has its words, and they say the numbers."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from control.engine.compared import Comparison, Counted, from_facts
from control.engine.decision import Cause, Decision
from control.engine.evidence import Margin
from control.engine.explain import (
    NOTHING,
    amount,
    compared,
    next_command,
    odds,
    percent,
    rate_percent,
    sentence,
    to_one,
    waiting_for,
)
from control.engine.phase import Event
from control.engine.state import Flow, ShiftState
from control.engine.words import OBSERVED, WORDS, WOULD
from control.spec import Mode
from tests.support.shifts import by_evidence
from tests.support.situations import LATER, decided, seen, state, tide

WATCHING = replace(state(), subject=replace(state().subject, mode=Mode.OBSERVE))


def row(test: str, canary: tuple[int, int], stable: tuple[int, int], extra: float = 0.0005) -> Comparison:
    """Units: requests and bad ones."""
    margin = Margin(1.1, extra)
    metric = test.partition(">")[0].partition("<")[0]
    return Comparison(test, metric, Counted(*canary), Counted(*stable), margin, margin, 0.0, 0.0, 1.0)


def test_every_cause_has_words() -> None:
    assert set(WORDS) == set(Cause)


@pytest.mark.parametrize("now", [state(), WATCHING], ids=["in control", "observing"])
@pytest.mark.parametrize("event", [None, *Event])
@pytest.mark.parametrize("cause", Cause)
def test_no_sentence_shows_its_template(cause: Cause, event: Event | None, now: ShiftState) -> None:
    """Even without a single fact; a word for what is missing stands in."""
    decision = Decision(cause, event)
    for text in (sentence(decision, now, "translator"), waiting_for(decision, now, "translator")):
        assert "{" not in text
        assert "None" not in text
    assert next_command(decision, "translator") in ("", *(f"tidegate {verb} translator" for verb in VERBS))


VERBS = ("promote", "rollback", "resume", "explain")

COMPARED = {
    "failures": (
        row("outcomes", (410, 14), (3702, 9)),
        "canary 14 of 410 failed, stable 9 of 3,702; tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "tries": (
        row("attempts", (100, 30), (900, 1)),
        "canary 30 retries in 100 requests, stable 1 retry in 900 requests; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "one try of one request": (
        row("attempts", (1, 1), (9, 0)),
        "canary 1 retry in 1 request, stable 0 retries in 9 requests; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "callers who left": (
        row("abandoned", (40, 12), (3700, 3)),
        "canary 12 of 40 abandoned by their callers, stable 3 of 3,700; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "slow ones": (
        row("latency>250ms", (410, 12), (3702, 13), 0.002),
        "slower than 250 ms: canary 12 of 410, stable 13 of 3,702; "
        "tolerated up to 1.1 x stable + 0.2 %; evidence 212 : 1 for harm",
    ),
    "a person's counters": (
        row("misses", (410, 12), (3702, 13)),
        "bad: canary 12 of 410, stable 13 of 3,702; tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "a person's histogram": (
        row("first-token>500ms", (410, 12), (3702, 13)),
        "above 500 ms: canary 12 of 410, stable 13 of 3,702; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
    "more is better": (
        row("tokens<20", (410, 12), (3702, 13)),
        "not above 20: canary 12 of 410, stable 13 of 3,702; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm",
    ),
}


@pytest.mark.parametrize(("found", "text"), COMPARED.values(), ids=COMPARED.keys())
def test_a_comparison_is_told_in_numbers(found: Comparison, text: str) -> None:
    assert compared(found, math.log(212)) == text


@pytest.mark.parametrize("found", [each for each, _ in COMPARED.values()], ids=COMPARED.keys())
def test_what_a_decision_keeps_says_the_same_later(found: Comparison) -> None:
    kept = from_facts(found.facts(3.25))
    assert kept is not None
    assert compared(*kept) == compared(found, 3.25)
    assert from_facts({}) is None


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (math.log(212), "evidence 212 : 1 for harm"),
        (math.log(2), "evidence 2 : 1 for harm"),
        (10_000.0, "evidence over 1,000,000,000 : 1 for harm"),
        (0.0, "no evidence of harm"),
        (-math.log(8), "no evidence of harm (8 : 1 against)"),
    ],
)
def test_odds(log: float, text: str) -> None:
    assert odds(log) == text


@pytest.mark.parametrize(("log", "text"), [(-2000.0, "9.9e-305 : 1"), (0.0, "1 : 1"), (math.log(37.4), "37 : 1")])
def test_to_one(log: float, text: str) -> None:
    assert to_one(log) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [("1/20", "5 %"), ("1/200", "0.5 %"), ("1/1000", "0.1 %"), ("1/3", "33.3 %"), ("1", "100 %"), ("0", "0 %")],
)
def test_a_share_as_people_say_it(share: str, text: str) -> None:
    assert percent(Fraction(share)) == text


def test_rates_and_amounts() -> None:
    assert [rate_percent(each) for each in (0.0, 0.0005, 0.034146, 1.0)] == ["0 %", "0.05 %", "3.41 %", "100 %"]
    assert [amount(each) for each in (0.0, 12.34, 50.0, 1234.5)] == ["0", "12.3", "50", "1,234"]


def test_before_anything_was_compared_that_is_said() -> None:
    step = Decision(Cause.STEP_ENTERED, facts={"to": "1/20"})
    assert sentence(step, state(), "translator") == NOTHING
    nobody = Decision(Cause.STEP_ENTERED, facts=row("outcomes", (0, 0), (900, 3)).facts(0.0))
    assert sentence(nobody, state(), "translator") == NOTHING


SAID: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a budget that is spent is no verdict": (
        {"tide": tide(excess=50.6)}, {},
        "the budget is spent: 50.6 failed requests beyond what is usual for v1, of 50 that this shift may cost; that "
        "is no verdict on v2: canary 9 of 500 failed, stable 3 of 900; tolerated up to 1.1 x stable + 0.05 %; "
        "no evidence of harm",
    ),
    "the endpoints that carry no more": (
        {"share": "1/10"}, {"canary_endpoints": 1, "stable_endpoints": 10},
        "1 endpoint of v2 beside 10 endpoints of v1 carry 10 % at the most",
    ),
    "a version that is not counted": (
        {}, {"unseen": ("v1", "v2")},
        "the metrics have been read, and say nothing at all of v1 and v2; no data is no verdict",
    ),
    "one that is unproven": (
        {"share": "1/5", "tide": tide(proof=-1.0)}, {},
        "nothing speaks against v2, too little for it yet: by outcomes, proof 0.37 : 1",
    ),
    "one that might cost too much": (
        {"share": "1/50", "flow": Flow(5_000.0, LATER, 9_000, 27)}, {},
        "up to 100 % more requests than usual may fail, for all that is known: more than 2 % would risk too much of "
        "the 50 failed requests that are left to spend",
    ),
    "requests that go astray": (
        {"tide": tide(routing=np.full((1, 1, 3), 12.0), routing_polls=np.array([5.0]))}, {},
        "routing mismatch: v2 should have 10 % of the requests, and 35.7 % reach it",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "text"), SAID.values(), ids=SAID.keys())
def test_what_is_said(now: dict[str, Any], world: dict[str, Any], text: str) -> None:
    at = state(**now)
    assert sentence(decided(by_evidence(), at, seen(**world)), at, "translator") == text


def test_who_only_observes_says_would() -> None:
    """Whatever it would have done to a weight, and as it would have said it."""
    for event, would in WOULD.items():
        said = sentence(Decision(Cause.HARM_FOUND, event, {"to": "1/2", "metric": "outcomes"}), WATCHING, "translator")
        assert "would" in said
        assert said.startswith(would.format(canary="v2", stable="v1", to="50 %"))
    for cause in OBSERVED:
        assert "would" in sentence(Decision(cause, facts={"to": "1/2"}), WATCHING, "translator")
    assert not waiting_for(Decision(Cause.STEP_ENTERED, Event.ADVANCE), WATCHING, "translator")
