"""What happens now? One decision a tick, from what the shift asks for, where it stands, and what was seen.

The rules are asked in order and the first that has an answer decides: whatever takes traffic away from a bad canary
comes before whatever could wait, and what advances comes last, when no rule found a reason not to.
"""

from datetime import datetime, timedelta
from fractions import Fraction

from control.engine.advance import (
    doubt,
    finish,
    gauge_out,
    hold,
    too_few,
    unseen,
    upwards,
    warming,
)
from control.engine.begin import beginning
from control.engine.builds import another_build
from control.engine.decision import Cause, Decision
from control.engine.drift import answer_to, foreign
from control.engine.explain import seconds_text, unsure
from control.engine.judge import Judged
from control.engine.notice import in_force
from control.engine.observation import Observation
from control.engine.phase import FINISHED, Event, Phase
from control.engine.plan import way_back
from control.engine.protect import PROTECTIONS
from control.engine.situation import Rule, Situation, back
from control.engine.state import Return, ShiftState, subject_of
from control.spec import OnDeadline, OnDelete, TrafficShift

LET_GO = timedelta(minutes=1)


def decide(shift: TrafficShift, state: ShiftState, seen: Observation, judged: Judged, now: datetime) -> Decision:
    situation = Situation(shift, state, seen, judged, now)
    return next(decision for rule in RULES if (decision := rule(situation)) is not None)


def _deletion(at: Situation) -> Decision | None:
    """A deleted shift that may go at once goes; any other first gives the traffic back."""
    phase = at.state.phase
    if not at.state.deleting or phase is Phase.ROLLING_BACK:
        return None
    nothing_to_undo = phase in FINISHED or phase is Phase.PENDING
    untouchable = at.hands_off or phase is Phase.SUSPENDED or at.shift.on_delete is OnDelete.KEEP
    return Decision(Cause.DELETED, None if nothing_to_undo or untouchable else Event.ROLL_BACK)


def _let_go(at: Situation) -> Decision | None:
    """A deletion is never kept waiting for good by a return that can't be carried out: it says what it leaves."""
    left = at.state.steps[-1].left_at if at.state.steps else None
    if not at.state.deleting or at.state.phase is not Phase.ROLLING_BACK or left is None:
        return None
    began = max(left, at.state.giving_back.until) if at.state.giving_back is not None else left
    if at.now < began + LET_GO or (not at.state.share and in_force(at.state, at.seen)):
        return None
    facts = {"waited": seconds_text(at.now - began), "message": _obstacle(at), "route": _open_routes(at)}
    return Decision(Cause.LET_GO, Event.DRAINED, facts)


def _obstacle(at: Situation) -> str:
    """Why it can't be carried out, in the words of who refuses."""
    problem = at.seen.problem
    rejected = at.state.intent.rejected if at.state.intent is not None else ""
    return rejected or (problem.message if problem is not None else "not every proxy has taken the weight")


def _open_routes(at: Situation) -> str:
    return ", ".join(route.name for route in at.seen.routes if not route.in_force) or "every route"


def _suspension(at: Situation) -> Decision | None:
    if at.state.phase is Phase.SUSPENDED:
        return at.state.aside(Cause.SUSPENDED)
    return Decision(Cause.HANDS_OFF) if at.hands_off and at.state.phase is not Phase.PENDING else None


def _another_subject(at: Situation) -> Decision | None:
    """An edited target or version: what runs goes back first, then the new run begins from nothing."""
    phase, state = at.state.phase, at.state
    same = subject_of(at.shift) == state.subject
    if phase is Phase.ROLLED_BACK and state.generation not in ("", at.shift.generation):
        return Decision(Cause.RENEWED, Event.RENEW)
    if same or phase is Phase.ROLLING_BACK:
        return None
    untouched = phase in FINISHED or phase is Phase.PENDING or (phase is Phase.PAUSED and state.intent is None)
    return Decision(Cause.RENEWED, Event.RENEW) if untouched else Decision(Cause.SUPERSEDED, Event.ROLL_BACK)


def _conflict(at: Situation) -> Decision | None:
    return at.state.aside(Cause.CONFLICT) if at.state.phase is Phase.CONFLICT else None


def _lowering(at: Situation) -> Decision | None:
    """A return that takes its time gives the next part back; all the rest where a part of it can't be written."""
    giving = at.state.giving_back
    if at.state.phase is not Phase.ROLLING_BACK or giving is None:
        return None
    stuck = at.state.intent is not None and bool(at.state.intent.rejected)
    refused = any(route.problem is Cause.WEIGHT_REFUSED for route in at.seen.routes)
    due = Fraction(0) if stuck or refused else left_of(giving, at.now)
    return Decision(Cause.RETURNING, Event.LOWER, {"to": str(due)}) if due < at.state.share else None


def left_of(giving: Return, now: datetime) -> Fraction:
    """What the canary should have left by now."""
    shares = way_back(giving.share)
    length = (giving.until - giving.since) / max(len(shares) - 1, 1)
    passed = (now - giving.since) // length if length else len(shares)
    return shares[max(0, min(passed, len(shares) - 1))]


def _next_part(giving: Return, now: datetime) -> datetime:
    length = (giving.until - giving.since) / max(len(way_back(giving.share)) - 1, 1)
    return giving.since + length * ((now - giving.since) // length + 1)


def _route_problem(at: Situation) -> Decision | None:
    route = at.seen.problem
    if route is None or route.problem is None or at.state.phase in FINISHED:
        return None
    if at.state.phase is Phase.ROLLING_BACK and (route.cut_off or at.observes):
        return None
    return Decision(route.problem, facts={"route": route.name, "message": route.message})


def _drift(at: Situation) -> Decision | None:
    changed = foreign(at.state, at.seen)
    return answer_to(at.state, changed, at.shift.grace_period, at.now) if changed else None


def _rejection(at: Situation) -> Decision | None:
    intent = at.state.intent
    if intent is not None and intent.rejected:
        return Decision(Cause.REJECTED, facts={"proxy": "the mesh", "message": intent.rejected})
    if at.observes or at.state.phase in FINISHED:
        return None
    refused = at.seen.rejection
    return Decision(Cause.REJECTED, facts={"proxy": refused[0], "message": refused[1]}) if refused else None


def _proxies(at: Situation) -> Decision | None:
    state = at.state
    if state.intent is None or state.acknowledged_at is not None or state.phase in FINISHED:
        return None
    late = [name for route in at.seen.routes for name in route.late]
    unheld = [route.name for route in at.seen.routes if route.unheld]
    return Decision(Cause.AWAITING_PROXIES, facts={"late": ", ".join(late[:5]), "unheld": ", ".join(unheld[:5])})


def _drain(at: Situation) -> Decision | None:
    """Rolled back means: acknowledged by every proxy, and no request of the last poll reached the canary."""
    if at.state.phase is not Phase.ROLLING_BACK:
        return None
    if at.state.share and at.state.giving_back is not None:
        return Decision(Cause.RETURNING, until=_next_part(at.state.giving_back, at.now))
    window = at.state.window
    told = {} if at.observes or in_force(at.state, at.seen) else unsure(at.state.share)
    drained = at.seen.readable and not at.seen.unread and window.polls > 0 and not window.reaches_canary
    if drained or at.state.deleting or at.observes:
        return Decision(Cause.ROLLED_BACK, Event.DRAINED, told)
    facts = {"last": str(window.last_canary), "readable": "yes" if at.seen.readable else ""}
    return Decision(Cause.AWAITING_DRAIN, facts=facts | told)


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
        return back(at, Decision(Cause.DEADLINE_PASSED, Event.ROLL_BACK))
    return Decision(Cause.OVERDUE)


def _parked(at: Situation) -> Decision | None:
    """It goes on by itself when the counters can be read again, and there is a canary to go on with."""
    if at.state.phase is not Phase.PARKED:
        return None
    sees = at.seen.readable and at.state.subject.stable not in at.seen.unseen
    if sees and at.seen.canary_endpoints != 0:
        return Decision(Cause.UNPARKED, Event.UNPARK)
    return at.state.aside(Cause.PARKED)


RULES: tuple[Rule, ...] = (
    _deletion,
    _suspension,
    _another_subject,
    another_build,
    _let_go,
    *PROTECTIONS,
    _conflict,
    _lowering,
    _route_problem,
    _drift,
    _rejection,
    _proxies,
    beginning,
    _drain,
    _rest,
    _deadline,
    _parked,
    hold,
    unseen,
    gauge_out,
    warming,
    doubt,
    too_few,
    finish,
    upwards,
)
