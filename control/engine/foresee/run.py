"""How would this very shift go? Many runs of it, poll by poll, through the evidence that a real one goes through.

Nothing is approximated but the traffic: counts are drawn (`draw`), everything after that is `weigh` and `course`, with
a run on each row. Runs that have ended are left out from then on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from control.engine.begin import first_of
from control.engine.evidence import Findings, Poll, Standing, Tide, findings, fresh, rebake, resized, weigh
from control.engine.evidence.terms import Bools, Floats, Ints
from control.engine.foresee.afterwards import watched_afterwards
from control.engine.foresee.assumed import Assumed, Setting, setting
from control.engine.foresee.course import Step, decided
from control.engine.foresee.draw import drawn
from control.engine.foresee.outcome import UNNAMED, End, Foreseen, changed, in_order
from control.engine.polls import gathered
from control.spec import TrafficShift

Told = Callable[[float], None]


@dataclass(slots=True, eq=False)
class _Costs:
    """What every run has come to (runs,), as in `Foreseen`."""

    end: Ints
    seconds: Floats
    requests: Floats
    failed: Floats
    excess: Floats
    leading: Ints
    changes: list[Floats] = field(default_factory=list)

    def add(self, runs: Ints, requests: Floats, failed: Floats, usual: float) -> None:
        self.requests[runs] += requests
        self.failed[runs] += failed
        self.excess[runs] += failed - requests * usual

    def foreseen(self) -> Foreseen:
        return Foreseen(
            self.end, self.seconds, self.requests, self.failed, self.excess, self.leading, in_order(self.changes)
        )


@dataclass(slots=True, eq=False)
class _Runs:
    """The runs that still go on. Units: arrays of (runs,); times are numbers of polls since the first decision.

    `which` of all; `share` in force, `wish` to come into force at poll `due`; `polls` with data, and `seen` canary
    requests, at this share; `bakes` since when (-1: it does not); `waiting`: requests that wait for others of stable.
    """

    which: Ints
    share: Floats
    wish: Floats
    due: Floats
    polls: Floats
    seen: Floats
    bakes: Floats
    waiting: Floats
    tide: Tide

    def keep(self, where: Bools) -> None:
        if where.all():
            return
        for name in ("which", "share", "wish", "due", "polls", "seen", "bakes", "waiting"):
            setattr(self, name, getattr(self, name)[where])
        self.tide = self.tide.runs(where)


def foresee(
    shift: TrafficShift,
    given: Assumed,
    *,
    runs: int,
    within_s: float,
    rng: np.random.Generator,
    told: Told = lambda _: None,
) -> Foreseen:
    """What comes of each run. `told` hears which part of the work is done, 0 to 1."""
    at = setting(shift, given)
    polls = max(1, round(within_s / at.poll_s))
    none, going = np.zeros(runs), _begun(at, runs)
    undecided, unnamed = np.full(runs, int(End.GOING)), np.full(runs, UNNAMED)
    costs = _Costs(undecided, none + polls * at.poll_s, none.copy(), none.copy(), none.copy(), unnamed)
    for poll in range(polls):
        if not len(going.which):
            break
        told(max(poll / polls, 1 - len(going.which) / runs))
        _come_into_force(at, going, poll, costs)
        _take_poll(at, going, poll, costs, rng)
    told(1.0)
    return watched_afterwards(at, costs.foreseen(), rng)


def _begun(at: Setting, runs: int) -> _Runs:
    first = first_of(at.shift, at.watched, at.given.per_s)
    none = np.zeros(runs)
    return _Runs(
        which=np.arange(runs),
        share=none.copy(),
        wish=np.full(runs, float(first or 0)),
        due=none + at.lag_polls,
        polls=none.copy(),
        seen=none.copy(),
        bakes=none - 1,
        waiting=np.zeros((runs, len(at.terms.tests), 4)),
        tide=fresh(at.terms, runs, at.given.processes),
    )


def _come_into_force(at: Setting, going: _Runs, poll: int, costs: _Costs) -> None:
    new = (going.due <= poll) & (going.share != going.wish)
    if new.any():
        going.share = np.where(new, going.wish, going.share)
        costs.changes.append(changed(np.array(poll * at.poll_s), going.which[new], going.share[new]))


def _take_poll(at: Setting, going: _Runs, poll: int, costs: _Costs, rng: np.random.Generator) -> None:
    stable, canary = drawn(at, going.share, rng)
    weighed = _poll(at, going, stable, canary, poll)
    going.tide = weigh(at.terms, going.tide, weighed)
    found = findings(at.terms, going.tide)
    settled = going.due <= poll
    going.polls = going.polls + (settled & (weighed.sent > 0).all(axis=-1))
    going.seen = going.seen + np.where(settled, weighed.sent[:, 0], 0.0)
    costs.add(going.which, weighed.sent[:, 0], _failed(at, canary), at.given.stable)
    standing = _standing(at, going, settled & ~weighed.warm, poll)
    step = decided(at, found, standing, _held_s(at, going, poll), going.seen)
    _end(at, going, step, found, poll, costs, rng)
    _move(at, going, step, poll)
    going.keep(step.end == End.GOING)


def _failed(at: Setting, canary: Floats) -> Floats:
    """Requests of the canary that failed for their callers (runs,)."""
    counted = np.array([each.counted for each in at.terms.tests])
    return np.asarray(canary[..., 1][:, counted].sum(axis=(1, 2)))


def _held_s(at: Setting, going: _Runs, poll: int) -> Floats:
    """How long the present share has been in force at the end of this poll (runs,); 0 before that."""
    return np.asarray(np.maximum(poll + 1 - going.due, 0.0) * at.poll_s)


def _poll(at: Setting, going: _Runs, stable: Floats, canary: Floats, poll: int) -> Poll:
    """The counts as the controller would hand them to the evidence (`polls.poll_of`)."""
    held_s, longest_s = _held_s(at, going, poll), at.watched.longest_s
    both = canary.sum(axis=2)[:, :, None, :], stable.sum(axis=2)[:, :, None, :]
    sent = np.stack([each[:, 0, 0, 0] for each in both], axis=-1)
    of_canary, of_stable, going.waiting = gathered(*both, going.waiting)
    proof = held_s >= longest_s + at.poll_s
    warm_s = at.shift.warm_up.total_seconds()
    warm = bool(warm_s) and (poll - at.lag_polls) * at.poll_s < warm_s
    return Poll(
        canary=of_canary,
        stable=of_stable,
        stable_pods=stable,
        canary_pods=canary,
        harm=held_s >= max(longest_s, at.poll_s) if at.counted_at_end else np.ones(len(proof), bool),
        proof=proof,
        warm=np.full(len(proof), warm),
        share=np.where(proof, going.share, np.nan),
        sent=sent,
    )


def _standing(at: Setting, going: _Runs, ready: Bools, poll: int) -> Standing:
    whole, baking = np.ones(len(going.which)), going.bakes >= 0
    baked_s = np.where(baking, (poll + 1 - going.bakes) * at.poll_s, 0.0)
    return Standing(going.wish, going.polls, whole * at.given.per_s, whole, baking, baked_s, ready)


def _end(
    at: Setting, going: _Runs, step: Step, found: Findings, poll: int, costs: _Costs, rng: np.random.Generator
) -> None:
    """Notes the runs that end now. What is sent to the canary until the traffic has gone back still counts."""
    over, back = step.end != End.GOING, np.isin(step.end, [int(End.ROLLED_BACK), int(End.SPENT)])
    rows, returned = going.which[over], going.which[back]
    now_s = np.array((poll + 1) * at.poll_s)
    costs.end[rows] = step.end[over]
    costs.seconds[rows] = now_s
    costs.leading[rows] = np.where(step.end == End.ROLLED_BACK, found.leading, UNNAMED)[over]
    requests = rng.poisson(at.given.per_s * at.terms.lag_s * going.share[back])
    failed = rng.binomial(requests, at.given.canary)
    costs.add(returned, requests.astype(float), failed.astype(float), at.given.stable)
    costs.changes.append(changed(now_s + at.terms.lag_s, returned, np.array(0.0)))


def _move(at: Setting, going: _Runs, step: Step, poll: int) -> None:
    """After the decision: a new share, or a bake, begins to be counted anew."""
    new = step.share != going.wish
    if not (new | step.bakes).any():
        return
    going.tide = resized(rebake(going.tide, step.bakes), new)
    going.wish = np.where(new, step.share, going.wish)
    going.due = np.where(new, poll + 1.0 + at.lag_polls, going.due)
    going.polls = np.where(new | step.bakes, 0.0, going.polls)
    going.seen = np.where(new, 0.0, going.seen)
    going.bakes = np.where(step.bakes, poll + 1.0, going.bakes)
