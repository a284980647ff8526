"""Where the evidence leads: each course of the core, and what comes before it."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest

from control.engine.decision import Cause
from control.engine.evidence.bets import UPPER_GRID
from control.engine.move import move
from control.engine.observation import Observation
from control.engine.phase import Event, Phase
from control.engine.state import Bake, Flow, ShiftState, Window
from control.engine.watched import Watched
from control.spec import TrafficShift
from tests.support.shifts import by_evidence, shift
from tests.support.situations import (
    DOUBT,
    LATER,
    LEANING,
    PROVEN,
    decided,
    one_test,
    seen,
    state,
    tide,
    tide_of,
)

PLAIN, BAKED = by_evidence(), by_evidence(bake="10m")
NEW = Window(2, 40, 360, 20, 180, 0, 1)
MANY = Flow(5_000.0, LATER, 9_000, 27)
EVERY_BET = (1, 1, len(UPPER_GRID))
NO_EXCESS = {"upper_log": np.full(EVERY_BET, 30.0), "upper_gain": np.full(EVERY_BET, 50.0)}
"""No excess above 0.05 % is left possible."""
CALM, LEANS, KNOWN = tide(**NO_EXCESS), tide(proof=LEANING, **NO_EXCESS), tide(proof=PROVEN, **NO_EXCESS)
OUTAGE = tide(lately=np.array([[400.0, 40.0]]))
ONE_POD = tide(
    harm=DOUBT + 9, counts=(900, 60, 9000, 9),
    canary_pods=np.array([[[[300.0, 60.0], [300.0, 0.0], [300.0, 0.0]] + [[0.0, 0.0]] * 5]]),
)  # fmt: skip
ASTRAY = tide(routing=np.full((1, 1, 3), 12.0), routing_polls=np.array([5.0]))
BAKING = {"bake": Bake(since=LATER - timedelta(minutes=3))}
DONE_BAKING = {"bake": Bake(since=LATER - timedelta(minutes=3), before_s=420.0)}
MEANWHILE = {"warm_until": LATER + timedelta(seconds=9)}

COURSES = {
    "two rungs at once, as far as the budget allows": (
        PLAIN, state(share="1/50", tide=CALM), seen(), Cause.STEP_ENTERED, "1/10",
    ),
    "no higher than it is learned at": (PLAIN, state(share="1/5"), seen(), Cause.UNPROVEN, None),
    "beyond once it leans the right way": (PLAIN, state(share="1/5", tide=LEANS), seen(), Cause.STEP_ENTERED, "1/2"),
    "all of it once it is proven": (PLAIN, state(share="1/5", tide=KNOWN), seen(), Cause.FULL_ENTERED, "1"),
    "not from below": (PLAIN, state(share="1/50", tide=KNOWN), seen(), Cause.STEP_ENTERED, "1/10"),
    "one look is too few": (PLAIN, state(window=NEW), seen(), Cause.DWELLING, None),
    "a budget that would be risked": (PLAIN, state(share="1/50", flow=MANY), seen(), Cause.BUDGETED, None),
    "no more than its endpoints carry": (
        PLAIN, state(share="1/10"), seen(canary_endpoints=1, stable_endpoints=10), Cause.CAPPED, None,
    ),
    "not all of it either": (
        PLAIN, state(share="1/5", tide=KNOWN), seen(canary_endpoints=1, stable_endpoints=2), Cause.CAPPED, None,
    ),
    "endpoints that nobody knows cap nothing": (
        PLAIN, state(share="1/5", tide=KNOWN), seen(stable_endpoints=None), Cause.FULL_ENTERED, "1",
    ),
    "proven, it is watched once more": (BAKED, state(share="1/5", tide=KNOWN), seen(), Cause.BAKE_ENTERED, None),
    "for as long as the spec says": (BAKED, state(share="1/5", tide=KNOWN, **BAKING), seen(), Cause.BAKING, None),
    "and until it is proven again": (BAKED, state(share="1/5", **DONE_BAKING), seen(), Cause.BAKING, None),
    "then all of it": (BAKED, state(share="1/5", tide=KNOWN, **DONE_BAKING), seen(), Cause.FULL_ENTERED, "1"),
    "doubt holds": (PLAIN, state(tide=tide(harm=DOUBT)), seen(), Cause.SUSPECTED, None),
    "one process that stands out holds": (PLAIN, state(tide=ONE_POD), seen(), Cause.POD_SUSPECT, None),
    "requests that go astray hold": (PLAIN, state(tide=ASTRAY), seen(), Cause.ROUTING_MISMATCH, None),
    "a stable that fails holds": (PLAIN, state(tide=OUTAGE), seen(), Cause.STABLE_OUTAGE, None),
    "a process that warms up holds": (PLAIN, state(**MEANWHILE), seen(), Cause.WARMING, None),
    "a version that is not counted holds": (PLAIN, state(tide=KNOWN), seen(unseen=("v2",)), Cause.VERSION_UNSEEN, None),
    "no data promotes nothing": (
        PLAIN, state(share="1/5", tide=KNOWN, window=Window(5, 0, 900, 0, 180)), seen(), Cause.NO_DATA, None,
    ),
    "nor do metrics that can't be read": (
        PLAIN, state(share="1/5", tide=KNOWN), seen(readable=False), Cause.METRICS_UNAVAILABLE, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "now", "world", "cause", "to"), COURSES.values(), ids=COURSES.keys())
def test_a_course(wanted: TrafficShift, now: ShiftState, world: Observation, cause: Cause, to: str | None) -> None:
    found = decided(wanted, now, world)
    assert (found.cause, found.facts.get("to") if found.event else None) == (cause, to)


STEPS = shift(steps="10%, 50%, 100%", hold="10s")
SAME_DOUBTS = {
    "one process that stands out": (state(tide=ONE_POD), seen(), Cause.POD_SUSPECT),
    "requests that go astray": (state(tide=ASTRAY), seen(), Cause.ROUTING_MISMATCH),
    "a stable that fails": (state(tide=OUTAGE), seen(), Cause.STABLE_OUTAGE),
    "a process that warms up": (state(**MEANWHILE), seen(), Cause.WARMING),
    "a version that is not counted": (state(), seen(unseen=("v1",)), Cause.VERSION_UNSEEN),
    "proof is not asked for": (state(), seen(), Cause.STEP_ENTERED),
}


@pytest.mark.parametrize(("now", "world", "cause"), SAME_DOUBTS.values(), ids=SAME_DOUBTS.keys())
def test_fixed_steps_are_held_by_the_same_doubts(now: ShiftState, world: Observation, cause: Cause) -> None:
    assert decided(STEPS, now, world).cause is cause


def test_a_metric_that_was_never_counted_advances_nothing() -> None:
    watched = Watched((one_test("outcomes"), one_test("misses")))
    counts = np.array([[[500.0, 9.0, 900.0, 3.0], [0.0, 0.0, 0.0, 0.0]]])
    now = state(watched=watched, tide=tide(watched, proof=PROVEN, counts=counts))  # type: ignore[arg-type]
    found = decided(STEPS, now, seen())
    assert (found.cause, found.facts["unheard"]) == (Cause.NO_DATA, " by misses at 10 %")


def test_a_bake_says_until_when() -> None:
    found = decided(BAKED, state(share="1/5", tide=KNOWN, **BAKING), seen())
    assert found.until == LATER + timedelta(minutes=7)
    assert found.facts["bake"] == "10 min"


def test_a_bake_begins_the_proof_anew() -> None:
    now = state(share="1/5", tide=KNOWN)
    moved = move(BAKED, now, decided(BAKED, now, seen()), LATER, seen=seen())
    assert (moved.phase, moved.share, moved.bake) == (Phase.PROGRESSING, Fraction(1, 5), Bake(since=LATER))
    assert not tide_of(BAKED, moved).proof.any()
    assert (tide_of(BAKED, moved).harm == tide_of(BAKED, now).harm).all()
    assert decided(BAKED, moved, seen()).cause is Cause.BAKING


def test_finishing_by_evidence_needs_one_look_that_saw_it() -> None:
    at_full = state(Phase.PROMOTING, "1", tide=KNOWN, window=Window(1, 50, 0, 50, 0))
    assert decided(PLAIN, at_full, seen()).event is Event.FINISH
    assert decided(PLAIN, replace(at_full, window=Window()), seen()).cause is Cause.DWELLING
