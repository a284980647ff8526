"""What keeps a shift from its next weight, and which is that? The last rules: when none finds a reason, it advances.

By fixed steps the next weight is the next step; by evidence it is where the course leads. Both are held by the same
doubts: a suspicion, one process that stands out, requests that do not follow the weights, a stable that fails itself.
"""

from datetime import timedelta
from fractions import Fraction

from control.engine.decision import Cause, Decision
from control.engine.evidence import Action
from control.engine.explain import amount, counted, percent, rate_percent, seconds_text, to_one, unsure
from control.engine.gauges import breaches
from control.engine.phase import Event, Phase, Verdict
from control.engine.plan import next_step, way_up
from control.engine.protect import breach_facts
from control.engine.silence import silent
from control.engine.situation import Situation
from control.spec import EvidenceStrategy, StepStrategy

OBSERVED_AT_FULL = 0.99
"""The share of the last poll's requests that must have ended on the canary before it is promoted: long ones that began
before still end on stable, and nothing is claimed while more than a few do.
"""


def hold(at: Situation) -> Decision | None:
    if at.state.acknowledged_at is None or not isinstance(at.shift.strategy, StepStrategy):
        return None
    until = at.state.acknowledged_at + at.shift.strategy.hold
    return Decision(Cause.HOLDING, facts=at.judged.facts, until=until) if at.now < until else None


def unseen(at: Situation) -> Decision | None:
    """No data is never a verdict on a version, and never an advance."""
    if not at.seen.readable:
        return Decision(Cause.METRICS_UNAVAILABLE, facts={"message": at.seen.metrics_message})
    if trouble := next(iter(at.seen.troubles.items()), None):
        return Decision(Cause.METRICS_UNAVAILABLE, facts={"message": ": ".join(trouble)})
    if at.seen.unseen and at.state.share != 1:
        return Decision(Cause.VERSION_UNSEEN, facts={"unseen": " and ".join(at.seen.unseen)})
    if not at.state.window.polls:
        return dwelling(at)
    if not at.state.window.canary:
        return _no_data(at)
    if (found := silent(at.shift, at.state)) is not None:
        facts = {"canary": " and ".join(found.versions), "unheard": f" for {seconds_text(found.length)}"}
        return Decision(Cause.NO_DATA, facts=facts)
    unheard = next((name for name, each in at.judged.verdicts.items() if each is Verdict.NO_DATA), None)
    return _no_data(at, f" by {unheard}") if unheard is not None else None


def _no_data(at: Situation, by: str = "") -> Decision:
    return Decision(Cause.NO_DATA, facts={"unheard": f"{by} at {percent(at.state.share)}"})


def gauge_out(at: Situation) -> Decision | None:
    out = next(breaches(at.shift, at.state, at.seen), None)
    return Decision(Cause.GAUGE_OUT, facts=breach_facts(out)) if out is not None else None


def warming(at: Situation) -> Decision | None:
    until = at.state.warm_until
    return Decision(Cause.WARMING, until=until) if until is not None and at.now < until else None


_DOUBTS = {
    Action.SUSPECTED: Cause.SUSPECTED,
    Action.POD: Cause.POD_SUSPECT,
    Action.MISMATCH: Cause.ROUTING_MISMATCH,
    Action.OUTAGE: Cause.STABLE_OUTAGE,
}


def doubt(at: Situation) -> Decision | None:
    """Nothing is compared any more at 100 %, so that nothing can be doubted there."""
    cause = _DOUBTS.get(at.judged.action)
    if cause is None or at.state.share == 1:
        return None
    observed = at.state.window.observed(at.state.share)
    return Decision(cause, facts=at.judged.facts | {"observed": rate_percent(observed or 0.0)})


def too_few(at: Situation) -> Decision | None:
    """By fixed steps: `minRequests`, and somebody to compare with."""
    if not isinstance(at.shift.strategy, StepStrategy) or at.judged.verdict is Verdict.PASS:
        return None
    return Decision(Cause.INSUFFICIENT, facts=window_facts(at) | {"need": str(at.shift.strategy.min_requests)})


def window_facts(at: Situation) -> dict[str, str]:
    window = at.state.window
    return at.judged.facts | {"windowCanary": str(window.canary), "windowStable": str(window.stable)}


def finish(at: Situation) -> Decision | None:
    """At 100 % nothing is left to compare with: what counts is that the requests are seen to end there."""
    if at.state.phase is not Phase.PROMOTING:
        return None
    window = at.state.window
    observed, last = window.observed(Fraction(1)), window.last_canary + window.last_stable
    if observed is None:
        return _no_data(at)
    if observed < OBSERVED_AT_FULL and not at.observes:
        return Decision(Cause.NOT_OBSERVED, facts={"last": str(window.last_stable), "of": str(last)})
    seen = {"last": str(window.last_canary), "of": str(last)} | _unsure(at)
    return Decision(Cause.PROMOTED, Event.FINISH, window_facts(at) | seen)


def _unsure(at: Situation) -> dict[str, str]:
    """What may be said of proxies that nobody could ask."""
    asked = bool(at.state.steps) and at.state.steps[-1].acknowledged_at is not None
    return {} if asked or at.observes else unsure(at.state.share)


def upwards(at: Situation) -> Decision:
    match at.shift.strategy:
        case StepStrategy():
            return _up(at, next_step(at.shift.strategy, at.state.share) or Fraction(1))
        case EvidenceStrategy():
            return _by_evidence(at, at.shift.strategy)


def _up(at: Situation, to: Fraction) -> Decision:
    cause = Cause.FULL_ENTERED if to == 1 else Cause.STEP_ENTERED
    return Decision(cause, way_up(to, at.state.phase), window_facts(at) | {"to": str(to)})


def _by_evidence(at: Situation, strategy: EvidenceStrategy) -> Decision:
    match at.judged.action:
        case Action.PROMOTE:
            return _up(at, Fraction(1))
        case Action.ADVANCE:
            return _up(at, at.judged.to)
        case Action.BAKE:
            return Decision(Cause.BAKE_ENTERED, Event.BAKE, at.judged.facts | _bake(strategy.bake_for))
        case Action.BAKING:
            return _baking(at, strategy)
        case Action.CAPPED:
            return Decision(Cause.CAPPED, facts=_capacity(at))
        case Action.BUDGETED:
            return Decision(Cause.BUDGETED, facts=at.judged.facts | _risk(at))
        case Action.WAITING:
            return dwelling(at)
        case _:
            return Decision(Cause.UNPROVEN, facts=at.judged.facts | proof_facts(at))


def _bake(length: timedelta) -> dict[str, str]:
    return {"bake": seconds_text(length)}


def _baking(at: Situation, strategy: EvidenceStrategy) -> Decision:
    bake = at.state.bake
    left = strategy.bake_for.total_seconds() - (bake.lasted_s(at.now) if bake is not None else 0.0)
    until = at.now + timedelta(seconds=left) if left > 0 else None
    return Decision(Cause.BAKING, facts=at.judged.facts | proof_facts(at) | _bake(strategy.bake_for), until=until)


def _capacity(at: Situation) -> dict[str, str]:
    canary, stable = at.seen.canary_endpoints or 0, at.seen.stable_endpoints or 0
    return {
        "canaryEndpoints": counted(canary, "endpoint"),
        "stableEndpoints": counted(stable, "endpoint"),
        "cap": rate_percent(at.judged.cap),
    }


def _risk(at: Situation) -> dict[str, str]:
    left = max(at.judged.budget - max(at.judged.excess, 0.0), 0.0)
    return {"upper": rate_percent(at.judged.upper), "left": amount(left)}


def dwelling(at: Situation) -> Decision:
    """Too few looks at this weight to say anything of it."""
    return Decision(Cause.DWELLING, facts=at.judged.facts | {"looks": counted(at.state.window.compared, "look")})


def proof_facts(at: Situation) -> dict[str, str]:
    """How far the test that is least proven has come, and how far it must."""
    row = at.judged.doubtful
    if row is None:
        return {}
    return {
        "doubtful": row.test,
        "proof": to_one(row.log_proof),
        "bar": to_one(at.judged.pass_at),
        "proven": f"{row.proven.ratio:.3g} x stable + {row.proven.extra * 100:.3g} %",
        "at": percent(at.state.share),
    }
