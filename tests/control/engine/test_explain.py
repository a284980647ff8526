"""Every cause has its words, and they say the numbers."""

import math
from fractions import Fraction

import pytest

from control.engine.decision import Cause, Decision
from control.engine.counting import Metric
from control.engine.explain import NOTHING, compared, next_command, odds, percent, sentence, waiting_for
from control.engine.words import WORDS
from tests.support.situations import state


def test_every_cause_has_words() -> None:
    assert set(WORDS) == set(Cause)


@pytest.mark.parametrize("cause", Cause)
def test_no_sentence_shows_its_template(cause: Cause) -> None:
    """Even without a single fact; a word for what is missing stands in."""
    decision = Decision(cause)
    for text in (sentence(decision, state(), "translator"), waiting_for(decision, state(), "translator")):
        assert "{" not in text
        assert "None" not in text
    assert next_command(decision, "translator") in ("", *(f"tidegate {verb} translator" for verb in VERBS))


VERBS = ("promote", "rollback", "resume", "explain")


def test_a_failure_is_told_in_numbers() -> None:
    text = compared(Metric.OUTCOMES, (410, 14), (3702, 9), math.log(212))
    assert text == (
        "canary 14 of 410 failed, stable 9 of 3,702 failed; "
        "tolerated up to 1.1 x stable + 0.05 %; evidence 212 : 1 for harm"
    )


def test_tries_are_told_as_retries() -> None:
    assert "canary 30 retries in 100 requests" in compared(Metric.ATTEMPTS, (100, 30), (900, 1), 9.0)


def test_callers_who_left_are_told_as_such() -> None:
    text = compared(Metric.ABANDONED, (40, 12), (3700, 3), 9.0)
    assert text.startswith("canary 12 of 40 abandoned by their callers, stable 3 of 3,700; tolerated up to")
    assert "canary 1 retry in 1 request, stable 0 retries in 9 requests" in compared(
        Metric.ATTEMPTS, (1, 1), (9, 0), 9.0
    )


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


@pytest.mark.parametrize(
    ("share", "text"), [("1/20", "5 %"), ("1/200", "0.5 %"), ("1/3", "33.3 %"), ("1", "100 %"), ("0", "0 %")]
)
def test_a_share_as_people_say_it(share: str, text: str) -> None:
    assert percent(Fraction(share)) == text


def test_before_anything_was_compared_that_is_said() -> None:
    step = Decision(Cause.STEP_ENTERED, facts={"to": "1/20"})
    assert sentence(step, state(evidence=None), "translator") == NOTHING
