"""What becomes of runs that were promoted? The absolute guard goes on looking, as the controller's does."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from control.engine.evidence.guard import fresh_guard, limit_of, log_broken, weigh_guard
from control.spec.metric import DEFAULT_METRICS, BuiltInName
from tests.bench.canary.policies.policy import Bools, Floats

WINDOW_S = 600.0
"""How long after 100 % a run is watched, as by default."""
OBJECTIVE = 0.995
TOLERATED = next(each.tolerance for each in DEFAULT_METRICS if each.name is BuiltInName.OUTCOMES)


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Units: (runs,): seconds at which it was promoted (-1: it was not), the part of requests that may fail, their
    dispersion; the guard's bets (runs, 1, grid) and polls.
    """

    since_s: Floats
    limit: Floats
    phi: Floats
    log_w: Floats
    polls: Floats

    @classmethod
    def fresh(cls, runs: int) -> "Watch":
        return cls(np.full(runs, -1.0), np.ones(runs), np.ones(runs), *fresh_guard(runs))

    @property
    def promoted(self) -> Bools:
        return np.asarray(self.since_s >= 0)

    def take(self, where: NDArray[np.intp]) -> "Watch":
        return Watch(*(getattr(self, each.name)[where] for each in fields(self)))

    def begun(self, promotes: Bools, now_s: float, failing: Floats, phi: Floats) -> "Watch":
        """With those that are promoted now, after a run in which this part of stable's requests failed."""
        limit = limit_of(OBJECTIVE, failing, TOLERATED)
        return replace(
            self,
            since_s=np.where(promotes, now_s, self.since_s),
            limit=np.where(promotes, limit, self.limit),
            phi=np.where(promotes, np.maximum(phi, 1.0), self.phi),
        )

    def weighed(self, requests: Floats, bad: Floats, at_full: Bools) -> "Watch":
        """With what the canary did in a poll, where it had all traffic."""
        counts = at_full & self.promoted
        seen = [np.where(counts, each, 0.0) for each in (requests, bad)]
        log_w, polls = weigh_guard((self.log_w, self.polls), *seen, self.limit, self.phi)
        return replace(self, log_w=log_w, polls=polls)

    def broken(self, log_harm: float) -> Bools:
        return np.asarray(self.promoted & (log_broken((self.log_w, self.polls)) >= log_harm))

    def goes_on(self, now_s: float) -> Bools:
        return np.asarray(self.promoted & (now_s - self.since_s < WINDOW_S))
