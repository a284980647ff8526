"""Which builds stand behind the canary, and is one of them another than those that were judged?

A build is "workload@revision": the Deployment (or what else makes the processes), and what it makes them from. Where
nobody can tell the builds there are none, and nothing is concluded from that.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from control.engine.decision import Cause, Decision
from control.engine.observation import Observation
from control.engine.phase import Event, Phase
from control.engine.situation import Situation, back
from control.engine.state import ShiftState


def side_by_side(builds: Iterable[str]) -> tuple[str, ...]:
    """The builds of a workload that is just going over from one to the next; none while no workload is."""
    of_workload = defaultdict(list)
    for build in sorted(builds):
        of_workload[build.partition("@")[0]].append(build)
    return next((tuple(found) for found in of_workload.values() if len(found) > 1), ())


def judged_builds(state: ShiftState, seen: Observation) -> ShiftState:
    """The state with the builds that its run is about: those there are until it begins, or, where nobody could tell
    then, the first that are seen.
    """
    unbound = state.phase is Phase.PENDING or state.intent is None or not state.builds
    if not unbound or not seen.canary_builds or state.builds == seen.canary_builds:
        return state
    return replace(state, builds=seen.canary_builds)


def another_build(at: Situation) -> Decision | None:
    """A new build in the middle of a run: the traffic goes back before anything is concluded, then a new run begins.

    One that somebody had paused waits for a person.
    """
    phase, outcome = at.state.phase, at.state.outcome
    revised = outcome is not None and outcome.cause is Cause.REVISED
    if phase is Phase.ROLLED_BACK and revised and outcome is not None and not outcome.facts["paused"]:
        return Decision(Cause.RENEWED, Event.RENEW)
    new = sorted(set(at.seen.canary_builds) - set(at.state.builds)) if at.state.builds else []
    if not new or not _is_about_the_canary(at):
        return None
    paused = Phase.PAUSED in (phase, *at.state.returns_to)
    facts = {"new": ", ".join(new), "paused": "; it was paused: retry begins anew" if paused else ""}
    return back(at, Decision(Cause.REVISED, Event.ROLL_BACK, facts))


def _is_about_the_canary(at: Situation) -> bool:
    phase = at.state.phase
    if phase is Phase.ROLLING_BACK:
        return False
    return at.exposed or phase is Phase.PARKED or (phase is Phase.FAILED and bool(at.state.share))
