"""The rule that came of a shift, by what ended it."""

from typing import Any

import pytest

from control.engine.compared import Counted, Difference
from control.engine.decision import Cause
from control.engine.ledger import ROLLED_BACK
from control.engine.lesson import ENDED, lesson
from tests.support.ledgers import entry, finding

BAD = {"verdict": "fail", "canary": Counted(410, 14), "stable": Counted(3702, 9), "harm": 212.0}


def harmed(*tests: Any) -> str:
    return lesson(entry(outcome=ROLLED_BACK, cause=Cause.HARM_FOUND, reason="", tests=tests))


RULES = {
    "callers saw it": (
        (finding(**BAD), finding("attempts", **BAD | {"harm": 99.0})),
        "v2 must not be tried again as it is: 14 of 410 (v1: 9 of 3,702) requests failed",
    ),
    "retries hid it": (
        (finding(), finding("attempts", **BAD)),
        "watch attempts: retries hid from callers that v2 fails, 14 of 410 (v1: 9 of 3,702) tries were repeats",
    ),
    "retries did not hide it": (
        (finding(**BAD | {"harm": 100.0}), finding("attempts", **BAD)),
        "watch attempts: 14 of 410 (v1: 9 of 3,702) tries of v2 were repeats",
    ),
    "callers left": (
        (finding("abandoned", **BAD),),
        "v2 keeps its callers waiting: 14 of 410 (v1: 9 of 3,702) left before an answer",
    ),
    "slow": (
        (finding("latency>250ms", **BAD),),
        "v2 is too slow: 14 of 410 (v1: 9 of 3,702) requests took over 250 ms",
    ),
    "a metric of one's own": (
        (finding("cache-misses", **BAD),),
        "watch cache-misses: 14 of 410 (v1: 9 of 3,702) were bad on v2",
    ),
}


@pytest.mark.parametrize(("tests", "said"), RULES.values(), ids=RULES.keys())
def test_harm_is_told_by_the_metric_that_convicted(tests: tuple[Any, ...], said: str) -> None:
    assert harmed(*tests) == said


def test_a_promotion_is_told_by_what_was_proven() -> None:
    tests = (
        finding(),
        finding("attempts", difference=Difference(-0.02, -0.03, -0.01)),
        finding("latency>100ms", difference=Difference(0.0, -0.01, 0.004)),
        finding("latency>250ms", difference=Difference(0.0, -0.01, 0.021)),
        finding("cache-misses", difference=Difference(0.0, -0.1, 0.1)),
        finding("abandoned", difference=None),
    )
    assert lesson(entry(tests=tests)) == (
        "v2 may replace v1: at most 0.21 % more requests fail, at most 0 % more tries are repeats, "
        "at most 2.1 % more requests take over 250 ms, at most 10 % more are bad by cache-misses"
    )


def test_a_promotion_without_a_comparison() -> None:
    assert lesson(entry(tests=(finding(difference=None),))) == "nothing was compared when v2 replaced v1: watch it"


@pytest.mark.parametrize("cause", ENDED)
def test_what_else_ended_it(cause: Cause) -> None:
    said = lesson(entry(outcome=ROLLED_BACK, cause=cause, tests=()))
    assert said != lesson(entry(outcome=ROLLED_BACK, cause=Cause.COMMANDED, tests=()))
    assert "{" not in said


@pytest.mark.parametrize("cause", [Cause.COMMANDED, Cause.SUPERSEDED, Cause.DELETED, Cause.HARM_FOUND, "OfANewerOne"])
def test_what_teaches_nothing_says_why(cause: str) -> None:
    said = lesson(entry(outcome=ROLLED_BACK, cause=cause, reason="all traffic goes back: looks odd", tests=()))
    assert said == "no rule: all traffic goes back: looks odd"
