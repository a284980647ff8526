"""One moment of a shift, in which nothing is wrong until a test says so."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from control.engine.counting import Evidence, Metric, MetricEvidence
from control.engine.observation import Observation, RouteNow
from control.engine.phase import Phase
from control.engine.state import Intent, ShiftState, Step, Window, new_state
from tests.support.fake_ports import START
from tests.support.shifts import shift

LATER = START + timedelta(minutes=10)
SHIFT = shift(steps="10%, 50%, 100%", hold="10s")
CLEAR, DOUBT, HARM = 0.0, 2.0, 50.0


def evidence(log_e: float) -> Evidence:
    return Evidence((MetricEvidence(Metric.OUTCOMES, (log_e,) * 4, 500, 9, 900, 3),))


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
        "window": Window(5, 500, 900, 100, 180),
        "evidence": evidence(CLEAR),
    }
    return replace(new_state(SHIFT), **(known | changes))


def seen(**changes: Any) -> Observation:
    """A world in which nothing is wrong."""
    route = RouteNow("default/edge", "edge", "r1", Fraction(1, 10), True, holders=("gw",), acknowledged=("gw",))
    known: dict[str, Any] = {
        "at": LATER,
        "routes": (route,),
        "canary_endpoints": 1,
        "stable_endpoints": 1,
        "readable": True,
        "answered": True,
    }
    return Observation(**(known | changes))
