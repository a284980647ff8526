"""When has the traffic stopped, and what is said then?"""

from dataclasses import replace
from datetime import timedelta

import pytest

from control.engine.cursor import Cursor
from control.engine.decision import Cause
from control.engine.explain import sentence
from control.engine.judge import judge
from control.engine.phase import Phase, Verdict
from control.engine.silence import silent, stands_still
from control.engine.state import Heard, ShiftState, Window
from control.engine.status import status
from tests.support.fake_ports import START
from tests.support.situations import LATER, SHIFT, decided, seen, state

EACH_LOOK = 300
"""Looks in ten minutes of two seconds each."""


def quiet(
    canary_s: float, stable_s: float, *, looks: int = EACH_LOOK, share: str = "1/10", phase: Phase = Phase.PROGRESSING
) -> ShiftState:
    """A shift whose versions had their last request that long before the last look."""
    last = [Heard(looks, LATER - timedelta(seconds=each)) for each in (canary_s, stable_s)]
    return state(phase, share, window=replace(Window(EACH_LOOK, 500, 900, 10, 18, 0, 5), **_heard(last)))


def _heard(last: list[Heard]) -> dict[str, Heard]:
    return {"heard_canary": last[0], "heard_stable": last[1]}


SILENT = {
    "both go on": (quiet(0, 2), (), 0),
    "not long enough yet": (quiet(14, 14), (), 0),
    "both stopped": (quiet(35, 40), ("v1", "v2"), 35),
    "the canary stopped": (quiet(35, 0), ("v2",), 35),
    "stable stopped": (quiet(0, 35), ("v1",), 35),
    "stable has nothing to do at 100 %": (quiet(0, 300, share="1"), (), 0),
    "the canary stopped at 100 %": (quiet(35, 300, share="1"), ("v2",), 35),
    "a request a minute is not silent in between": (quiet(100, 0, looks=10), (), 0),
    "but is in the end": (quiet(300, 0, looks=10), ("v2",), 300),
    "who has nothing is not silent": (quiet(35, 0, share="0", phase=Phase.ROLLING_BACK), (), 0),
    "what is over is over": (quiet(35, 35, share="1", phase=Phase.PROMOTED), (), 0),
    "not in force yet": (replace(quiet(35, 35), acknowledged_at=None), (), 0),
    "nobody has looked": (replace(quiet(35, 35), cursor=Cursor()), (), 0),
    "stable was never heard": (
        state(window=Window(9, 9, 0, 1, 0, heard_canary=Heard(300, LATER))), ("v1",), (LATER - START).total_seconds(),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("now", "versions", "seconds"), SILENT.values(), ids=SILENT.keys())
def test_who_is_silent(now: ShiftState, versions: tuple[str, ...], seconds: float) -> None:
    found = silent(SHIFT, now)
    assert (found.versions if found else ()) == versions
    assert (found.length.total_seconds() if found else 0) == seconds
    expected = Verdict.NO_DATA if versions else None
    assert (judge(SHIFT, now, seen(), LATER).verdict is Verdict.NO_DATA) == (expected is Verdict.NO_DATA)


def test_it_says_so_and_holds() -> None:
    now = quiet(35, 0)
    found = decided(SHIFT, now, seen())
    assert (found.cause, found.event) == (Cause.NO_DATA, None)
    assert sentence(found, now, "translator") == "no request of v2 was counted for 35 s; no data is no verdict"
    both = decided(SHIFT, quiet(35, 40), seen())
    assert sentence(both, now, "translator") == "no request of v1 and v2 was counted for 35 s; no data is no verdict"


@pytest.mark.parametrize(
    ("now", "still"), [(quiet(35, 35), True), (quiet(35, 0), False), (quiet(0, 35), False), (quiet(9, 9), False)]
)
def test_what_was_observed_is_not_so_for_ever(now: ShiftState, still: bool) -> None:
    assert stands_still(SHIFT, now) is still
    assert (status(SHIFT, now, LATER)["share"]["observedRatio"] is None) is still
