"""What will a shift do, how long will it take, and does the traffic suffice? The engine's plan in words."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from control.engine.plan import PlannedStep, next_step, plan
from control.spec import StepStrategy, TrafficShift
from control.view import format as words
from control.view import read
from control.view.model import PlanStep, PlanView
from mesh.traffic import RouteRef

ON_FAILURE = {
    "rollback": "a bad version gives all traffic back to {stable} at once",
    "hold": "a bad version keeps its share until a person decides",
}


def plan_view(shift: TrafficShift, *, rate: float | None) -> PlanView:
    """The steps with the time that each is expected to begin and to take.

    Units: `rate` is requests a second to the host, both versions together; None when nobody knows, then times are the
    shortest possible.
    """
    planned = plan(shift.strategy, rate)
    return PlanView(
        namespace=shift.namespace,
        name=shift.name,
        host=shift.target.host,
        stable=shift.stable,
        canary=shift.canary,
        routes=tuple(_route(ref) for ref in shift.target.routes),
        steps=tuple(_step(each, shift.strategy, rate) for each in planned),
        total=("" if rate is not None else "at least ") + words.duration(planned[-1].ends),
        on_failure=ON_FAILURE[shift.on_failure].format(stable=shift.stable),
        notes=_notes(shift.strategy, shift.canary, rate),
    )


def next_share(strategy: StepStrategy, status: Mapping[str, Any]) -> Fraction:
    """The share that the next step gives; 0 while it goes back, 100 % when none is left."""
    if read.text(status, "phase") == "RollingBack":
        return Fraction(0)
    return next_step(strategy, read.share(status.get("stepShare")) or Fraction(0)) or Fraction(1)


def _step(planned: PlannedStep, strategy: StepStrategy, rate: float | None) -> PlanStep:
    takes, needed = planned.ends - planned.begins, strategy.min_requests
    seen = None if rate is None else rate * float(planned.share) * takes.total_seconds()
    slow = takes > strategy.hold
    wait = f"waits beyond its hold of {words.duration(strategy.hold)} for {words.plural(needed, 'request')}"
    return PlanStep(
        number=planned.step,
        share=words.percent(planned.share),
        starts=f"after {words.duration(planned.begins)}" if planned.begins else "at once",
        hold=words.duration(takes),
        canary_requests=f"{words.count(needed)} needed" if seen is None else f"{words.count(round(seen))} expected",
        enough=not slow,
        note=wait if slow else "",
    )


def _notes(strategy: StepStrategy, canary: str, rate: float | None) -> tuple[str, ...]:
    smallest, hold_s = strategy.steps[0], strategy.hold.total_seconds()
    in_all = ceil(strategy.min_requests / smallest)
    needed = words.plural(strategy.min_requests, "request")
    notes = (f"At {words.percent(smallest)}, {needed} of {canary} take {words.plural(in_all, 'request')} in all.",)
    if rate is not None or not hold_s:
        return notes
    keeps = words.plural(ceil(in_all / hold_s), "request")
    return (*notes, f"Every step keeps to its hold from {keeps} a second on.")


def _route(ref: RouteRef) -> str:
    return f"{ref.virtual_service}, route {ref.route}" if ref.route else ref.virtual_service
