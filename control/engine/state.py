"""What must survive of a shift from one tick to the next? One small frozen value, and its JSON.

The weights that a mesh should have are a function of this value alone. It holds no history beyond the steps of the
running run; the journal is elsewhere and never read back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from control.engine.codec import Numbers, decode, encode, pack, unpack
from control.engine.cursor import Cursor
from control.engine.decision import Cause, Decision
from control.engine.phase import Phase, Verdict
from control.engine.readings import Tally
from control.engine.upcast import SCHEMA, upcast
from control.engine.watched import Watched
from control.errors import InvariantBroken
from control.spec import Mode, TrafficShift
from mesh.traffic import RouteRef, TrafficSplit

AIMED_BYTES, MOST_BYTES = 16 * 1024, 64 * 1024
"""What a state with six metrics, a hundred proxies and a dozen steps fits into, and what none ever takes."""
KEPT_COMMANDS = 16
NOTHING = Tally()
UNREAD = Cursor()
NO_NUMBERS = Numbers()
NOT_BEGUN = Decision(Cause.NOT_BEGUN)


@dataclass(frozen=True, slots=True)
class Subject:
    """Which traffic this run moves, or only observes: settled when it begins, so that an edited spec can't redirect a
    running one.
    """

    host: str
    stable: str
    canary: str
    routes: tuple[RouteRef, ...]
    mode: Mode = Mode.CONTROL

    def split(self, share: Fraction) -> TrafficSplit:
        return TrafficSplit(self.host, self.stable, self.canary, share)


def subject_of(shift: TrafficShift) -> Subject:
    return Subject(shift.host, shift.stable, shift.canary, shift.target.routes, shift.mode)


@dataclass(frozen=True, slots=True)
class Intent:
    """A weight that we are about to write, stored before the write.

    `before` is what each route gave the canary at that time, as "namespace/name/route": a route that still does has
    not been written; one that has neither that nor `share` was changed by somebody else. `done` are the routes seen
    with `share`.
    """

    id: int
    share: Fraction
    at: datetime
    before: dict[str, str] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    rejected: str = ""
    rejected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """Weights that somebody else wrote: since when one is being respected, and when we repaired the last ones."""

    since: datetime | None = None
    share: Fraction | None = None
    repairs: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """How many looks had requests of a version, and when the last of them was."""

    looks: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Requests that ended since every proxy acknowledged the present weight: in all, and in the last poll that had any.

    `quiet` is how many polls without any came after that one, `compared` how many of all compared the versions.
    `heard_canary`, `heard_stable`: the looks that had requests of each.
    """

    polls: int = 0
    canary: int = 0
    stable: int = 0
    last_canary: int = 0
    last_stable: int = 0
    quiet: int = 0
    compared: int = 0
    heard_canary: Heard = Heard()
    heard_stable: Heard = Heard()

    def observed(self, share: Fraction) -> float | None:
        """The canary's share of the requests that were counted, None when there were none.

        At 0 and 100 % only the last poll with requests counts, since those that began before the weight end after it.
        """
        at_an_end = share in (0, 1)
        if share == 0 and self.polls > 0 and not self.reaches_canary:
            return 0.0
        canary, stable = (self.last_canary, self.last_stable) if at_an_end else (self.canary, self.stable)
        return canary / (canary + stable) if canary + stable else None

    @property
    def reaches_canary(self) -> bool:
        """Did a request end on the canary in the last poll?"""
        return self.last_canary > 0 and not self.quiet

    def grown(self, canary: int, stable: int, at: datetime) -> "Window":
        if canary + stable == 0:
            return replace(self, polls=self.polls + 1, quiet=self.quiet + 1)
        return Window(
            polls=self.polls + 1,
            canary=self.canary + canary,
            stable=self.stable + stable,
            last_canary=canary,
            last_stable=stable,
            compared=self.compared,
            heard_canary=Heard(self.heard_canary.looks + 1, at) if canary else self.heard_canary,
            heard_stable=Heard(self.heard_stable.looks + 1, at) if stable else self.heard_stable,
        )


@dataclass(frozen=True, slots=True)
class Flow:
    """How much traffic there is: requests a second of both versions as of late (None: not known yet), when it was last
    counted, and stable's requests and failures since the shift was applied.
    """

    per_s: float | None = None
    at: datetime | None = None
    requests: int = 0
    failures: int = 0

    @property
    def failing(self) -> float | None:
        """The part of stable's requests that fails, None while none was counted."""
        return self.failures / self.requests if self.requests else None


@dataclass(frozen=True, slots=True)
class Bake:
    """The canary is watched once more before 100 %: `since` the weight is in force (None: it is not, just now), after
    `before_s` seconds of watching that were interrupted.
    """

    since: datetime | None = None
    before_s: float = 0.0

    def lasted_s(self, now: datetime) -> float:
        return self.before_s + (max((now - self.since).total_seconds(), 0.0) if self.since is not None else 0.0)


@dataclass(frozen=True, slots=True)
class Return:
    """A return that nobody is in a hurry for: from `share` at `since` to 0 by `until`."""

    share: Fraction
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Guard:
    """What is watched at 100 %: the bets that more than `limit` of the canary's requests fail, and what they rest on.

    `phi` is the dispersion of failures that was known when it began.
    """

    limit: float
    phi: float = 1.0
    bets: Numbers = NO_NUMBERS
    polls: float = 0.0
    requests: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the run: when, what was weighed there, and why it was left.

    `step` counts the steps that the run has taken. It is no place in the plan, which may be edited meanwhile.
    """

    step: int
    share: Fraction
    entered_at: datetime
    acknowledged_at: datetime | None = None
    left_at: datetime | None = None
    canary: Tally = NOTHING
    stable: Tally = NOTHING
    window: Window = Window()
    left: Decision | None = None


@dataclass(frozen=True, slots=True)
class RouteSeen:
    """One route as the last tick saw it, for people to read; nothing is decided from it.

    `in_force`: every proxy that holds the route runs what its document says, whatever that is.
    """

    key: str
    route: str
    revision: str = ""
    configured: Fraction | None = None
    holders: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()
    rejections: tuple[tuple[str, str], ...] = ()
    in_force: bool = False


@dataclass(frozen=True, slots=True)
class GaugeSeen:
    """A person's gauge as the last tick read it, None where it could not be."""

    name: str
    canary: float | None = None
    stable: float | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The world as the last tick saw it, for people to read. `verdicts` are those of each test and gauge by name."""

    routes: tuple[RouteSeen, ...] = ()
    canary_endpoints: int | None = None
    stable_endpoints: int | None = None
    verdict: Verdict = Verdict.NO_DATA
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    gauges: tuple[GaugeSeen, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal. `seq` is unique in a shift: an entry that arrives twice is the same entry. `harm` is the
    evidence for harm that the decision rests on, in odds.
    """

    seq: int
    at: datetime
    reason: Cause
    sentence: str
    actor: str
    step: int
    share: Fraction
    harm: float | None = None


@dataclass(frozen=True, slots=True)
class ShiftState:
    """Everything that resume needs.

    `share` is what the canary should have now, the only source of weights. `returns_to` is the stack of phases that
    resume leads back to, `set_aside` what led away from each: who paused or suspended it, and why. `caused_at`: since
    when decisions have had the present cause. `watched` is what the run compares, `tide` and `sums` the numbers of that
    evidence, used up to `cursor`. `blind_since`: since when the counters can't be read; `warm_until`: until when a new
    process of the canary is still warming up; `breaches`: since when each gauge is out of its range. `troubled` are
    troubles of sight that the journal tells of, and whose end it has not told yet. `owes_entry`: the ledger does not
    have this run's end yet. `builds` are those of the canary that the run is about. `outbox` holds journal entries
    that are not known to be recorded yet.
    """

    phase: Phase
    generation: str
    subject: Subject
    run: int = 1
    step: int = 0
    share: Fraction = Fraction(0)
    decision: Decision = NOT_BEGUN
    caused_at: datetime | None = None
    outcome: Decision | None = None
    returns_to: tuple[Phase, ...] = ()
    set_aside: tuple[Decision, ...] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None
    first_bad_at: datetime | None = None
    intent: Intent | None = None
    steps: tuple[Step, ...] = ()
    window: Window = Window()
    acknowledged_at: datetime | None = None
    drift: Drift = Drift()
    cursor: Cursor = UNREAD
    watched: Watched | None = None
    tide: Numbers = NO_NUMBERS
    sums: Numbers = NO_NUMBERS
    flow: Flow = Flow()
    bake: Bake | None = None
    giving_back: Return | None = None
    guard: Guard | None = None
    blind_since: datetime | None = None
    warm_until: datetime | None = None
    breaches: dict[str, datetime] = field(default_factory=dict)
    seen: Seen = Seen()
    troubled: tuple[Cause, ...] = ()
    deleting: bool = False
    owes_entry: bool = False
    commands: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    entries: int = 0
    outbox: tuple[Entry, ...] = ()

    def aside(self, cause: Cause) -> Decision:
        """What holds a shift that was set aside by `cause`, in the words of who did it."""
        last = self.set_aside[-1] if self.set_aside else None
        return Decision(cause, facts=last.facts if last is not None and last.cause is cause else {})

    def to_json(self) -> dict[str, Any]:
        """Raises: InvariantBroken when it does not fit the store."""
        found = {name: getattr(self, name) for name in _PACKED}
        packed = {name: pack(each) for name, each in found.items() if each != _PACKED[name][1]}
        data: dict[str, Any] = {"schema": SCHEMA} | encode(replace(self, **_BARE)) | packed
        if (size := len(json.dumps(data, separators=(",", ":")))) > MOST_BYTES:
            raise InvariantBroken(f"the state of a shift takes {size:,} bytes, more than {MOST_BYTES:,}")
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "ShiftState":
        """Raises: InvariantBroken for a state that is newer than this program, or that is none."""
        fields = dict(upcast(data))
        try:
            packed = {name: fields.pop(name) for name in _PACKED if name in fields}
            found: dict[str, Any] = {name: unpack(_PACKED[name][0], text) for name, text in packed.items()}
            return replace(decode(ShiftState, fields), **found)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvariantBroken(
                f"the stored state can't be read: {error}", "keep it aside and apply the shift again"
            ) from error


_PACKED: dict[str, tuple[Any, Any]] = {
    "cursor": (Cursor, UNREAD),
    "watched": (Watched, None),
    "steps": (tuple[Step, ...], ()),
    "seen": (Seen, Seen()),
}
"""Fields that repeat themselves a lot, the names of proxies above all: their kind, and what is left out."""
_BARE: dict[str, Any] = {name: default for name, (_, default) in _PACKED.items()}


def new_state(shift: TrafficShift) -> ShiftState:
    """The state of a shift that was just applied: nothing begun, nothing written."""
    return ShiftState(phase=Phase.PENDING, generation=shift.generation, subject=subject_of(shift))


def route_key(ref: RouteRef) -> str:
    return "/".join([ref.namespace, ref.virtual_service, *([ref.route] if ref.route else [])])
