"""One moment of a shift, in which nothing is wrong until a test says so."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.decide import decide
from control.engine.decision import Decision
from control.engine.evidence import Margin, Terms, Test, Tide, fresh
from control.engine.evidence.bets import HARM_GRID
from control.engine.judge import judge
from control.engine.observation import Observation, RouteNow
from control.engine.phase import Phase
from control.engine.state import Flow, Heard, Intent, ShiftState, Step, Window, new_state
from control.engine.terms import terms_of
from control.engine.watched import Watched
from control.spec import TrafficShift
from tests.support.fake_ports import START
from tests.support.shifts import shift

LATER = START + timedelta(minutes=10)
SHIFT = shift(steps="10%, 50%, 100%", hold="10s")
CLEAR, DOUBT, HARM = 0.0, 3.0, 50.0
"""Units: log E for harm."""
UNPROVEN, LEANING, PROVEN = 0.0, 1.0, 9.0
"""Units: log E for being no worse."""
TOLERATED, WITHIN = Margin(1.1, 0.0005), Margin(1.25, 0.005)


def one_test(name: str, **changes: Any) -> Test:
    """A test of the evidence, by the name of its metric or edge."""
    metric = name.partition(">")[0]
    return replace(Test(name, metric, TOLERATED, WITHIN, 1.0, counted=metric == "outcomes"), **changes)


WATCHED = Watched((one_test("outcomes"),))


def tide(
    watched: Watched = WATCHED,
    *,
    harm: float | tuple[float, ...] = CLEAR,
    proof: float | tuple[float, ...] = UNPROVEN,
    counts: tuple[int, int, int, int] = (500, 9, 900, 3),
    excess: float = 0.0,
    **changes: Any,
) -> Numbers:
    """The evidence of a run, as if many polls had led there. One number a test, or one for all."""
    terms = Terms(watched.tests)
    bare, tests = fresh(terms), len(watched.tests)

    def each(value: float | tuple[float, ...]) -> Any:
        return np.broadcast_to(np.asarray(value, float), (tests,))[None, :, None]

    given: dict[str, Any] = {
        "polls": np.array([9.0]),
        "harm": np.broadcast_to(each(harm), bare.harm.shape),
        "proof": np.broadcast_to(each(proof), bare.proof.shape),
        "counts": np.broadcast_to(np.array(counts, float), bare.counts.shape),
        "excess": np.array([excess]),
    }
    return Numbers.of(replace(bare, **(given | changes)).numbers())


def bets(log: float) -> Numbers:
    """The guard's bets at 100 %, each at this log E."""
    return Numbers((log,) * len(HARM_GRID))


def state(phase: Phase = Phase.PROGRESSING, share: str = "1/10", **changes: Any) -> ShiftState:
    """A shift whose present weight is acknowledged and was compared long enough."""
    given_share = Fraction(share)
    known: dict[str, Any] = {
        "phase": phase,
        "step": 1,
        "share": given_share,
        "intent": Intent(1, given_share, START, done=("default/edge",)),
        "steps": (Step(1, given_share, START, START),),
        "started_at": START,
        "acknowledged_at": START,
        "window": Window(5, 500, 900, 100, 180, 0, 5),
        "watched": WATCHED,
        "tide": tide(),
        "flow": Flow(50.0, LATER, 9_000, 27),
        "cursor": Cursor(at=LATER),
    }
    found = replace(new_state(SHIFT), **(known | changes))
    return replace(found, window=_heard(found.window))


def _heard(window: Window) -> Window:
    """The window with its last requests in the last look, where a test says nothing else."""
    canary = window.heard_canary if window.heard_canary.at or not window.canary else Heard(5, LATER)
    stable = window.heard_stable if window.heard_stable.at or not window.stable else Heard(5, LATER)
    return replace(window, heard_canary=canary, heard_stable=stable)


def seen(**changes: Any) -> Observation:
    """A world in which nothing is wrong."""
    route = RouteNow("default/edge", "edge", "r1", Fraction(1, 10), True, holders=("gw",), acknowledged=("gw",))
    known: dict[str, Any] = {
        "at": LATER,
        "routes": (route,),
        "canary_endpoints": 1,
        "stable_endpoints": 1,
        "readable": True,
    }
    return Observation(**(known | changes))


def decided(wanted: TrafficShift, now: ShiftState, world: Observation, at: Any = LATER) -> Decision:
    """What is decided there."""
    return decide(wanted, now, world, judge(wanted, now, world, at), at)


def tide_of(wanted: TrafficShift, now: ShiftState) -> Tide:
    """A state's evidence as arrays."""
    assert now.watched is not None
    return Tide.of(terms_of(wanted, now.watched), now.tide.values)
