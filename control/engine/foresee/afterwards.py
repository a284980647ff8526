"""What becomes of the runs that were promoted? By steps they hold once more; then the objective alone guards them."""

from dataclasses import replace

import numpy as np

from control.engine.evidence.guard import fresh_guard, limit_of, log_broken, weigh_guard
from control.engine.evidence.terms import Floats, Ints
from control.engine.foresee.assumed import Setting
from control.engine.foresee.outcome import End, Foreseen, changed, in_order
from control.spec import StepStrategy


def watched_afterwards(at: Setting, before: Foreseen, rng: np.random.Generator) -> Foreseen:
    """The outcomes, with all traffic on those promoted, and those returned that broke the objective at 100 %."""
    rows = np.flatnonzero(before.end == End.PROMOTED)
    full_s = before.seconds[rows] + at.lag_polls * at.poll_s
    seconds = before.seconds.copy()
    seconds[rows] = full_s + _once_more_s(at)
    full = changed(full_s, rows, np.array(1.0))
    after = replace(before, seconds=seconds, changes=in_order([before.changes, full]))
    return _guarded(at, after, rows, rng) if len(rows) and at.shift.rollback_window else after


def _once_more_s(at: Setting) -> float:
    """How long a canary that has everything is watched before the shift is done."""
    strategy = at.shift.strategy
    return max(strategy.hold.total_seconds() if isinstance(strategy, StepStrategy) else 0.0, at.poll_s)


def _guarded(at: Setting, before: Foreseen, rows: Ints, rng: np.random.Generator) -> Foreseen:
    guard, broken_at = fresh_guard(len(rows)), np.full(len(rows), np.inf)
    costs = np.zeros((2, len(rows)))
    for poll in range(max(1, round(at.shift.rollback_window.total_seconds() / at.poll_s))):
        requests = np.asarray(rng.poisson(at.given.per_s * at.poll_s, len(rows)), float)
        failed = np.asarray(rng.binomial(requests.astype(np.int64), at.given.canary), float)
        guard = weigh_guard(guard, requests, failed, _limit(at))
        kept = np.isinf(broken_at)
        costs += np.where(kept, np.stack([requests, failed]), 0.0)
        broken_at[kept & (log_broken(guard) >= at.terms.log_harm)] = (poll + 1) * at.poll_s
    broken = np.isfinite(broken_at)
    return _returned(at, before, rows[broken], broken_at[broken], costs[:, broken])


def _limit(at: Setting) -> float:
    limits = [limit_of(at.shift.objective, at.given.stable, each.tolerated) for each in at.terms.tests if each.counted]
    return max([1 - at.shift.objective, *map(float, limits)])


def _returned(at: Setting, before: Foreseen, rows: Ints, later_s: Floats, costs: Floats) -> Foreseen:
    end, seconds = before.end.copy(), before.seconds.copy()
    end[rows], seconds[rows] = int(End.RETURNED), seconds[rows] + later_s
    requests, failed, excess = before.requests.copy(), before.failed.copy(), before.excess.copy()
    requests[rows] += costs[0]
    failed[rows] += costs[1]
    excess[rows] += costs[1] - costs[0] * at.given.stable
    changes = in_order([before.changes, changed(seconds[rows], rows, np.array(0.0))])
    return Foreseen(end, seconds, requests, failed, excess, before.leading, changes)
