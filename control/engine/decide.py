"""What happens now? One decision a tick, from what the shift asks for, where it stands, and what was seen.

The rules are asked in order and the first that has an answer decides: whatever takes traffic away from a bad canary
comes before whatever could wait, and what advances comes last, when no rule found a reason not to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from control.engine.decision import Cause, Decision
from control.engine.drift import answer_to, foreign
from control.engine.judge import harmful, judge, suspected
from control.engine.observation import Observation
from control.engine.phase import FINISHED, Event, Phase, Verdict
from control.engine.plan import next_step, way_up
from control.engine.state import ShiftState, subject_of
from control.spec import OnDeadline, OnDelete, OnFailure, TrafficShift

_RUNNING = frozenset({Phase.PROGRESSING, Phase.PROMOTING, Phase.PAUSED, Phase.CONFLICT})
OBSERVED_AT_FULL = 0.99
"""The share of the last poll's requests that must have ended on the canary before it is promoted: long ones that began
before still end on stable, and nothing is claimed while more than a few do.
"""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a rule may look at."""

    shift: TrafficShift
    state: ShiftState
    seen: Observation
    now: datetime

    @property
    def hands_off(self) -> bool:
        return self.shift.hands_off or self.seen.hands_off

    @property
    def verdict(self) -> Verdict:
        return judge(self.state, self.seen, self.shift.strategy.min_requests)


Rule = Callable[[Situation], Decision | None]


def decide(shift: TrafficShift, state: ShiftState, seen: Observation, now: datetime) -> Decision:
    situation = Situation(shift, state, seen, now)
    return next(decision for rule in RULES if (decision := rule(situation)) is not None)


def _deletion(at: Situation) -> Decision | None:
    """A deleted shift that may go at once goes; any other first gives the traffic back."""
    phase = at.state.phase
    if not at.state.deleting or phase is Phase.ROLLING_BACK:
        return None
    nothing_to_undo = phase in FINISHED or phase is Phase.PENDING
    untouchable = at.hands_off or phase is Phase.SUSPENDED or at.shift.on_delete is OnDelete.KEEP
    return Decision(Cause.DELETED, None if nothing_to_undo or untouchable else Event.ROLL_BACK)


def _suspension(at: Situation) -> Decision | None:
    if at.state.phase is Phase.SUSPENDED:
        return at.state.aside(Cause.SUSPENDED)
    return Decision(Cause.HANDS_OFF) if at.hands_off and at.state.phase is not Phase.PENDING else None


def _another_subject(at: Situation) -> Decision | None:
    """An edited target or version: what runs goes back first, then the new run begins from nothing."""
    phase, state = at.state.phase, at.state
    same = subject_of(at.shift) == state.subject
    if phase is Phase.ROLLED_BACK and state.generation != at.shift.generation:
        return Decision(Cause.RENEWED, Event.RENEW)
    if same or phase is Phase.ROLLING_BACK:
        return None
    untouched = phase in FINISHED or phase is Phase.PENDING or (phase is Phase.PAUSED and state.intent is None)
    return Decision(Cause.RENEWED, Event.RENEW) if untouched else Decision(Cause.SUPERSEDED, Event.ROLL_BACK)


def _harm(at: Situation) -> Decision | None:
    state = at.state
    if state.phase not in _RUNNING or not state.share or not harmful(state.evidence):
        return None
    if at.shift.on_failure is OnFailure.HOLD:
        return None if state.phase is Phase.CONFLICT else Decision(Cause.FAILED, Event.FREEZE, evidence_facts(state))
    return _back(at, Decision(Cause.HARM_FOUND, Event.ROLL_BACK, evidence_facts(state)))


def evidence_facts(state: ShiftState) -> dict[str, str]:
    """The numbers of the metric that says most."""
    if state.evidence is None:
        return {}
    found = state.evidence.leading
    numbers = (found.canary_requests, found.canary_bad, found.stable_requests, found.stable_bad)
    names = ("canaryRequests", "canaryBad", "stableRequests", "stableBad")
    facts = dict(zip(names, map(str, numbers), strict=True))
    return facts | {"metric": found.metric.value, "logHarm": repr(state.evidence.log_merged)}


def _no_canary(at: Situation) -> Decision | None:
    """Not a verdict on the version: nobody is there to answer."""
    running = at.state.phase in _RUNNING or at.state.phase is Phase.FAILED
    if not running or not at.state.share or at.seen.canary_endpoints != 0:
        return None
    return _back(at, Decision(Cause.CANARY_GONE, Event.ROLL_BACK))


def _back(at: Situation, decision: Decision) -> Decision:
    """A dead stable can't take the traffic back, unless the canary is just as dead."""
    if at.seen.stable_endpoints == 0 and at.seen.canary_endpoints != 0:
        return Decision(Cause.STABLE_GONE, facts=decision.facts)
    return decision


def _conflict(at: Situation) -> Decision | None:
    return at.state.aside(Cause.CONFLICT) if at.state.phase is Phase.CONFLICT else None


def _route_problem(at: Situation) -> Decision | None:
    route = at.seen.problem
    if route is None or route.problem is None or at.state.phase in FINISHED:
        return None
    if at.state.phase is Phase.ROLLING_BACK and route.cut_off:
        return None
    return Decision(route.problem, facts={"route": route.name, "message": route.message})


def _drift(at: Situation) -> Decision | None:
    changed = foreign(at.state, at.seen)
    return answer_to(at.state, changed, at.shift.grace_period, at.now) if changed else None


def _rejection(at: Situation) -> Decision | None:
    intent = at.state.intent
    if intent is not None and intent.rejected:
        return Decision(Cause.REJECTED, facts={"proxy": "the mesh", "message": intent.rejected})
    if at.state.phase not in FINISHED and (refused := at.seen.rejection):
        return Decision(Cause.REJECTED, facts={"proxy": refused[0], "message": refused[1]})
    return None


def _proxies(at: Situation) -> Decision | None:
    state = at.state
    if state.intent is None or state.acknowledged_at is not None or state.phase in FINISHED:
        return None
    late = [name for route in at.seen.routes for name in route.late]
    unheld = [route.name for route in at.seen.routes if route.unheld]
    return Decision(Cause.AWAITING_PROXIES, facts={"late": ", ".join(late[:5]), "unheld": ", ".join(unheld[:5])})


def _beginning(at: Situation) -> Decision | None:
    """Everything that must stand before any weight is written."""
    if at.state.phase is not Phase.PENDING:
        return None
    first = at.shift.strategy.steps[0]
    carrying = next((route for route in at.seen.routes if route.configured and route.configured > first), None)
    if carrying is not None:
        return Decision(Cause.ALREADY_CARRYING, facts={"route": carrying.name, "theirs": str(carrying.configured)})
    if at.hands_off:
        return Decision(Cause.HANDS_OFF)
    if at.seen.canary_endpoints is None:
        return Decision(Cause.ENDPOINTS_UNKNOWN, facts={"message": at.seen.endpoints_message})
    if not at.seen.canary_endpoints:
        return Decision(Cause.NO_CANARY_ENDPOINT, facts={"message": at.seen.endpoints_message})
    if not at.seen.readable:
        return Decision(Cause.METRICS_UNAVAILABLE, facts={"message": at.seen.metrics_message})
    return _upwards(at)


def _upwards(at: Situation) -> Decision:
    strategy, state = at.shift.strategy, at.state
    share = next_step(strategy, state.share) or Fraction(1)
    cause = Cause.FULL_ENTERED if share == 1 else Cause.STEP_ENTERED
    facts = _window_facts(state) | {"to": str(share)}
    return Decision(cause, way_up(strategy, state.share, state.phase), facts)


def _window_facts(state: ShiftState) -> dict[str, str]:
    window = {"windowCanary": str(state.window.canary), "windowStable": str(state.window.stable)}
    return evidence_facts(state) | window


def _drain(at: Situation) -> Decision | None:
    """Rolled back means: acknowledged by every proxy, and no request of the last poll reached the canary."""
    if at.state.phase is not Phase.ROLLING_BACK:
        return None
    window = at.state.window
    drained = at.seen.readable and not at.seen.unread and window.polls > 0 and not window.reaches_canary
    if drained or at.state.deleting:
        return Decision(Cause.ROLLED_BACK, Event.DRAINED)
    facts = {"last": str(window.last_canary), "readable": "yes" if at.seen.readable else ""}
    return Decision(Cause.AWAITING_DRAIN, facts=facts)


def _rest(at: Situation) -> Decision | None:
    match at.state.phase:
        case Phase.PROMOTED | Phase.ROLLED_BACK:
            return Decision(Cause.DONE)
        case Phase.FAILED:
            return Decision(Cause.FAILED, facts=at.state.outcome.facts if at.state.outcome else {})
        case Phase.PAUSED:
            return at.state.aside(Cause.PAUSED)
        case _:
            return None


def _deadline(at: Situation) -> Decision | None:
    started, limit = at.state.started_at, at.shift.deadline
    if started is None or limit is None or at.now < started + limit:
        return None
    if at.shift.on_deadline is OnDeadline.ROLLBACK:
        return _back(at, Decision(Cause.DEADLINE_PASSED, Event.ROLL_BACK))
    return Decision(Cause.OVERDUE)


def _hold(at: Situation) -> Decision | None:
    if at.state.acknowledged_at is None:
        return None
    until = at.state.acknowledged_at + at.shift.strategy.hold
    return Decision(Cause.HOLDING, until=until) if at.now < until else None


def _evidence(at: Situation) -> Decision | None:
    need = {"need": str(at.shift.strategy.min_requests), "message": at.seen.metrics_message}
    match at.verdict:
        case Verdict.UNAVAILABLE:
            return Decision(Cause.METRICS_UNAVAILABLE, facts=need)
        case Verdict.NO_DATA:
            return Decision(Cause.NO_DATA, facts=need)
        case Verdict.INSUFFICIENT | Verdict.FAIL if suspected(at.state.evidence):
            return Decision(Cause.SUSPECTED, facts=evidence_facts(at.state))
        case Verdict.INSUFFICIENT | Verdict.FAIL:
            return Decision(Cause.INSUFFICIENT, facts=need | _window_facts(at.state))
        case Verdict.PASS:
            return None


def _finish(at: Situation) -> Decision | None:
    """At 100 % nothing is left to compare with: what counts is that the requests are seen to end there."""
    if at.state.phase is not Phase.PROMOTING:
        return None
    window = at.state.window
    observed, last = window.observed(Fraction(1)), window.last_canary + window.last_stable
    if observed is None:
        return Decision(Cause.NO_DATA)
    if observed < OBSERVED_AT_FULL:
        return Decision(Cause.NOT_OBSERVED, facts={"last": str(window.last_stable), "of": str(last)})
    seen = {"last": str(window.last_canary), "of": str(last)}
    return Decision(Cause.PROMOTED, Event.FINISH, _window_facts(at.state) | seen)


RULES: tuple[Rule, ...] = (
    _deletion,
    _suspension,
    _another_subject,
    _harm,
    _no_canary,
    _conflict,
    _route_problem,
    _drift,
    _rejection,
    _proxies,
    _beginning,
    _drain,
    _rest,
    _deadline,
    _hold,
    _evidence,
    _finish,
    _upwards,
)
