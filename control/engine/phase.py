"""Where can a shift be, what can happen to it there, and where does that lead? One table.

A pair that is not in `TRANSITIONS` is impossible: decide never produces it, and a person who asks for it is refused
with the hint in `REFUSALS`.
"""

from enum import StrEnum


class Phase(StrEnum):
    """Where a shift is.

    Pending: nothing written yet. Progressing: at a step below 100 %. Promoting: at 100 %, being watched. Promoted,
    RolledBack: done. Paused: a person stopped the advance; evidence still protects. Parked: nobody could see what the
    canary does, so that it waits at 0 % with all that is known of it, and goes on by itself. Suspended: no write at
    all. Conflict: somebody else keeps writing the weights; no further fight. Failed: the canary failed under
    `onFailure: hold`, or we broke; a person must decide.
    """

    PENDING = "Pending"
    PROGRESSING = "Progressing"
    PAUSED = "Paused"
    PARKED = "Parked"
    PROMOTING = "Promoting"
    PROMOTED = "Promoted"
    ROLLING_BACK = "RollingBack"
    ROLLED_BACK = "RolledBack"
    SUSPENDED = "Suspended"
    CONFLICT = "Conflict"
    FAILED = "Failed"


class Event(StrEnum):
    """What happens to a shift. The same event may come from evidence or from a person."""

    BEGIN = "begin"
    ADVANCE = "advance"
    BAKE = "bake"
    FILL = "fill"
    FINISH = "finish"
    ROLL_BACK = "roll-back"
    LOWER = "lower"
    DRAINED = "drained"
    PARK = "park"
    UNPARK = "unpark"
    FREEZE = "freeze"
    CONFLICT = "conflict"
    RENEW = "renew"
    PAUSE = "pause"
    RESUME = "resume"
    SUSPEND = "suspend"


class Verb(StrEnum):
    """What a person can ask for."""

    PROMOTE = "promote"
    PROMOTE_FULL = "promote-full"
    ROLLBACK = "rollback"
    PAUSE = "pause"
    RESUME = "resume"
    SUSPEND = "suspend"
    RETRY = "retry"


class Verdict(StrEnum):
    """What the evidence says about the canary. Only *fail* acts; *no data* is never a verdict on a version."""

    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"
    INSUFFICIENT = "insufficient"
    NO_DATA = "no data"
    UNAVAILABLE = "unavailable"


BACK = "back"
"""Back to where the shift was before it was paused, parked, suspended or in conflict."""

_P, _E = Phase, Event

TRANSITIONS: dict[tuple[Phase, Event], Phase | str] = {
    (_P.PENDING, _E.BEGIN): _P.PROGRESSING,
    (_P.PENDING, _E.FILL): _P.PROMOTING,
    (_P.PENDING, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PENDING, _E.RENEW): _P.PENDING,
    (_P.PENDING, _E.PAUSE): _P.PAUSED,
    (_P.PENDING, _E.SUSPEND): _P.SUSPENDED,
    (_P.PROGRESSING, _E.ADVANCE): _P.PROGRESSING,
    (_P.PROGRESSING, _E.BAKE): _P.PROGRESSING,
    (_P.PROGRESSING, _E.FILL): _P.PROMOTING,
    (_P.PROGRESSING, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PROGRESSING, _E.FREEZE): _P.FAILED,
    (_P.PROGRESSING, _E.PARK): _P.PARKED,
    (_P.PROGRESSING, _E.CONFLICT): _P.CONFLICT,
    (_P.PROGRESSING, _E.PAUSE): _P.PAUSED,
    (_P.PROGRESSING, _E.SUSPEND): _P.SUSPENDED,
    (_P.PROMOTING, _E.FINISH): _P.PROMOTED,
    (_P.PROMOTING, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PROMOTING, _E.FREEZE): _P.FAILED,
    (_P.PROMOTING, _E.PARK): _P.PARKED,
    (_P.PROMOTING, _E.CONFLICT): _P.CONFLICT,
    (_P.PROMOTING, _E.PAUSE): _P.PAUSED,
    (_P.PROMOTING, _E.SUSPEND): _P.SUSPENDED,
    (_P.PAUSED, _E.ADVANCE): _P.PROGRESSING,
    (_P.PAUSED, _E.FILL): _P.PROMOTING,
    (_P.PAUSED, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PAUSED, _E.FREEZE): _P.FAILED,
    (_P.PAUSED, _E.PARK): _P.PARKED,
    (_P.PAUSED, _E.CONFLICT): _P.CONFLICT,
    (_P.PAUSED, _E.RENEW): _P.PENDING,
    (_P.PAUSED, _E.RESUME): BACK,
    (_P.PAUSED, _E.SUSPEND): _P.SUSPENDED,
    (_P.PARKED, _E.UNPARK): BACK,
    (_P.PARKED, _E.ADVANCE): _P.PROGRESSING,
    (_P.PARKED, _E.FILL): _P.PROMOTING,
    (_P.PARKED, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PARKED, _E.FREEZE): _P.FAILED,
    (_P.PARKED, _E.CONFLICT): _P.CONFLICT,
    (_P.PARKED, _E.PAUSE): _P.PAUSED,
    (_P.PARKED, _E.SUSPEND): _P.SUSPENDED,
    (_P.PROMOTED, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.PROMOTED, _E.CONFLICT): _P.CONFLICT,
    (_P.PROMOTED, _E.RENEW): _P.PENDING,
    (_P.PROMOTED, _E.SUSPEND): _P.SUSPENDED,
    (_P.ROLLING_BACK, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.ROLLING_BACK, _E.LOWER): _P.ROLLING_BACK,
    (_P.ROLLING_BACK, _E.DRAINED): _P.ROLLED_BACK,
    (_P.ROLLING_BACK, _E.CONFLICT): _P.CONFLICT,
    (_P.ROLLING_BACK, _E.SUSPEND): _P.SUSPENDED,
    (_P.ROLLED_BACK, _E.CONFLICT): _P.CONFLICT,
    (_P.ROLLED_BACK, _E.RENEW): _P.PENDING,
    (_P.SUSPENDED, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.SUSPENDED, _E.RESUME): BACK,
    (_P.CONFLICT, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.CONFLICT, _E.RESUME): BACK,
    (_P.CONFLICT, _E.SUSPEND): _P.SUSPENDED,
    (_P.FAILED, _E.ROLL_BACK): _P.ROLLING_BACK,
    (_P.FAILED, _E.SUSPEND): _P.SUSPENDED,
}

REFUSALS: dict[Phase, str] = {
    Phase.PENDING: "it has not begun; tidegate explain NAME says what it waits for",
    Phase.PROGRESSING: "it moves by itself; tidegate pause NAME stops that, tidegate rollback NAME takes it back",
    Phase.PROMOTING: "it is at 100% already and finishes by itself; tidegate rollback NAME takes it back",
    Phase.PAUSED: "tidegate resume NAME lets it go on, tidegate rollback NAME takes it back",
    Phase.PARKED: "it waits at 0% for the metrics and goes on by itself; tidegate rollback NAME ends it",
    Phase.PROMOTED: "the canary has all traffic; tidegate rollback NAME takes it back, a new canary begins the next",
    Phase.ROLLING_BACK: "it is going back to stable; once it is there, tidegate retry NAME begins again",
    Phase.ROLLED_BACK: "it was rolled back; tidegate retry NAME begins again, and so does a changed spec",
    Phase.SUSPENDED: "it is suspended: nothing is written; tidegate resume NAME lifts that",
    Phase.CONFLICT: "somebody else writes these weights; settle that, then tidegate resume or rollback NAME",
    Phase.FAILED: "the canary failed; tidegate rollback NAME takes it back, then tidegate retry NAME begins again",
}

FINISHED = frozenset({Phase.PROMOTED, Phase.ROLLED_BACK})


def next_phase(phase: Phase, event: Event) -> Phase | str | None:
    """The phase that `event` leads to, BACK, or None when it is impossible in `phase`."""
    return TRANSITIONS.get((phase, event))
