"""What does one poll tell of both versions? From increments to the arrays that the evidence weighs.

Strata: requests of one sender are compared with requests of the same sender (a metric of one's own has its own labels),
so that another mix of senders is no difference between versions. Strata in which stable had fewer than 20 requests are
pooled into one. Where even the pool has requests of one version only, they wait for the other's: at a request every few
seconds a poll has one request, which alone compares nothing. When to stop waiting depends on numbers of requests only,
never on how they ended.

Counting: a request that has begun is counted at once where the source knows of it. Then fast failures beside slow
successes don't overstate harm, and harm counts at once. Where a request is known only when it ends, nothing counts
until stable's longest requests that began at this weight have ended. Being no worse is only shown by what has waited
so long, and one poll more.

Example: 410 of the canary and 3,690 of stable from two gateways that sent 2,000 each: two strata.
Example: 1 of the canary, then 0, then 0, and 0, 1, 1 of stable: the first poll waits; the second one brings 1 and 1.
Source: Mantel & Haenszel 1959 (strata); the waiting is ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from control.engine.cursor import PODS, REQUESTS, Row
from control.engine.evidence import SLOTS, Poll
from control.engine.evidence.terms import Bools, Floats, Terms, Test
from control.engine.increments import LATENCY, Increments, Pair
from control.engine.watched import Watched

FEWEST = 20
"""Requests of stable from which a stratum is compared for itself, and beyond which they do not wait for the
canary's.
"""
MOST_WAITING = 200
"""Requests of the canary that wait for one of stable."""
STARTED, FAILED, RETRIED, ABANDONED = range(4)
BUILT_IN = {"outcomes": FAILED, "attempts": RETRIED, "abandoned": ABANDONED}
SERVED = frozenset({"outcomes", "attempts"})
"""What the tries of serving processes tell something about."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the shift stood when the poll was taken.

    `share` is the canary's configured share, `in_force_s` how long every proxy has run it (None: not all do), `warming`
    whether a process of the canary is warming up.
    """

    stable: str
    canary: str
    share: float
    in_force_s: float | None = None
    warming: bool = False

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
    ended, proof = at.settled(watched.longest_s), at.settled(watched.longest_s + terms.poll_s)
    harm = ended or not new.at_end
    columns = [_counted(test, watched) for test in terms.tests]
    tables = _tables(new, at, {each.table for each in columns})
    quiet = [not (ended or each.table in (REQUESTS, LATENCY)) for each in columns]
    canary, stable = _sides(
        [_of_test(tables[each.table], each, quiet=still) for each, still in zip(columns, quiet, strict=True)]
    )
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


def compares(poll: Poll) -> bool:
    """Does any test have requests of both versions in one stratum?"""
    return bool(((poll.canary[..., 0] > 0) & (poll.stable[..., 0] > 0)).any())


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


def _tables(new: Increments, at: Moment, names: Iterable[str]) -> Mapping[str, tuple[Floats, Floats]]:
    """The counts of each table by stratum, the canary's and stable's. Units: (strata, columns)."""
    return {name: _both(_rows(new, name), at) for name in names}


def _rows(new: Increments, table: str) -> Mapping[Pair, Row]:
    if table != REQUESTS:
        return new.counts.get(table, {})
    return {
        pair: (new.started[pair], each.failures, each.retries, each.abandoned) for pair, each in new.tallies.items()
    }


def _both(rows: Mapping[Pair, Row], at: Moment) -> tuple[Floats, Floats]:
    strata = sorted({stratum for _, stratum in rows})
    nothing = (0,) * max((len(row) for row in rows.values()), default=1)
    canary, stable = (
        np.array([rows.get((version, stratum), nothing) for stratum in strata], float).reshape(-1, len(nothing))
        for version in (at.canary, at.stable)
    )
    return canary, stable


def _of_test(table: tuple[Floats, Floats], counted: _Counted, *, quiet: bool) -> tuple[Floats, Floats]:
    """Both versions' counts by stratum; nothing of either where the bad ones of one can't be told."""
    known = np.logical_and(*(_known(side, counted) for side in table)) & (not quiet)
    canary, stable = (np.where(known[:, None], _compared(side, counted), 0.0) for side in table)
    return canary, stable


def _known(side: Floats, counted: _Counted) -> Bools:
    """Can the bad ones be told? Not where a series lacks the edge."""
    return side[:, counted.bad] >= 0 if side.shape[1] > counted.bad else np.zeros(len(side), bool)


def _compared(side: Floats, counted: _Counted) -> Floats:
    """All and bad ones by stratum. A request that failed is one at least: where it began before the last look, or was
    scraped before its own total, it is counted among all once more.
    """
    if side.shape[1] <= counted.bad:
        return np.zeros((len(side), 2))
    n, bad = side[:, 0], side[:, counted.bad]
    bad = np.maximum(n - bad, 0.0) if counted.all_but else bad
    return np.stack([np.maximum(n, bad / counted.tries), bad], axis=-1)


def _sides(tests: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """All tests as (1, tests, strata, 2), filled up with empty strata."""
    canary, stable = np.zeros((2, 1, len(tests), max((len(one) for one, _ in tests), default=0), 2))
    for number, (one, other) in enumerate(tests):
        canary[0, number, : len(one)], stable[0, number, : len(other)] = one, other
    return canary, stable


def _slots(new: Increments, version: str, tests: Sequence[Test], columns: Sequence[_Counted]) -> Floats:
    """What each serving process of a version did, for each test that knows (1, tests, slots, 2)."""
    found = np.zeros((1, len(tests), SLOTS, 2))
    for number, (test, counted) in enumerate(zip(tests, columns, strict=True)):
        of_pods = test.metric in SERVED
        table = new.served.get(PODS if of_pods else counted.table, {})
        for (name, slot), row in table.items():
            if name == version:
                found[0, number, slot] = _served(row, _Counted(PODS, 1, tries=test.tries) if of_pods else counted)
    return found


def _served(row: Row, counted: _Counted) -> Floats:
    side = np.array([row], float)
    return np.asarray(np.where(_known(side, counted)[:, None], _compared(side, counted), 0.0)[0])


def _sent(new: Increments, version: str) -> int:
    return sum(began for (name, _), began in new.started.items() if name == version)
