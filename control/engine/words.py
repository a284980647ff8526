"""Which words does each cause have? The table of all sentences about a shift.

Templates over a decision's facts and the names of its shift; `control.engine.explain` fills them in.
"""

from dataclasses import dataclass

from control.engine.decision import Cause


@dataclass(frozen=True, slots=True)
class Words:
    """`why` it is so, what must happen `next`, and which `command` (a verb with its options) a person could give."""

    why: str
    next: str = ""
    command: str = ""


_MEND = "the documents must be mended; a change is seen at once"
_DECIDE = "a person must decide"

WORDS: dict[Cause, Words] = {
    Cause.STEP_ENTERED: Words(
        "{canary} goes to {to}, step {toStep}: {compared}",
        "every proxy must take the new weight",
    ),
    Cause.FULL_ENTERED: Words(
        "{canary} goes to 100 %: {compared}",
        "every proxy must take the new weight",
    ),
    Cause.PROMOTED: Words(
        "{canary} has all traffic, acknowledged by every proxy and observed for the whole hold "
        "({windowCanary} requests); at 100 % no traffic of {stable} is left to compare with, up to there: {compared}",
    ),
    Cause.HARM_FOUND: Words(
        "{canary} does harm, all traffic goes back to {stable}: {metric}: {compared}",
    ),
    Cause.CANARY_GONE: Words(
        "{canary} has no ready endpoint left, all traffic goes back to {stable}; that is no verdict on its answers",
    ),
    Cause.DEADLINE_PASSED: Words(
        "the deadline passed before the shift was done, all traffic goes back to {stable}",
    ),
    Cause.SUPERSEDED: Words(
        "the spec names another target or version; all traffic goes back to {stable} before that begins",
    ),
    Cause.DELETED: Words(
        "the shift was deleted, all traffic goes back to {stable}",
    ),
    Cause.COMMANDED: Words(
        "{by} gave all traffic back to {stable}{because}",
    ),
    Cause.PROMOTED_BY_HAND: Words(
        "{by} sent {canary} on to {to}{because}",
        "every proxy must take the new weight",
    ),
    Cause.ROLLED_BACK: Words(
        "all traffic is back on {stable}: acknowledged by every proxy, and no request reaches {canary} any more",
    ),
    Cause.FAILED: Words(
        "{canary} does harm and keeps {share}, since onFailure is hold: {metric}: {compared}",
        _DECIDE,
        "rollback",
    ),
    Cause.CONFLICT: Words(
        "somebody else keeps writing these weights: {canary} stays at the lower, {share}, and nothing more is written",
        "whoever else writes them must stop; then resume",
        "resume",
    ),
    Cause.RENEWED: Words(
        "a new run begins, from {stable} to {canary}{asked}",
        "the mesh must be looked at first",
    ),
    Cause.PAUSED: Words(
        "paused at {share}{asked}: it does not advance, but goes back should {canary} do harm",
        "somebody must resume it",
        "resume",
    ),
    Cause.RESUMED: Words(
        "resumed at {share}{asked}",
    ),
    Cause.SUSPENDED: Words(
        "suspended{asked}: nothing is written; {canary} was to have {share}",
        "somebody must resume it",
        "resume",
    ),
    Cause.NOT_BEGUN: Words(
        "it has not begun",
        "the mesh must be looked at first",
    ),
    Cause.ROUTE_MISSING: Words("{message}", _MEND),
    Cause.DESTINATION_MISSING: Words("{message}", _MEND),
    Cause.WEIGHT_REFUSED: Words("{message}", _MEND),
    Cause.ROUTE_UNREADABLE: Words(
        "{route} can't be read: {message}",
        "the mesh must answer again",
    ),
    Cause.ALREADY_CARRYING: Words(
        "{route} gives {canary} {theirs} already, more than the first step",
        "its weight must be 0 to begin",
        "rollback",
    ),
    Cause.NO_CANARY_ENDPOINT: Words(
        "{canary} has no ready endpoint, so that it gets no weight {message}",
        "an endpoint of {canary} must be ready",
    ),
    Cause.ENDPOINTS_UNKNOWN: Words(
        "nobody can say which endpoints are ready: {message}",
        "the mesh must answer again",
    ),
    Cause.STABLE_GONE: Words(
        "the traffic should go back, but {stable} has no ready endpoint to take it: nothing is moved",
        "an endpoint of {stable} must be ready",
        "rollback",
    ),
    Cause.HANDS_OFF: Words(
        "hands off: an annotation forbids every write",
        "the annotation tidegate.dev/hands-off must go",
    ),
    Cause.FOREIGN_CHANGE: Words(
        "somebody set {canary} to {theirs} on {route}, towards stable: respected for a while, then set back to {ours}",
        "the grace period must pass",
        "rollback",
    ),
    Cause.REJECTED: Words(
        "{proxy} refuses the new weight: {message}",
        "the weight must be accepted; it is tried again",
        "rollback",
    ),
    Cause.AWAITING_PROXIES: Words(
        "{share} is written to the documents",
        "every proxy must acknowledge it",
    ),
    Cause.AWAITING_DRAIN: Words(
        "{share} is acknowledged by every proxy",
        "a look at the metrics must find no request on {canary} any more",
    ),
    Cause.HOLDING: Words(
        "{canary} holds {share}: {compared}",
        "the hold of step {step} must pass",
        "promote",
    ),
    Cause.NO_DATA: Words(
        "no request of {canary} was counted at {share}; no data is no verdict",
        "traffic must reach {canary}",
        "promote",
    ),
    Cause.INSUFFICIENT: Words(
        "too little was seen at {share} to judge: {windowCanary} requests of {canary}, {windowStable} of {stable}",
        "{need} requests of {canary} are needed, and some of {stable}",
        "promote",
    ),
    Cause.METRICS_UNAVAILABLE: Words(
        "the metrics can't be read: {message}",
        "the source must answer again",
    ),
    Cause.SUSPECTED: Words(
        "{canary} may do harm, but too little is known to tell: {compared}",
        "the evidence must clear it or convict it",
        "rollback",
    ),
    Cause.NOT_OBSERVED: Words(
        "{last} of the last {of} requests still ended on {stable}",
        "all requests must be seen on {canary}",
    ),
    Cause.OVERDUE: Words(
        "the deadline has passed; since onDeadline is hold, {canary} stays at {share}",
        _DECIDE,
        "rollback",
    ),
    Cause.DONE: Words("{canary} has {share} of the traffic; this run is over"),
    Cause.STEP_ACKNOWLEDGED: Words("every proxy runs {share}"),
    Cause.DRIFT_REPAIRED: Words("somebody set {canary} to {theirs} on {route}: set back to {ours}"),
    Cause.SPEC_CHANGED: Words("the spec changed; it counts from the next step on, the weight stays at {share}"),
}
