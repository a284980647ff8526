"""Which words does each cause have? The table of all sentences about a shift.

Templates over a decision's facts and the names of its shift; `control.engine.explain` fills them in.
"""

from dataclasses import dataclass

from control.engine.decision import Cause
from control.engine.phase import Event


@dataclass(frozen=True, slots=True)
class Words:
    """`why` it is so, what must happen `next`, and which `command` (a verb with its options) a person could give."""

    why: str
    next: str = ""
    command: str = ""


_MEND = "the documents must be mended; a change is seen at once"
_DECIDE = "a person must decide"
_LOOK = "the mesh must be looked at first"

WORDS: dict[Cause, Words] = {
    Cause.STEP_ENTERED: Words(
        "{compared}",
        "every proxy must take the new weight",
    ),
    Cause.FULL_ENTERED: Words(
        "{compared}",
        "every proxy must take the new weight",
    ),
    Cause.PROMOTED: Words(
        "{running}, and {last} of the last {of} ended on {canary} ({windowCanary} during the hold); "
        "nothing of {stable} is left to compare with; in the whole run: {compared}",
    ),
    Cause.BAKE_ENTERED: Words(
        "{canary} is shown to be no worse, and is watched once more at {share}: {compared}",
        "{bake} must pass, and the same be shown again",
        "promote",
    ),
    Cause.HARM_FOUND: Words(
        "{canary} does harm: {metric}: {compared}",
    ),
    Cause.BUDGET_SPENT: Words(
        "the budget is spent: {excess} failed requests beyond what is usual for {stable}, of {budget} that this shift "
        "may cost; that is no verdict on {canary}: {compared}",
    ),
    Cause.GUARD_BROKEN: Words(
        "{canary} misses its objective, with nothing left to compare with: {bad} of {requests} failed at 100 %, "
        "{limit} may; {guard}",
    ),
    Cause.GAUGE_OUT: Words(
        "{gauge} of {canary} is {value}, and should be {range}{also}",
        "it must come back into its range",
        "rollback",
    ),
    Cause.CANARY_GONE: Words(
        "{canary} has no ready endpoint left; that is no verdict on its answers",
    ),
    Cause.DEADLINE_PASSED: Words(
        "the deadline passed before the shift was done",
    ),
    Cause.SUPERSEDED: Words(
        "the spec names another target or version, which begins once this run is back",
    ),
    Cause.REVISED: Words(
        "another build of {canary} came in the middle of the run ({new}): what is known is about the one before, so "
        "the traffic goes back first{paused}",
    ),
    Cause.DELETED: Words(
        "the shift was deleted",
    ),
    Cause.COMMANDED: Words(
        "all traffic goes back to {stable}{asked}",
    ),
    Cause.PROMOTED_BY_HAND: Words(
        "{canary} goes on to {to}{asked}",
        "every proxy must take the new weight",
    ),
    Cause.RETURNING: Words(
        "the traffic goes back little by little: {canary} has {share} of it left",
        "the next part must go back; a second rollback takes all of it at once",
        "rollback",
    ),
    Cause.ROLLED_BACK: Words(
        "{returned}, and no request reaches {canary} any more",
    ),
    Cause.PARKED: Words(
        "nobody could see for {blind} what {canary} does ({message}): it waits at 0 %, nothing is spent and nothing "
        "forgotten",
        "the metrics must be readable again; then it goes on by itself",
        "rollback",
    ),
    Cause.UNPARKED: Words(
        "the metrics can be read again: {canary} goes on at {share}",
        "every proxy must take the new weight",
    ),
    Cause.FAILED: Words(
        "{canary} does harm, and onFailure is hold: {metric}: {compared}",
        _DECIDE,
        "rollback",
    ),
    Cause.CONFLICT: Words(
        "somebody else keeps writing these weights: nothing is written after {ours}, the lower one{overwritten}",
        "whoever else writes them must stop; then resume",
        "resume",
    ),
    Cause.RENEWED: Words(
        "a new run, from {stable} to {canary}{asked}",
        _LOOK,
    ),
    Cause.PAUSED: Words(
        "paused{asked}: only harm moves it, back to {stable}",
        "somebody must resume it",
        "resume",
    ),
    Cause.RESUMED: Words(
        "resumed{asked}",
    ),
    Cause.SUSPENDED: Words(
        "suspended{asked}: no weight is written",
        "somebody must resume it",
        "resume",
    ),
    Cause.NOT_BEGUN: Words(
        "it was just applied",
        _LOOK,
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
    Cause.ROLLING_OUT: Words(
        "two builds of {canary} stand side by side ({builds}): one run can't be about both",
        "the rollout must be over",
    ),
    Cause.RATE_UNKNOWN: Words(
        "not known yet how many requests come, on which the first weight depends",
        "requests of {stable} must be counted, twice",
    ),
    Cause.EDGES_UNKNOWN: Words(
        "{measured} of {stable} came since the shift was applied, {fewest} tell what slow means here",
        "more must come; where none of them is timed, it begins all the same",
    ),
    Cause.BUDGET_TOO_SMALL: Words(
        "a budget of {budget} failed requests is too small here: a {canary} as good as {stable} ({failing} fail) could "
        "use it up by bad luck",
        "the spec must allow {needed} or more",
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
        "{running}",
        "a look at the metrics must find no request on {canary} any more",
    ),
    Cause.HOLDING: Words(
        "{odds}",
        "the hold must pass",
        "promote",
    ),
    Cause.VERSION_UNSEEN: Words(
        "the metrics have been read, and say nothing at all of {unseen}; no data is no verdict",
        "{unseen} must be counted: look for its traffic, its labels and its proxies",
    ),
    Cause.NO_DATA: Words(
        "no request of {canary} was counted{unheard}; no data is no verdict",
        "traffic must reach {canary}; gRPC statuses are counted, plain HTTP is not",
        "promote",
    ),
    Cause.INSUFFICIENT: Words(
        "too little was seen at {share} to judge: {windowCanary} of {canary}, {windowStable} of {stable}",
        "{need} of {canary} must be seen, and some of {stable}",
        "promote",
    ),
    Cause.METRICS_UNAVAILABLE: Words(
        "the metrics can't be read: {message}",
        "the source must answer again",
    ),
    Cause.POD_SUSPECT: Words(
        "pod or version? one process alone carries all that speaks against {canary}: {metric}: {compared}",
        "another process must show the same, or that one be replaced",
        "rollback",
    ),
    Cause.ROUTING_MISMATCH: Words(
        "routing mismatch: {canary} should have {share} of the requests, and {observed} reach it",
        "requests must follow the weights; something else routes them too",
        "rollback",
    ),
    Cause.STABLE_OUTAGE: Words(
        "{stable} is failing itself, which is no time to compare: {compared}",
        "{stable} must answer as it usually does",
        "rollback",
    ),
    Cause.WARMING: Words(
        "a new process of {canary} is still warming up",
        "the warm-up must pass",
        "promote",
    ),
    Cause.DWELLING: Words(
        "{looks} compared both versions at this weight so far; {odds}",
        "two looks must have requests of both",
        "promote",
    ),
    Cause.UNPROVEN: Words(
        "nothing speaks against {canary}, too little for it yet: by {doubtful}, proof {proof}",
        "it takes {bar} for being within {proven}",
        "promote",
    ),
    Cause.BUDGETED: Words(
        "up to {upper} more requests than usual may fail, for all that is known: more than {share} would risk too "
        "much of the {left} failed requests that are left to spend",
        "more must be seen of {canary}",
        "promote",
    ),
    Cause.CAPPED: Words(
        "{canaryEndpoints} of {canary} beside {stableEndpoints} of {stable} carry {cap} at the most",
        "more endpoints of {canary} must be ready",
        "promote",
    ),
    Cause.BAKING: Words(
        "watched once more at {share}: by {doubtful}, proof {proof} since then",
        "{bake} must pass, and {bar} be reached again",
        "promote",
    ),
    Cause.SUSPECTED: Words(
        "{canary} may do harm, but too little is known to tell: {compared}",
        "the evidence must clear it or convict it",
        "rollback",
    ),
    Cause.NOT_OBSERVED: Words(
        "{last} of the last {of} still ended on {stable}",
        "all requests must be seen on {canary}",
    ),
    Cause.OVERDUE: Words(
        "the deadline has passed, and onDeadline is hold",
        _DECIDE,
        "rollback",
    ),
    Cause.DONE: Words("this run is over"),
    Cause.STEP_ACKNOWLEDGED: Words("every proxy runs {share}"),
    Cause.STEP_SETTLED: Words("nobody can say which proxies run {share}: {settle} have passed since it was written"),
    Cause.LET_GO: Words(
        "the shift is deleted, and its traffic could not be taken back for {waited} ({message}): it goes all the same; "
        "look at the weights of {route}",
    ),
    Cause.DRIFT_REPAIRED: Words("somebody set {canary} to {theirs} on {route}: set back to {ours}"),
    Cause.READABLE_AGAIN: Words("{what} again"),
    Cause.SUBSETS_ADDED: Words("{rule} has {subsets} now, which no DestinationRule of the host had"),
    Cause.SPEC_CHANGED: Words("the spec changed; it counts from the next step on, the weight stays at {share}"),
}

WOULD: dict[Event, str] = {
    Event.BEGIN: "{canary} would be given {to}: ",
    Event.ADVANCE: "{canary} would be given {to}: ",
    Event.FILL: "{canary} would be given all traffic: ",
    Event.ROLL_BACK: "all traffic would go back to {stable}: ",
    Event.FREEZE: "the weight would stay until a person decides: ",
    Event.PARK: "{canary} would be parked: ",
    Event.UNPARK: "{canary} would go on: ",
    Event.BAKE: "the weight would stay: ",
}
"""How a decision begins that is not carried out, since the shift only observes."""

OBSERVED: dict[Cause, str] = {
    Cause.PROMOTED: "{canary} would have all traffic by now; nothing was written; in the whole run: {compared}",
    Cause.COMMANDED: "all traffic would go back to {stable}{asked}",
    Cause.PROMOTED_BY_HAND: "{canary} would go on to {to}{asked}",
    Cause.RETURNING: "the traffic would go back little by little: {canary} would have {share} of it left",
    Cause.ROLLED_BACK: "all traffic would be back at {stable} by now; nothing was written",
    Cause.PAUSED: "paused{asked}: only harm would move it, back to {stable}",
}
"""What is otherwise said of weights and of what proxies do with them, where none is written."""
