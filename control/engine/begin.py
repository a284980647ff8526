"""What must stand before any weight is written? A shift that has not begun waits here, and says for what."""

from fractions import Fraction
from math import ceil

from control.engine.budget import needed_budget
from control.engine.builds import side_by_side
from control.engine.decision import Cause, Decision
from control.engine.evidence import first_share
from control.engine.explain import amount, counted, rate_percent
from control.engine.latency import FEWEST
from control.engine.phase import Phase
from control.engine.plan import nearest, way_up
from control.engine.situation import Situation
from control.engine.terms import terms_of
from control.engine.watched import Watched
from control.spec import BuiltInName, EvidenceStrategy, StepStrategy, TrafficShift

LATENCY = BuiltInName.LATENCY.value


def beginning(at: Situation) -> Decision | None:
    if at.state.phase is not Phase.PENDING:
        return None
    if at.hands_off:
        return Decision(Cause.HANDS_OFF)
    return _endpoints(at) or _metrics(at) or _edges(at) or _budget(at) or _carrying(at) or _first(at)


def _endpoints(at: Situation) -> Decision | None:
    if at.seen.canary_endpoints is None:
        return Decision(Cause.ENDPOINTS_UNKNOWN, facts={"message": at.seen.endpoints_message})
    if not at.seen.canary_endpoints:
        return Decision(Cause.NO_CANARY_ENDPOINT, facts={"message": at.seen.endpoints_message})
    if builds := side_by_side(at.seen.canary_builds):
        return Decision(Cause.ROLLING_OUT, facts={"builds": ", ".join(builds)})
    return None


def _metrics(at: Situation) -> Decision | None:
    if not at.seen.readable or at.state.watched is None:
        return Decision(Cause.METRICS_UNAVAILABLE, facts={"message": at.seen.metrics_message})
    if trouble := next(iter(at.seen.troubles.items()), None):
        return Decision(Cause.METRICS_UNAVAILABLE, facts={"message": ": ".join(trouble)})
    if first_of(at.shift, at.state.watched, at.state.flow.per_s) is None:
        return Decision(Cause.RATE_UNKNOWN)
    return None


def first_of(shift: TrafficShift, watched: Watched, per_s: float | None) -> Fraction | None:
    """The first share; None while the traffic that it depends on is not known."""
    match shift.strategy:
        case StepStrategy():
            return shift.strategy.steps[0]
        case EvidenceStrategy(first=Fraction()):
            return shift.strategy.first
        case EvidenceStrategy():
            terms = terms_of(shift, watched)
            return None if not per_s else nearest(shift.strategy, float(first_share(terms, per_s)[0]))


def _edges(at: Situation) -> Decision | None:
    """What is not settled when the run begins is never watched in it: where evidence leads, that is waited for.

    A service that was started just now has too few requests to choose edges from. Where none is measured at all, as
    many that are counted must do.
    """
    watched, waits = at.state.watched, isinstance(at.shift.strategy, EvidenceStrategy)
    measured = at.state.flow.requests
    if not waits or watched is None or LATENCY not in watched.unwatched or measured >= FEWEST:
        return None
    facts = {"measured": counted(measured, "request"), "fewest": counted(FEWEST, "request")}
    return Decision(Cause.EDGES_UNKNOWN, facts=facts)


def _budget(at: Situation) -> Decision | None:
    """A budget that a good version could use up by bad luck would only measure that luck."""
    failing, watched = at.state.flow.failing, at.state.watched
    if failing is None or watched is None or not at.state.flow.per_s:
        return None
    needed = needed_budget(at.shift, watched, failing, at.state.flow.per_s)
    if watched.budget >= needed:
        return None
    facts = {"budget": amount(watched.budget), "needed": amount(ceil(needed)), "failing": rate_percent(failing)}
    return Decision(Cause.BUDGET_TOO_SMALL, facts=facts)


def _carrying(at: Situation) -> Decision | None:
    """Somebody gives the canary more already than we would: who only observes has no quarrel with that."""
    first = _first_share(at)
    carrying = next((route for route in at.seen.routes if route.configured and route.configured > first), None)
    if carrying is None or at.observes:
        return None
    return Decision(Cause.ALREADY_CARRYING, facts={"route": carrying.name, "theirs": str(carrying.configured)})


def _first_share(at: Situation) -> Fraction:
    watched, per_s = at.state.watched, at.state.flow.per_s
    return (first_of(at.shift, watched, per_s) if watched is not None else None) or at.shift.strategy.shares[0]


def _first(at: Situation) -> Decision:
    to = _first_share(at)
    cause = Cause.FULL_ENTERED if to == 1 else Cause.STEP_ENTERED
    return Decision(cause, way_up(to, Phase.PENDING), {"to": str(to)})
