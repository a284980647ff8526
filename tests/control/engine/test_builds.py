"""Another build behind the canary: what is known of one never speaks for the next."""

from fractions import Fraction

import pytest

from control.engine.builds import judged_builds, side_by_side
from control.engine.decision import Cause, Decision
from control.engine.phase import Event, Phase
from control.engine.state import Intent, ShiftState
from tests.support.fake_ports import START
from tests.support.situations import HARM, SHIFT, decided, seen, state, tide

ONE, TWO, OTHER = "cart@1", "cart@2", "spot@1"


@pytest.mark.parametrize(
    ("builds", "found"),
    [
        ((), ()),
        ((ONE,), ()),
        ((ONE, OTHER), ()),
        ((ONE, TWO), (ONE, TWO)),
        ((OTHER, TWO, ONE), (ONE, TWO)),
        (("@1", "@2"), ("@1", "@2")),
    ],
)
def test_a_rollout_is_two_builds_of_one_workload(builds: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert side_by_side(builds) == found


@pytest.mark.parametrize(
    ("now", "there", "bound"),
    [
        pytest.param(state(Phase.PENDING, "0", builds=(ONE,)), (TWO,), (TWO,), id="not begun: those there are"),
        pytest.param(state(intent=None, builds=(ONE,)), (TWO,), (TWO,), id="nothing written yet"),
        pytest.param(state(), (TWO,), (TWO,), id="nobody could tell before"),
        pytest.param(state(builds=(ONE,)), (TWO,), (ONE,), id="a run keeps its own"),
        pytest.param(state(builds=(ONE, OTHER)), (ONE,), (ONE, OTHER), id="one that went stays known"),
        pytest.param(state(builds=(ONE,)), (), (ONE,), id="nobody can tell now"),
    ],
)
def test_which_builds_a_run_is_about(now: ShiftState, there: tuple[str, ...], bound: tuple[str, ...]) -> None:
    assert judged_builds(now, seen(canary_builds=there)).builds == bound


REVISED = Decision(Cause.REVISED, Event.ROLL_BACK, {"new": TWO, "paused": ""})
WAITING = Decision(Cause.REVISED, Event.ROLL_BACK, {"new": TWO, "paused": "; it was paused: retry begins anew"})
HELD, ABORTED = Intent(1, Fraction(1, 10), START), state(Phase.ROLLED_BACK, "0")
CASES = {
    "a step": (state(), Cause.REVISED),
    "a step that speaks for harm": (state(tide=tide(harm=HARM)), Cause.REVISED),
    "all traffic": (state(Phase.PROMOTING, "1"), Cause.REVISED),
    "paused with traffic": (state(Phase.PAUSED, returns_to=(Phase.PROGRESSING,)), Cause.REVISED),
    "parked": (state(Phase.PARKED, "0", returns_to=(Phase.PROGRESSING,)), Cause.REVISED),
    "failed, but kept": (state(Phase.FAILED), Cause.REVISED),
    "conflict": (state(Phase.CONFLICT, returns_to=(Phase.PROGRESSING,)), Cause.REVISED),
    "suspended: nothing is written": (
        state(Phase.SUSPENDED, returns_to=(Phase.PROGRESSING,)), Cause.SUSPENDED,
    ),
    "promoted": (state(Phase.PROMOTED, "1"), Cause.DONE),
    "rolled back before": (state(Phase.ROLLED_BACK, "0"), Cause.DONE),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_new_build_does(case: str) -> None:
    now, cause = CASES[case]
    now = state(now.phase, str(now.share), builds=(ONE,), returns_to=now.returns_to, tide=now.tide)
    assert decided(SHIFT, now, seen(canary_builds=(ONE, TWO))).cause is cause


def test_a_second_new_build_on_the_way_back_changes_nothing() -> None:
    now = state(Phase.ROLLING_BACK, "0", builds=(ONE,), outcome=REVISED)
    assert decided(SHIFT, now, seen(canary_builds=(TWO,))).cause is not Cause.REVISED


def test_a_dead_stable_can_not_take_the_traffic() -> None:
    world = seen(canary_builds=(TWO,), stable_endpoints=0)
    assert decided(SHIFT, state(builds=(ONE,)), world).cause is Cause.STABLE_GONE


@pytest.mark.parametrize("there", [(ONE,), (), (OTHER, ONE)])
def test_builds_that_are_known_or_gone_change_nothing(there: tuple[str, ...]) -> None:
    now = state(builds=(ONE, OTHER))
    assert decided(SHIFT, now, seen(canary_builds=there)).cause is not Cause.REVISED


@pytest.mark.parametrize(("outcome", "event"), [(REVISED, Event.RENEW), (WAITING, None), (None, None)])
def test_the_next_run_begins_by_itself_unless_it_was_paused(outcome: Decision | None, event: Event | None) -> None:
    now = state(Phase.ROLLED_BACK, "0", outcome=outcome, builds=(ONE,), generation=SHIFT.generation)
    assert decided(SHIFT, now, seen(canary_builds=(TWO,))).event is event
