"""What does one poll tell of both versions? From increments to the arrays that the evidence weighs.

Strata: requests of one sender are compared with requests of the same sender (a metric of one's own has its own labels),
so that another mix of senders is no difference between versions. Strata in which stable had fewer than 20 requests are
pooled into one. Where even the pool has requests of one version only, they wait for the other's: at a request every few
seconds a poll has one request, which alone compares nothing. When to stop waiting depends on numbers of requests only,
never on how they ended.

Counting: a request that has begun is counted at once where the source knows of it. Then fast failures beside slow
successes don't overstate harm, and harm counts at once. Where a request is known only when it ends, a poll counts once
the longest of stable's requests that began at this weight had ended when the poll began; or when the weight is ten
times as old, since what is not known of yet is a small part then. Being no worse is only shown by what has waited so
long, and one poll more.

Example: requests of at most 0.5 s, counted at their end, scraped each 15 s: harm counts from 5 s on, proof from 15.5 s.
Example: requests of up to 30 s: both count from 45 s on.

Example: 410 of the canary and 3,690 of stable from two gateways that sent 2,000 each: two strata.
Example: 1 of the canary, then 0, then 0, and 0, 1, 1 of stable: the first poll waits; the second one brings 1 and 1.
Source: Mantel & Haenszel 1959 (strata); the waiting is ours.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from control.engine.cursor import PODS, REQUESTS, UNKNOWN, Row
from control.engine.evidence import SLOTS, Poll
from control.engine.evidence.terms import Floats, Terms, Test
from control.engine.increments import LATENCY, Increments, Pair
from control.engine.watched import Watched

FEWEST = 20
"""Requests of stable from which a stratum is compared for itself, and beyond which they do not wait for the
canary's.
"""
MOST_WAITING = 200
"""Requests of the canary that wait for one of stable."""
CENSORED = 10.0
"""How many times older than the longest request a weight must be for those that have not ended to be few."""
STARTED, FAILED, RETRIED, ABANDONED = range(4)
Counted = tuple[float, float]
"""All, and bad ones."""
NOTHING: Counted = (0.0, 0.0)
BUILT_IN = {"outcomes": FAILED, "attempts": RETRIED, "abandoned": ABANDONED}
SERVED = frozenset({"outcomes", "attempts"})
"""What the tries of serving processes tell something about."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the shift stood when the poll was taken.

    `share` is the canary's configured share, `in_force_s` how long every proxy has run it (None: not all do), `warming`
    whether a process of the canary is warming up, `span_s` how long the poll took (inf: nobody knows).
    """

    stable: str
    canary: str
    share: float
    in_force_s: float | None = None
    warming: bool = False
    span_s: float = inf

    def steady(self, longest_s: float) -> bool:
        """Do as many requests end as begin, all but a tenth?"""
        return self.settled(longest_s + self.span_s) or self.settled(CENSORED * longest_s)

    def settled(self, longest_s: float) -> bool:
        """Have the longest requests had time to end that began at this weight?"""
        return self.in_force_s is not None and self.in_force_s >= longest_s


@dataclass(frozen=True, slots=True)
class _Counted:
    """Which numbers one test compares: of which metric's rows, the columns of all and of bad ones. `all_but`: bad are
    all but those of the column.
    """

    table: str
    bad: int
    all_but: bool = False
    tries: int = 1


def poll_of(
    new: Increments, watched: Watched, terms: Terms, at: Moment, waiting: Sequence[float] = ()
) -> tuple[Poll, tuple[float, ...]]:
    """The poll of one run, and what waits for the next one. Units: `waiting` is what the poll before gave."""
    steady, proof = at.steady(watched.longest_s), at.settled(watched.longest_s + max(at.span_s, terms.poll_s))
    harm = steady or not new.at_end
    columns = [_counted(test, watched) for test in terms.tests]
    quiet = {each.table for each in columns if not (steady or each.table in (REQUESTS, LATENCY))}
    canary, stable = _sides(new, at, columns, quiet)
    if harm:
        regime = 2.0 if proof else 1.0
        canary, stable, left = gathered(canary, stable, _waiting(waiting, regime, len(columns)))
        waits = (regime, *map(float, left.ravel()))
    else:
        canary, stable, waits = pooled(canary, stable), pooled(stable, stable), ()
    poll = Poll(
        canary=canary,
        stable=stable,
        stable_pods=_slots(new, at.stable, terms.tests, columns),
        canary_pods=_slots(new, at.canary, terms.tests, columns),
        harm=np.array([harm]),
        proof=np.array([proof]),
        warm=np.array([at.warming]),
        share=np.array([at.share if proof else np.nan]),
        sent=np.array([[_sent(new, at.canary), _sent(new, at.stable)]]),
    )
    return poll, waits


def compares(poll: Poll, terms: Terms) -> bool:
    """Does a test that counts requests have some of both versions in one stratum?

    The others are counted when they like: a request whose latency comes a poll after its outcome is one request.
    """
    counted = [test.counted for test in terms.tests]
    both = (poll.canary[..., 0] > 0) & (poll.stable[..., 0] > 0)
    return bool((both[:, counted] if any(counted) else both).any())


def gathered(canary: Floats, stable: Floats, waiting: Floats) -> tuple[Floats, Floats, Floats]:
    """Both versions' counts with small strata pooled, and what waits: requests of one version without any of the other.

    Units: `canary`, `stable` (runs, tests, strata, 2); `waiting` (runs, tests, 4): canary's, then stable's. The pool is
    the last stratum of the result.
    """
    of_canary, of_stable = pooled(canary, stable), pooled(stable, stable)
    pool = np.concatenate([of_canary[..., -1, :], of_stable[..., -1, :]], axis=-1) + waiting
    n_c, n_s = pool[..., 0], pool[..., 2]
    waits = (((n_c > 0) != (n_s > 0)) & (n_c < MOST_WAITING) & (n_s < FEWEST))[..., None]
    used = np.where(waits, 0.0, pool)
    of_canary[..., -1, :], of_stable[..., -1, :] = used[..., :2], used[..., 2:]
    return of_canary, of_stable, np.where(waits, pool, 0.0)


def pooled(counts: Floats, stable: Floats) -> Floats:
    """The counts with all strata in which stable had too few requests as one more, at the end."""
    few = (stable[..., 0] < FEWEST)[..., None]
    pool = np.where(few, counts, 0.0).sum(axis=-2, keepdims=True)
    return np.concatenate([np.where(few, 0.0, counts), pool], axis=-2)


def _waiting(waiting: Sequence[float], regime: float, tests: int) -> Floats:
    """What waits, if it was counted under the same rule: what may be proof must not be mixed with what may not."""
    if len(waiting) != 1 + 4 * tests or waiting[0] != regime:
        return np.zeros((1, tests, 4))
    return np.array(waiting[1:], float).reshape(1, tests, 4)


def _counted(test: Test, watched: Watched) -> _Counted:
    if test.metric in BUILT_IN:
        return _Counted(REQUESTS, BUILT_IN[test.metric], tries=test.tries)
    others = [each.name for each in watched.tests if each.metric == test.metric]
    return _Counted(test.metric, 1 + others.index(test.name), test.metric in watched.higher)


def _sides(new: Increments, at: Moment, columns: Sequence[_Counted], quiet: Collection[str]) -> tuple[Floats, Floats]:
    """What each test compares of the canary and of stable, by stratum (1, tests, strata, 2).

    Tables that are `quiet` do not count yet. Where the bad ones of one version can't be told, nothing of either counts.
    """
    named = {each.table for each in columns}
    tables = {name: {} if name in quiet else _strata(new, name, at) for name in named}
    longest = max((len(strata) for strata in tables.values()), default=0)
    sides: list[list[list[Counted]]] = [[], []]
    for each in columns:
        pairs = [(_pair(canary, each), _pair(stable, each)) for canary, stable in tables[each.table].values()]
        known = [pair if None not in pair else (NOTHING, NOTHING) for pair in pairs]
        known += [(NOTHING, NOTHING)] * (longest - len(known))
        for side, of_version in zip(sides, zip(*known, strict=True), strict=False):
            side.append(list(of_version))
    canary, stable = (np.array([side], float).reshape(1, len(columns), longest, 2) for side in sides)
    return canary, stable


def _strata(new: Increments, table: str, at: Moment) -> Mapping[str, tuple[Row, Row]]:
    """The canary's and stable's rows of a table by stratum, in order."""
    rows = _rows(new, table)
    return {
        stratum: (rows.get((at.canary, stratum), ()), rows.get((at.stable, stratum), ()))
        for stratum in sorted({stratum for _, stratum in rows})
    }


def _rows(new: Increments, table: str) -> Mapping[Pair, Row]:
    if table != REQUESTS:
        return new.counts.get(table, {})
    return {
        pair: (new.started[pair], each.failures, each.retries, each.abandoned) for pair, each in new.tallies.items()
    }


def _pair(row: Row, counted: _Counted) -> Counted | None:
    """All and bad ones; None where the bad ones can't be told (an edge that a series lacks).

    A request that failed is one at least: where it began before the last look, or was scraped before its own total, it
    is counted among all once more.
    """
    if not row:
        return NOTHING
    if len(row) <= counted.bad or row[counted.bad] == UNKNOWN:
        return None
    bad = max(row[0] - row[counted.bad], 0) if counted.all_but else row[counted.bad]
    return max(row[0], bad / counted.tries), bad


def _slots(new: Increments, version: str, tests: Sequence[Test], columns: Sequence[_Counted]) -> Floats:
    """What each serving process of a version did, for each test that knows (1, tests, slots, 2)."""
    found = [[NOTHING] * SLOTS for _ in tests]
    for of_test, test, counted in zip(found, tests, columns, strict=True):
        if test.metric in SERVED:
            counted = _Counted(PODS, 1, tries=test.tries)
        for (name, slot), row in new.served.get(counted.table, {}).items():
            if name == version:
                of_test[slot] = _pair(row, counted) or NOTHING
    return np.array([found], float).reshape(1, len(tests), SLOTS, 2)


def _sent(new: Increments, version: str) -> int:
    return sum(began for (name, _), began in new.started.items() if name == version)
