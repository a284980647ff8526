"""No screen says a thing twice, whatever the phase of a shift and whatever it waits for."""

import re
from dataclasses import replace
from itertools import combinations

import pytest

from control.engine.decision import Cause, Decision
from control.engine.judge import judge
from control.engine.phase import Phase
from control.engine.state import Bake, RouteSeen, Seen, ShiftState
from control.engine.status import status
from control.spec import Mode, to_document
from control.view.explain import explain_view
from control.view.model import ShiftView
from control.view.shift import shift_view, untold_refusals
from tests.support.situations import LATER, SHIFT, seen, state, tide

FACTS = {
    "by": "ada", "because": ": looks odd", "to": "1/2", "theirs": "1/4", "ours": "1/10",
    "route": "edge", "message": "no such subset", "proxy": "gateway.default", "late": "a, b", "unheld": "",
    "windowCanary": "2013", "windowStable": "19870", "need": "5000", "last": "1200", "of": "4800",
    "bake": "10 min", "bar": "20 : 1", "proof": "3 : 1", "doubtful": "slower than 250 ms", "proven": "1.25 x stable",
    "blind": "60 s", "budget": "50", "excess": "50.2", "left": "12", "needed": "80", "failing": "0.3 %",
    "gauge": "pool", "value": "12", "range": "at most 9", "also": "", "bad": "31", "requests": "1,204",
    "limit": "0.5 %", "guard": "evidence 212 : 1 for harm", "upper": "3 %", "cap": "25 %", "canaryEndpoints": "1",
    "stableEndpoints": "3", "observed": "1 %", "unseen": "v1", "unheard": "misses", "what": "the routes can be read",
    "looks": "3",
}  # fmt: skip
RUNNING = {
    *(Phase.PENDING, Phase.PROGRESSING, Phase.PAUSED, Phase.PARKED, Phase.PROMOTING, Phase.SUSPENDED),
    *(Phase.CONFLICT, Phase.FAILED),
}


def situation(phase: Phase, cause: Cause, mode: Mode) -> ShiftState:
    """A shift in this phase whose last decision has this cause; one that has ended did so for it."""
    refused = (("gateway.default", "no such subset"),) if cause is Cause.REJECTED else ()
    route = RouteSeen("default/edge", "edge", "r1", state().share, ("gateway.default",), (), refused)
    baking = Bake(LATER) if cause in (Cause.BAKING, Cause.BAKE_ENTERED) else None
    found = state(phase, tide=tide(counts=(2013, 1, 19870, 3)), seen=Seen((route,), 1, 1), bake=baking)
    found = replace(found, subject=replace(found.subject, mode=mode))
    decision = Decision(cause, facts=FACTS | judge(SHIFT, found, seen(), LATER).facts)
    return replace(found, decision=decision, outcome=None if phase in RUNNING else decision)


def view_of(phase: Phase, cause: Cause, mode: Mode = Mode.CONTROL) -> ShiftView:
    shift = replace(SHIFT, mode=mode)
    document = to_document(shift) | {"status": status(shift, situation(phase, cause, mode), LATER)}
    return shift_view(document, [], LATER)


def phrases(text: str) -> set[tuple[str, ...]]:
    """Every three words that follow each other; numbers and names of versions may come again."""
    spoken = re.findall(r"[a-z][a-z'-]+", text.lower())
    return {tuple(spoken[i : i + 3]) for i in range(len(spoken) - 2)}


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("cause", Cause)
def test_what_stands_side_by_side_is_said_once(phase: Phase, cause: Cause, mode: Mode) -> None:
    view = view_of(phase, cause, mode)
    meters = [each.text for each in (view.budget, view.bake) if each is not None]
    texts = (view.headline, view.reason, view.waiting.sentence, *view.conditions, *untold_refusals(view), *meters)
    for one, other in combinations([text for text in texts if text], 2):
        assert not phrases(one) & phrases(other), (one, other)
    assert view.headline.removeprefix("has ") not in view.reason


@pytest.mark.parametrize("cause", Cause)
def test_an_explanation_says_each_thing_once(cause: Cause) -> None:
    explained = explain_view(view_of(Phase.PROGRESSING, cause))
    lines = [explained.headline, *(line for _, answers in explained.answers for line in answers)]
    whole = [line for line in lines if not line.startswith("tidegate ")]
    for one, other in combinations(whole, 2):
        assert one not in other, (one, other)


@pytest.mark.parametrize("cause", Cause)
def test_a_number_has_its_thousands_apart(cause: Cause) -> None:
    view = view_of(Phase.PROGRESSING, cause)
    for text in (view.reason, view.waiting.sentence, *(row.sentence for row in view.metrics)):
        assert not re.search(r"\d{4}", text), text


def test_a_single_request_is_no_requests() -> None:
    one = Decision(Cause.INSUFFICIENT, facts={"windowCanary": "1", "windowStable": "0", "need": "1"})
    found = status(SHIFT, state(decision=one), LATER)
    assert found["reason"] == "too little was seen at 10 % to judge: 1 request of v2, 0 requests of v1"
    assert found["waitingFor"] == "1 request of v2 must be seen, and some of v1"


def test_two_proxies_that_refuse_alike_are_both_named() -> None:
    view = view_of(Phase.PROGRESSING, Cause.REJECTED)
    row = replace(view.proxies[0], rejections=(*view.proxies[0].rejections, "sidecar.default: no such subset"))
    assert untold_refusals(replace(view, proxies=(row,))) == ("sidecar.default: no such subset",)
