"""Five verdicts, a metric and in all; no data is never one on a version."""

from dataclasses import replace

import numpy as np
import pytest

from control.engine.judge import capacity, judge
from control.engine.observation import Observation
from control.engine.phase import Verdict
from control.engine.state import ShiftState, Window
from control.engine.watched import Watched
from control.spec import TrafficShift
from tests.support.shifts import by_evidence
from tests.support.situations import CLEAR, DOUBT, HARM, LATER, PROVEN, SHIFT, UNPROVEN, one_test, seen, state, tide

NOBODY = Window(5, 0, 900, 0, 180)
BY_EVIDENCE = by_evidence()
PASS, FAIL, INSUFFICIENT = Verdict.PASS, Verdict.FAIL, Verdict.INSUFFICIENT
NO_DATA, UNAVAILABLE = Verdict.NO_DATA, Verdict.UNAVAILABLE
IN_ALL = {
    "by steps: enough and clear": (SHIFT, state(), seen(), PASS),
    "by steps: too few": (SHIFT, state(window=Window(5, 19, 900)), seen(), INSUFFICIENT),
    "by steps: no stable": (SHIFT, state(window=Window(5, 500, 0)), seen(), NO_DATA),
    "by steps: no stable is normal at 100 %": (SHIFT, state(share="1", window=Window(5, 500, 0)), seen(), PASS),
    "by evidence: enough is no proof": (BY_EVIDENCE, state(), seen(), INSUFFICIENT),
    "by evidence: proof": (BY_EVIDENCE, state(tide=tide(proof=PROVEN)), seen(), PASS),
    "harm": (SHIFT, state(tide=tide(harm=HARM)), seen(), FAIL),
    "harm, whatever can be read now": (SHIFT, state(tide=tide(harm=HARM), window=NOBODY), seen(readable=False), FAIL),
    "doubt is not enough": (SHIFT, state(tide=tide(harm=DOUBT)), seen(), INSUFFICIENT),
    "doubt against proof": (BY_EVIDENCE, state(tide=tide(harm=DOUBT, proof=PROVEN)), seen(), INSUFFICIENT),
    "a spent budget is no failure": (SHIFT, state(tide=tide(excess=99.0)), seen(), PASS),
    "nothing moved": (SHIFT, state(window=NOBODY), seen(), NO_DATA),
    "no answer about the canary": (SHIFT, state(), seen(unseen=("v2",)), NO_DATA),
    "no answer about stable": (SHIFT, state(), seen(unseen=("v1",)), NO_DATA),
    "unreadable": (SHIFT, state(window=NOBODY), seen(readable=False), UNAVAILABLE),
    "one metric is unreadable": (SHIFT, state(), seen(troubles={"outcomes": "a timeout"}), UNAVAILABLE),
    "before the first comparison": (SHIFT, state(watched=None, window=NOBODY), seen(), NO_DATA),
}


@pytest.mark.parametrize(("wanted", "now", "world", "verdict"), IN_ALL.values(), ids=IN_ALL.keys())
def test_in_all(wanted: TrafficShift, now: ShiftState, world: Observation, verdict: Verdict) -> None:
    assert judge(wanted, now, world, LATER).verdict is verdict


THREE = Watched((one_test("outcomes"), one_test("attempts"), one_test("latency>250ms")))


def three(harm: tuple[float, ...], proof: tuple[float, ...], canary: tuple[int, ...] = (500,) * 3) -> ShiftState:
    counts = np.array([[[n, 0, 900, 0] for n in canary]], float)
    return state(watched=THREE, tide=tide(THREE, harm=harm, proof=proof, counts=counts))  # type: ignore[arg-type]


NO, YES = (UNPROVEN,) * 3, (PROVEN,) * 3
EACH = {
    "each is proven for itself": (
        three((CLEAR,) * 3, (PROVEN, UNPROVEN, PROVEN)), seen(), (PASS, INSUFFICIENT, PASS),
    ),
    "the failure is of the one that says most": (three((CLEAR, HARM, 1.0), YES), seen(), (PASS, FAIL, PASS)),
    "the doubt is of each that has one": (three((DOUBT, HARM, CLEAR), YES), seen(), (INSUFFICIENT, FAIL, PASS)),
    "one that was never counted": (three((CLEAR,) * 3, YES, (500, 0, 500)), seen(), (PASS, NO_DATA, PASS)),
    "one that can't be read": (
        three((CLEAR,) * 3, YES), seen(troubles={"latency": "a timeout"}), (PASS, PASS, UNAVAILABLE),
    ),
    "none can be read": (three((CLEAR,) * 3, YES), seen(readable=False), (UNAVAILABLE,) * 3),
    "what was proven stays so while nobody comes": (
        replace(three((CLEAR,) * 3, (PROVEN, UNPROVEN, PROVEN)), window=NOBODY), seen(), (PASS, INSUFFICIENT, PASS),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "world", "verdicts"), EACH.values(), ids=EACH.keys())
def test_a_metric(now: ShiftState, world: Observation, verdicts: tuple[Verdict, ...]) -> None:
    found = judge(BY_EVIDENCE, now, world, LATER).verdicts
    assert found == dict(zip(["outcomes", "attempts", "latency>250ms"], verdicts, strict=True))


def test_by_steps_what_is_enough_in_all_is_enough_of_each() -> None:
    assert set(judge(SHIFT, three((CLEAR,) * 3, NO), seen(), LATER).verdicts.values()) == {PASS}


def test_the_first_is_named_while_none_says_anything() -> None:
    assert judge(SHIFT, three((0.1, 0.2, 0.3), NO), seen(), LATER).facts["test"] == "outcomes"
    assert judge(SHIFT, three((0.1, 0.2, 3.0), NO), seen(), LATER).facts["test"] == "latency>250ms"
    assert judge(SHIFT, state(watched=None), seen(), LATER).facts == {}


@pytest.mark.parametrize(
    ("wanted", "canary", "stable", "cap"),
    [
        (BY_EVIDENCE, 1, 4, 0.25),
        (BY_EVIDENCE, 4, 4, 1.0),
        (BY_EVIDENCE, 9, 4, 1.0),
        (BY_EVIDENCE, None, 4, 1.0),
        (BY_EVIDENCE, 1, None, 1.0),
        (BY_EVIDENCE, 1, 0, 1.0),
        (SHIFT, 1, 4, 1.0),
    ],
)
def test_what_the_ready_endpoints_carry(
    wanted: TrafficShift, canary: int | None, stable: int | None, cap: float
) -> None:
    assert capacity(wanted, seen(canary_endpoints=canary, stable_endpoints=stable)) == cap
