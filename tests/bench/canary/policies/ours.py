"""The evidence engine as a policy: `weigh` and `course` are imported, with runs on the leading axis.

What is added here is what the controller's lifecycle does around them, said once more for arrays: one poll of several
ticks where the source is slow, no step while a weight settles or a process warms up, parked while it is blind. That
both agree is shown by the whole controller (`controller`).
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from control.engine.evidence import (
    SLOTS,
    Action,
    Course,
    Findings,
    Margin,
    Poll,
    Prior,
    Standing,
    Terms,
    Test,
    Tide,
    course,
    findings,
    first_share,
    fresh,
    rebake,
    resized,
    weigh,
)
from control.engine.evidence.bets import log_merged, mixed
from control.engine.polls import gathered
from control.engine.terms import MONTH_S, MOST_BUDGET, PART_OF_ERROR_BUDGET
from control.spec.metric import DEFAULT_METRICS, BuiltIn, BuiltInName
from tests.bench.canary.policies.policy import METRICS, UNNAMED, Bools, Case, End, Floats, Wish
from tests.bench.canary.policies.watch import OBJECTIVE, Watch
from tests.bench.canary.rates import ABANDONED, CHANNELS, EDGES_MS, FAILED, RETRIED, SLOW
from tests.bench.canary.shapes import TICK_S
from tests.bench.canary.telemetry import Seen

CHANNELS_OF = {
    BuiltInName.OUTCOMES: (FAILED,),
    BuiltInName.ATTEMPTS: (RETRIED,),
    BuiltInName.ABANDONED: (ABANDONED,),
    BuiltInName.LATENCY: (SLOW, SLOW + 1, SLOW + 2),
}
WATCHED = tuple((metric, channel) for metric in DEFAULT_METRICS for channel in CHANNELS_OF[metric.name])
"""The built-in metrics as they are by default, and which channel each of their tests compares."""
WATCHED_CHANNELS = np.array([channel for _, channel in WATCHED])
COUNTED = next(row for row, (_, channel) in enumerate(WATCHED) if channel == FAILED)
METRIC_OF = np.array([METRICS.index(metric.name) for metric, _ in WATCHED])
RETRIES = 2
BLIND_S = 60.0
RATE_OVER = 12
"""Polls that the rate of requests is a moving mean of."""


def terms(priors: tuple[Prior, ...] = (Prior(),) * len(WATCHED), **settled: float) -> Terms:
    """The default spec's terms. Units: `priors` in the order of WATCHED."""
    tests = tuple(_test(metric, channel, prior) for (metric, channel), prior in zip(WATCHED, priors, strict=True))
    return Terms(tests, **settled)


def _test(metric: BuiltIn, channel: int, prior: Prior) -> Test:
    edge = f">{EDGES_MS[channel - SLOW]:g}ms" if metric.name is BuiltInName.LATENCY else ""
    return Test(
        name=f"{metric.name}{edge}",
        metric=metric.name.value,
        tolerated=Margin(metric.tolerance.ratio, metric.tolerance.extra),
        proven=Margin(metric.proof.ratio, metric.proof.extra),
        weight=metric.weight / len(CHANNELS_OF[metric.name]),
        tries=RETRIES if metric.name is BuiltInName.ATTEMPTS else 1,
        counted=metric.name is BuiltInName.OUTCOMES,
        prior=prior,
    )


def auto_budget(rps: float) -> float:
    """The default budget: at most 50, at most 1 % of what 30 days at this rate may fail by the objective."""
    return min(MOST_BUDGET, PART_OF_ERROR_BUDGET * rps * MONTH_S * (1 - OBJECTIVE))


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """Where each run stands (runs,): the share wished for, polls with data at it, since when, requests a second, since
    when it bakes (-1: it does not), when data last came. Units: seconds since the beginning.
    """

    share: Floats
    polls: Floats
    since_s: Floats
    rate: Floats
    bakes_s: Floats
    data_s: Floats

    def take(self, where: NDArray[np.intp]) -> "Progress":
        return Progress(*(getattr(self, each.name)[where] for each in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Ours:
    """The engine. `fixed`: a share that is kept for the whole hour, which only harm ends (0: it moves by itself).
    `ticks`: what the ticks of a poll brought that is not over; `waiting`: requests of one version that wait for the
    other's (see `polls`).
    """

    case: Case
    terms: Terms
    tide: Tide
    at: Progress
    ticks: Floats
    waiting: Floats
    watch: Watch
    fixed: float = 0.0

    @classmethod
    def of(cls, case: Case, terms: Terms, *, fixed: float = 0.0) -> "Ours":
        first = np.full(case.runs, fixed) if fixed else first_share(terms, case.rps)
        none = np.zeros(case.runs)
        stable, canary, routes = case.layout
        ticks = np.zeros((case.runs, routes, stable + canary, len(CHANNELS)))
        tide = fresh(terms, case.runs, min(max(stable, canary), SLOTS))
        begun = Progress(first, none, none - terms.lag_s, case.rps, none - 1.0, none)
        return cls(
            case, terms, tide, begun, ticks, np.zeros((case.runs, len(terms.tests), 4)), Watch.fresh(case.runs), fixed
        )

    @property
    def lag_ticks(self) -> int:
        return round(self.terms.lag_s / TICK_S)

    def begin(self) -> Floats:
        return self.at.share

    def take(self, where: NDArray[np.intp]) -> "Ours":
        return replace(
            self,
            case=self.case.take(where),
            tide=self.tide.runs(where),
            at=self.at.take(where),
            ticks=self.ticks[where],
            waiting=self.waiting[where],
            watch=self.watch.take(where),
        )

    def see(self, tick: int, seen: Seen, share: Floats, settled: Bools) -> tuple["Ours", Wish]:
        later = replace(self, ticks=self.ticks + seen.counts)
        if (tick + 1) % round(self.terms.poll_s / TICK_S):
            return later, Wish.same(self.at.share)
        now_s = (tick + 1) * TICK_S
        poll, waiting = later._poll(now_s, seen, share, settled)
        canary = later.ticks[:, :, self.case.stable :].sum(axis=(1, 2))
        watch = self.watch.weighed(canary[:, 0], canary[:, FAILED], settled & (share >= 1.0))
        after = replace(later, ticks=np.zeros_like(self.ticks), waiting=waiting, watch=watch)
        return after._decided(now_s, poll, seen, settled)

    def _poll(self, now_s: float, seen: Seen, share: Floats, settled: Bools) -> tuple[Poll, Floats]:
        """The ticks' increments as the engine's poll, and what waits for the next one (as `polls.poll_of` does)."""
        bad = self.ticks[..., WATCHED_CHANNELS]
        n = np.broadcast_to(self.ticks[..., :1], bad.shape)
        both = np.moveaxis(np.stack([n, bad], axis=-1), -2, 1)
        of_stable, of_canary = both[..., : self.case.stable, :], both[..., self.case.stable :, :]
        canary, stable, waiting = gathered(of_canary.sum(axis=3), of_stable.sum(axis=3), self.waiting)
        sent = [each[:, 0, ..., 0].sum(axis=(1, 2)) for each in (of_canary, of_stable)]
        proof = settled & (now_s - self.at.since_s >= self.case.longest_s + self.terms.poll_s + self.terms.lag_s)
        poll = Poll(
            canary=canary,
            stable=stable,
            stable_pods=self._slots(of_stable.sum(axis=2)),
            canary_pods=self._slots(of_canary.sum(axis=2)),
            harm=np.ones(self.case.runs, bool),
            proof=proof,
            warm=now_s <= self.case.warm_up_s,
            share=np.where(proof & seen.canary_answers, share, np.nan),
            sent=np.stack(sent, axis=-1),
        )
        return poll, waiting

    def _slots(self, pods: Floats) -> Floats:
        """Processes in as many slots as the tide has; more are folded."""
        slots, number = self.tide.canary_pods.shape[2], pods.shape[2]
        whole = np.pad(pods, [(0, 0), (0, 0), (0, -number % slots), (0, 0)])
        return np.asarray(whole.reshape(*pods.shape[:2], -1, slots, 2).sum(axis=2))

    def _decided(self, now_s: float, poll: Poll, seen: Seen, settled: Bools) -> tuple["Ours", Wish]:
        later = replace(self, tide=weigh(self.terms, self.tide, poll))
        return later._stays() if self.fixed else later._moves(now_s, poll, seen, settled)

    def _stays(self) -> tuple["Ours", Wish]:
        """At a fixed share only harm counts. Findings only take away from the plain bets: most need not be made."""
        weights = np.array([test.weight for test in self.terms.tests])
        most = log_merged(mixed(self.tide.harm, self.tide.polls), np.log(weights / weights.sum()))
        harm, named = np.zeros(self.case.runs, bool), np.full(self.case.runs, UNNAMED)
        if len(rows := np.flatnonzero(most >= self.terms.log_harm)):
            found = findings(self.terms, self.tide.runs(rows))
            harm[rows] = (found.log_total >= self.terms.log_harm) & (found.pod < 0)
            named[rows] = np.where(harm[rows], METRIC_OF[found.leading], UNNAMED)
        return self, Wish(np.where(harm, 0.0, self.fixed), np.where(harm, End.ROLLED_BACK, End.GOING), named)

    def _moves(self, now_s: float, poll: Poll, seen: Seen, settled: Bools) -> tuple["Ours", Wish]:
        found, at = findings(self.terms, self.tide), self._stands(now_s, poll, seen, settled)
        ready = settled & ~poll.warm & seen.canary_answers
        standing = Standing(
            at.share, at.polls, at.rate, np.ones(self.case.runs), at.bakes_s >= 0, now_s - at.bakes_s, ready
        )
        said = course(self.terms, found, standing)
        wish = self._wish(said, found, now_s - at.data_s >= BLIND_S)
        watch = self.watch.begun(wish.end == End.PROMOTED, now_s, _failing(self.tide), found.phi[:, COUNTED])
        wish = replace(wish, watched=watch.goes_on(now_s) & (wish.share > 0))
        bakes = (said.action == Action.BAKE) & ~watch.promoted
        tide = resized(rebake(self.tide, bakes), wish.share != at.share)
        return replace(self, tide=tide, at=_moved(at, wish.share, bakes, now_s), watch=watch), wish

    def _stands(self, now_s: float, poll: Poll, seen: Seen, settled: Bools) -> Progress:
        """With this poll's data: how many polls at this share, and how many requests a second."""
        informative = settled & (poll.sent > 0).all(axis=-1)
        now = poll.sent.sum(axis=-1) / self.terms.poll_s
        rate = np.maximum(now, self.at.rate + (now - self.at.rate) / RATE_OVER)
        rate = np.where(seen.answers, rate, self.at.rate)
        data_s = np.where(seen.answers | (self.at.share == 0), now_s, self.at.data_s)
        return replace(self.at, polls=self.at.polls + informative, rate=rate, data_s=data_s)

    def _wish(self, said: Course, found: Findings, blind: Bools) -> Wish:
        """What the course asks for; once promoted, the guard alone speaks."""
        ends = {Action.ROLL_BACK: End.ROLLED_BACK, Action.SPENT: End.SPENT, Action.PROMOTE: End.PROMOTED}
        end = np.select([said.action == each for each in ends], list(ends.values()), End.GOING)
        share = np.where(blind & (end == End.GOING), 0.0, said.share)
        named = np.where(end == End.ROLLED_BACK, METRIC_OF[found.leading], UNNAMED)
        watch, broken = self.watch, self.watch.broken(self.terms.log_harm)
        return Wish(
            np.where(watch.promoted, np.where(broken, 0.0, 1.0), share),
            np.where(watch.promoted, np.where(broken, End.ROLLED_BACK, End.GOING), end),
            np.where(watch.promoted, np.where(broken, METRIC_OF[COUNTED], UNNAMED), named),
            said.action,
        )


def _failing(tide: Tide) -> Floats:
    """The part of stable's requests that failed so far (runs,)."""
    return np.asarray(tide.counts[:, COUNTED, 3] / np.maximum(tide.counts[:, COUNTED, 2], 1.0))


def _moved(at: Progress, share: Floats, bakes: Bools, now_s: float) -> Progress:
    """After the decision: a new share begins to be counted anew."""
    new = share != at.share
    return replace(
        at,
        share=share,
        polls=np.where(new | bakes, 0.0, at.polls),
        since_s=np.where(new, now_s, at.since_s),
        bakes_s=np.where(bakes, now_s, at.bakes_s),
    )
