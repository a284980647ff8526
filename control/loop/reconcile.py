"""How does one tick of one shift go? The straight line:

    Reading -> Evidence -> Decision -> State' -> TrafficSplit -> WeightPatch -> Applied

Level-triggered: a tick looks at the world as it is, never at what happened since. The intent is stored before it is
acted on and confirmed after, so that a tick that is killed anywhere is simply taken again: before the first save
nothing has happened; after it the stored intent says what to write; after the write the document says that it was
written.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from control.engine.builds import judged_builds
from control.engine.carried import carried
from control.engine.decide import decide
from control.engine.decision import Cause, Decision
from control.engine.entry import entry_of, service_of
from control.engine.gauges import gauges_seen
from control.engine.guarding import relieved
from control.engine.journal import as_json
from control.engine.judge import Judged, judge
from control.engine.learn import learn
from control.engine.move import adopt, move
from control.engine.notice import notice
from control.engine.phase import FINISHED, Phase
from control.engine.settle import settled
from control.engine.state import ShiftState
from control.engine.state_json import StateJson, state_of
from control.errors import Conflict, TidegateError
from control.loop.observe import Look, look
from control.loop.ports import Ports
from control.loop.subsets import declared
from control.loop.write import Written, confirmed, patches, shown, write
from control.ports import Stored
from control.spec import TrafficShift, stored_shift

__all__ = ["Outcome", "Ports", "reconcile", "weighed"]

SOON = timedelta(milliseconds=200)
PATIENCE = timedelta(seconds=5)
AT_REST = timedelta(seconds=15)
AT_ONCE = NOT_SET = timedelta(0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """When to come back, and whether anything happened that people may want to see. `gone`: the shift no longer
    exists.
    """

    next_tick: timedelta
    changed: bool
    gone: bool = False


async def reconcile(ports: Ports, key: tuple[str, str], now: datetime, *, set_by: timedelta = NOT_SET) -> Outcome:
    """One tick of the shift `key` (namespace, name). `set_by`: by how much the clock was set since the last one.

    Raises: InvariantBroken, Unavailable and Conflict of the store.
    """
    stored = await ports.store.load(*key)
    if stored is None:
        return Outcome(AT_REST, changed=False, gone=True)
    shift, before = stored_shift(stored.spec), state_of(stored.state)
    running = carried(before, set_by)
    subsets = await declared(ports, shift, running)
    seen = await look(ports, shift, running, now)
    seen = replace(seen, seen=subsets.shown(seen.seen))
    known = subsets.told(shift, weighed(shift, running, seen, now), now)
    judged = judge(shift, known, seen.seen, now)
    decision = decide(shift, known, seen.seen, judged, now)
    if decision.cause is Cause.DELETED and decision.event is None:
        return await _delete(ports, stored, known)
    after = told(move(shift, known, decision, now, seen=seen.seen), judged)
    version = await _save(ports, stored, before, after)
    written = await _write(ports, shift, after, seen, now)
    done = await _entered(ports, shift, confirmed(after, written, now), judged)
    await _settle(ports, replace(stored, version=version), after, done)
    return Outcome(_next_tick(shift, after, decision, written, now), changed=_is_news(decision, before))


def _is_news(decision: Decision, before: ShiftState) -> bool:
    """Holding for the same cause is none, though its numbers grow with every look."""
    return decision.event is not None or decision.cause is not before.decision.cause


def weighed(shift: TrafficShift, state: ShiftState, found: Look, now: datetime) -> ShiftState:
    """Reading -> Evidence: the state with all that the look brought."""
    known = relieved(shift, adopt(shift, state, now), now)
    if found.reading is not None:
        known = settled(shift, known, found.reading, found.seen.retries, found.past)
        known = learn(shift, known, found.reading, found.seen)
    known = judged_builds(notice(known, found.seen, shift, now), found.seen)
    gauges = gauges_seen(shift, known.subject, found.seen)
    return replace(known, seen=replace(shown(known, found.seen), gauges=gauges))


def told(state: ShiftState, judged: Judged) -> ShiftState:
    """The state with its verdicts, for people to read."""
    return replace(state, seen=replace(state.seen, verdict=judged.verdict, verdicts=dict(judged.verdicts)))


async def _save(ports: Ports, stored: Stored, before: ShiftState, after: ShiftState) -> int:
    """The intent, the cursor and the evidence that used it, in one write."""
    if after == before:
        return stored.version
    return await ports.store.save(
        stored.namespace, stored.name, spec=stored.spec, state=StateJson(after), expect=stored.version
    )


async def _write(ports: Ports, shift: TrafficShift, state: ShiftState, found: Look, now: datetime) -> Written:
    """State' -> TrafficSplit -> WeightPatch -> Applied."""
    return await write(ports.documents, patches(shift, state, found, now))


async def _entered(ports: Ports, shift: TrafficShift, state: ShiftState, judged: Judged) -> ShiftState:
    """The state with its run's end in the ledger. One that can't be written is owed until it can; the same entry twice
    is one.
    """
    entry = entry_of(shift, state, judged) if state.owes_entry else None
    if entry is None:
        return state
    try:
        await ports.ledger.append(shift.namespace, service_of(shift.host, shift.namespace), entry)
    except TidegateError:
        return state
    return replace(state, owes_entry=False)


async def _settle(ports: Ports, stored: Stored, after: ShiftState, done: ShiftState) -> None:
    """Records what waits in the outbox and confirms the intent. Lost to somebody else's write, the next tick finds
    both again.
    """
    if done.outbox:
        await ports.store.record(stored.namespace, stored.name, as_json(done.outbox))
        done = replace(done, outbox=())
    try:
        await _save(ports, stored, after, done)
    except Conflict:
        return


async def _delete(ports: Ports, stored: Stored, state: ShiftState) -> Outcome:
    if state.outbox:
        await ports.store.record(stored.namespace, stored.name, as_json(state.outbox))
    await ports.store.delete(stored.namespace, stored.name, expect=stored.version)
    return Outcome(AT_REST, changed=True, gone=True)


def _next_tick(
    shift: TrafficShift, state: ShiftState, decision: Decision, written: Written, now: datetime
) -> timedelta:
    """At once where a deletion may go on, soon while proxies are about to acknowledge, exactly when a hold ends, else a
    poll later; rarely when at rest.
    """
    if state.deleting and state.phase in FINISHED:
        return AT_ONCE
    waits = state.intent is not None and state.acknowledged_at is None
    if decision.event is not None and not waits:
        return AT_ONCE
    if written.applied or written.again or (waits and state.intent and now < state.intent.at + PATIENCE):
        return min(SOON, shift.poll)
    if (state.phase in FINISHED and state.guard is None) or state.phase is Phase.SUSPENDED:
        return max(AT_REST, shift.poll)
    if state.blind_since is not None and now < (parks := state.blind_since + shift.blind_for):
        return min(shift.poll, parks - now)
    return min(shift.poll, max(decision.until - now, AT_ONCE)) if decision.until else shift.poll
