"""What takes traffic away from a canary, whatever else could wait? Harm, a spent budget, a broken objective, a gauge,
nobody there to answer, nobody there to see.
"""

from control.engine.decision import Cause, Decision
from control.engine.evidence import Action
from control.engine.explain import amount, counted, odds, rate_percent, seconds_text
from control.engine.gauges import Breach, breaches
from control.engine.phase import Event, Phase
from control.engine.situation import RUNNING, Rule, Situation, back
from control.engine.state import ShiftState
from control.spec import OnBreach, OnFailure


def harm(at: Situation) -> Decision | None:
    """A *fail*. Where a canary was parked, what was counted meanwhile may convict it."""
    phase = at.state.phase
    if at.judged.action is not Action.ROLL_BACK or not (at.exposed or phase is Phase.PARKED):
        return None
    if at.shift.on_failure is OnFailure.HOLD and phase is not Phase.ROLLING_BACK:
        return None if phase is Phase.CONFLICT else Decision(Cause.FAILED, Event.FREEZE, at.judged.facts)
    return back(at, Decision(Cause.HARM_FOUND, Event.ROLL_BACK, at.judged.facts))


def spent(at: Situation) -> Decision | None:
    """No verdict on the version, but all that it may cost to find one. A failed one that was kept keeps its weight.

    From 100 % on the excess grows against what stable did before: there the guard watches.
    """
    if at.state.steps and at.state.steps[-1].share == 1:
        return None
    if not at.judged.spent or not (at.exposed or (at.state.phase is Phase.PARKED and at.state.step > 0)):
        return None
    facts = {"excess": amount(at.judged.excess), "budget": amount(at.judged.budget)}
    return back(at, Decision(Cause.BUDGET_SPENT, Event.ROLL_BACK, at.judged.facts | facts))


def guard(at: Situation) -> Decision | None:
    """At 100 %, and for a while after: the objective alone."""
    found = at.state.guard
    if found is None or not at.judged.guard_broken or at.state.share != 1:
        return None
    if at.state.phase not in (Phase.PROMOTING, Phase.PAUSED, Phase.PROMOTED):
        return None
    facts = {
        "bad": f"{found.bad:,}",
        "requests": counted(found.requests, "request"),
        "limit": rate_percent(found.limit),
        "guard": odds(at.judged.log_guard),
    }
    return back(at, Decision(Cause.GUARD_BROKEN, Event.ROLL_BACK, facts))


def gauge(at: Situation) -> Decision | None:
    """A gauge that has been outside its range long enough, on the canary alone."""
    if not at.exposed:
        return None
    grave = (
        each
        for each in breaches(at.shift, at.state, at.seen)
        if each.query.on_breach is OnBreach.ROLLBACK and each.lasted(at.now) and not each.shared
    )
    return next((back(at, Decision(Cause.GAUGE_OUT, Event.ROLL_BACK, breach_facts(each))) for each in grave), None)


def breach_facts(breach: Breach) -> dict[str, str]:
    return {
        "gauge": breach.name,
        "value": f"{breach.value:g}",
        "range": breach.range,
        "also": " (as it is not for the other version either)" if breach.shared else "",
    }


def no_canary(at: Situation) -> Decision | None:
    """Not a verdict on the version: nobody is there to answer."""
    has_traffic = at.exposed or (at.state.phase is Phase.FAILED and bool(at.state.share))
    if not has_traffic or at.seen.canary_endpoints != 0:
        return None
    return back(at, Decision(Cause.CANARY_GONE, Event.ROLL_BACK))


def blind(at: Situation) -> Decision | None:
    """No verdict either: nobody can see. A person who gave it all traffic by hand has said that this may be."""
    since, state = at.state.blind_since, at.state
    parks = state.phase in RUNNING and state.phase is not Phase.CONFLICT and bool(state.share)
    if since is None or not parks or at.now < since + at.shift.blind_for or filled_by_hand(state):
        return None
    facts = {"blind": seconds_text(at.now - since), "message": at.seen.metrics_message}
    return back(at, Decision(Cause.PARKED, Event.PARK, facts))


def filled_by_hand(state: ShiftState) -> bool:
    """Is the canary at 100 % because a person wanted it there?"""
    left = state.steps[-2].left if len(state.steps) > 1 else None
    return state.share == 1 and left is not None and left.cause is Cause.PROMOTED_BY_HAND


PROTECTIONS: tuple[Rule, ...] = (harm, spent, guard, gauge, no_canary, blind)
