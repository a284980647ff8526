"""What does one more poll add to the evidence? The state of all bets, and the one step that moves it.

Every array has a leading axis of runs: the controller's shift is one run, the simulator's thousands go through the very
same lines. A few dozen numbers a test; written down and read back they are the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from control.engine.evidence.bets import (
    HARM_GRID,
    PROOF_GRID,
    UPPER_GRID,
    grown,
    log_e,
    log_e_of_block,
    log_factors,
)
from control.engine.evidence.dispersion import (
    Dispersion,
    at_volume,
    fresh_dispersion,
    in_all,
    measured,
    phi,
)
from control.engine.evidence.pods import spread, widening
from control.engine.evidence.terms import Bools, Columns, Floats, Margin, Terms, columns

SLOTS = 8
"""Processes that are told apart; more are folded."""
CAP, CAPPED_FROM = 3.0, 1.5
"""With noise as heavy-tailed as clumps a large A has no finite expectation: from this phi on, m is at most CAP."""
WARM = Margin(5.0, 0.05)
"""What is tolerated while a process warms up."""
MISROUTED = (0.5, 2.0, 0.1)
"""Bets on a wrong share: half, double, a tenth of the configured one."""
ROUTING_PHI = 4.0
"""How much more requests may clump (sessions) than chance, before a wrong share is claimed."""
FADES = 0.944
"""A poll's weight in "lately", poll by poll: half after twelve."""


@dataclass(frozen=True, slots=True, eq=False)
class Poll:
    """What one poll brought, without overlap with any other.

    Units: `canary`, `stable` (runs, tests, strata, 2): requests and bad ones. `stable_pods`, `canary_pods`
    (runs, tests, processes, 2): the same increments by serving process, zeros where nobody knows. `harm`, `proof`
    (runs,): whether this poll may count as evidence of each kind. `warm` (runs,): in a warm-up window. `share` (runs,):
    the canary's configured share, nan when unknown. `sent` (runs, 2): requests of canary and stable under that share.
    """

    canary: Floats
    stable: Floats
    stable_pods: Floats
    canary_pods: Floats
    harm: Bools
    proof: Bools
    warm: Bools
    share: Floats
    sent: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Tide:
    """All that is known. Units: arrays start with (runs,), where stated (runs, tests).

    `polls` that counted; `harm`, `block`, `proof`: logs of the bets (F3 of F1; F3 of F5; F2 of F1); `upper_log`,
    `upper_gain`: sums for the bound on the excess rate; `counts` (runs, tests, 4): canary requests, bad, stable
    requests, bad; `excess`, `excess_variance`: failed requests beyond stable's rate; `lately` (runs, 2): stable's
    requests and failures of late; `routing`, `routing_polls`: bets on a wrong share since the weight; `canary_pods`;
    `used` (runs, tests): by how much the bets were tempered, summed over the canary's requests.
    """

    polls: Floats
    harm: Floats
    block: Floats
    proof: Floats
    upper_log: Floats
    upper_gain: Floats
    counts: Floats
    excess: Floats
    excess_variance: Floats
    lately: Floats
    routing: Floats
    routing_polls: Floats
    canary_pods: Floats
    used: Floats
    seen: Dispersion

    def numbers(self) -> list[float]:
        """A run's state as numbers, in a fixed order. Raises: ValueError for several runs."""
        if len(self.polls) != 1:
            raise ValueError("only one run has a state")
        return [float(each) for part in _arrays(self) for each in part.ravel()]

    @staticmethod
    def of(terms: Terms, numbers: Sequence[float], slots: int = SLOTS) -> "Tide":
        """The state again, bit for bit. Raises: ValueError when the numbers are of another set of tests."""
        expected = _arrays(fresh(terms, 1, slots))
        ends = np.cumsum([part.size for part in expected])
        if ends[-1] != len(numbers):
            raise ValueError(f"{len(numbers)} numbers where {ends[-1]} were expected")
        found = np.split(np.array(numbers, float), ends[:-1])
        return _of_arrays([part.reshape(like.shape) for part, like in zip(found, expected, strict=True)])

    def runs(self, which: Any) -> "Tide":
        """Some of the runs (a mask or indices)."""
        return _of_arrays([part[which] for part in _arrays(self)])


def _arrays(tide: Tide) -> list[Floats]:
    flat = [getattr(tide, field.name) for field in fields(Tide) if field.name != "seen"]
    return flat + [getattr(tide.seen, field.name) for field in fields(Dispersion)]


def _of_arrays(parts: Sequence[Floats]) -> Tide:
    own = len(fields(Tide)) - 1
    named = dict(zip((field.name for field in fields(Tide) if field.name != "seen"), parts[:own], strict=True))
    return Tide(**named, seen=Dispersion(*parts[own:]))


def fresh(terms: Terms, runs: int = 1, slots: int = SLOTS) -> Tide:
    """No evidence yet. Units: `slots` are processes of each version that polls tell apart."""
    tests = len(terms.tests)
    return Tide(
        polls=np.zeros(runs),
        harm=np.full((runs, tests, len(HARM_GRID)), -np.inf),
        block=np.full((runs, tests, len(HARM_GRID)), -np.inf),
        proof=np.zeros((runs, tests, len(PROOF_GRID))),
        upper_log=np.zeros((runs, tests, len(UPPER_GRID))),
        upper_gain=np.zeros((runs, tests, len(UPPER_GRID))),
        counts=np.zeros((runs, tests, 4)),
        excess=np.zeros(runs),
        excess_variance=np.zeros(runs),
        lately=np.zeros((runs, 2)),
        routing=np.full((runs, 1, len(MISROUTED)), -np.inf),
        routing_polls=np.zeros(runs),
        canary_pods=np.zeros((runs, tests, slots, 2)),
        used=np.zeros((runs, tests)),
        seen=fresh_dispersion(runs, tests, slots),
    )


def rebake(tide: Tide, where: Bools) -> Tide:
    """Non-inferiority to be shown anew, by what comes from now on: where a bake begins."""
    return replace(tide, proof=np.where(where[:, None, None], 0.0, tide.proof))


def resized(tide: Tide, where: Bools) -> Tide:
    """The bets on a wrong share begin anew: where the weight has changed."""
    routing = np.where(where[:, None, None], -np.inf, tide.routing)
    return replace(tide, routing=routing, routing_polls=np.where(where, 0.0, tide.routing_polls))


def weigh(terms: Terms, tide: Tide, poll: Poll) -> Tide:
    """The evidence with one more poll. What a bet is made of was known before the poll: margins, dispersion, start."""
    column = columns(terms)
    canary, stable = poll.canary.sum(axis=2), poll.stable.sum(axis=2)
    counts = poll.harm & ((canary[..., 0] > 0) & (stable[..., 0] > 0)).any(axis=1)
    polls = tide.polls + counts
    seen_phi = phi(tide.seen, column)
    noise = dispersion(tide, column, seen_phi, (canary, stable))
    tempered = np.maximum(noise, column.tries)
    ratio, extra = tolerated(tide, column, seen_phi, poll.warm)
    grid = np.where(noise[..., None] > CAPPED_FROM, np.minimum(HARM_GRID, CAP), HARM_GRID)
    averaged = _averaged(tide, (canary, stable), (ratio, extra), grid)
    upper_log, upper_gain = _upper(canary, stable, tempered)
    once = (poll.proof & ~poll.warm)[:, None, None]
    return Tide(
        polls=polls,
        harm=grown(tide.harm, log_e(poll.canary, poll.stable, ratio, extra, grid) / tempered[..., None], polls, counts),
        block=grown(tide.block, averaged, polls, counts),
        proof=tide.proof + np.where(once, _proof(poll, column, tempered), 0.0),
        upper_log=tide.upper_log + np.where(once, upper_log, 0.0),
        upper_gain=tide.upper_gain + np.where(once, upper_gain, 0.0),
        counts=tide.counts + np.concatenate([canary, stable], axis=-1),
        excess=tide.excess + _excess(tide, column, poll),
        excess_variance=tide.excess_variance + _excess_variance(column, canary, stable, tempered),
        lately=FADES * tide.lately + _failing(column, stable),
        **_routing(tide, poll),
        canary_pods=tide.canary_pods + poll.canary_pods,
        used=tide.used + tempered * canary[..., 0],
        seen=measured(tide.seen, poll.stable_pods),
    )


def dispersion(tide: Tide, column: Columns, seen_phi: Floats, both: tuple[Floats, Floats]) -> Floats:
    """phi for a poll of this size (runs, tests), from what was known before it. Units: `both` versions' counts."""
    per_canary = both[0][..., 0] / processes(tide.canary_pods)
    per_stable = both[1][..., 0] / processes(tide.seen.totals)
    return at_volume(in_all(seen_phi, column), tide.seen, column, per_canary, per_stable)


def processes(pods: Floats) -> Floats:
    """How many processes have served so far (runs, tests), at least 1."""
    return np.asarray(np.maximum((pods[..., 0] > 0).sum(axis=-1), 1.0))


def tolerated(tide: Tide, column: Columns, seen_phi: Floats, warm: Bools) -> tuple[Floats, Floats]:
    """Ratio and extra of the tolerated margin (runs, tests): widened by F7, loose in a warm-up window."""
    sigma = spread(tide.seen.totals, seen_phi, column)
    wide = widening(sigma, processes(tide.canary_pods), processes(tide.seen.totals), column)
    ratio = np.where(warm[:, None], np.maximum(WARM.ratio, column.ratio), column.ratio * wide)
    extra = np.where(warm[:, None], np.maximum(WARM.extra, column.extra), column.extra)
    return ratio, extra


def _averaged(tide: Tide, both: tuple[Floats, Floats], margin: tuple[Floats, Floats], grid: Floats) -> Floats:
    """log E of the bets that average inside a poll (F5) (runs, tests, grid). Stable's rate before, of which the extra
    becomes a ratio, is that of half a bad request where it had none.
    """
    (canary, stable), (ratio, extra) = both, margin
    rate = np.maximum(tide.counts[..., 3], 0.5) / np.maximum(tide.counts[..., 2], 1.0)
    log_a, log_b, _ = log_factors(canary[..., 0], stable[..., 0], ratio + extra / rate, grid)
    return log_e_of_block(canary[..., 1], stable[..., 1], log_a, log_b)


def _proof(poll: Poll, column: Columns, tempered: Floats) -> Floats:
    """log E for non-inferiority of the poll (runs, tests, grid)."""
    shape = tempered.shape
    ratio, extra = np.broadcast_to(column.proof_ratio, shape), np.broadcast_to(column.proof_extra, shape)
    return log_e(poll.canary, poll.stable, ratio, extra, PROOF_GRID) / tempered[..., None]


def _upper(canary: Floats, stable: Floats, tempered: Floats) -> tuple[Floats, Floats]:
    """What the poll adds to the bound on the excess rate: the part without d, and the part that d multiplies.

    One pair of sums serves every d at once.
    """
    log_a, log_b, a = log_factors(canary[..., 0], stable[..., 0], 1.0, UPPER_GRID)
    fixed = canary[..., 1, None] * log_a + stable[..., 1, None] * log_b
    return fixed / tempered[..., None], (1.0 - a) * canary[..., 0, None] / tempered[..., None]


def _excess(tide: Tide, column: Columns, poll: Poll) -> Floats:
    """Failed requests of the canary beyond what stable's rate in the same poll explains, over strata (runs,)."""
    so_far = tide.counts[..., 3] / np.maximum(tide.counts[..., 2], 1.0)
    n_s, y = poll.stable[..., 0], poll.stable[..., 1]
    rate = np.where(n_s > 0, y / np.where(n_s > 0, n_s, 1.0), so_far[..., None])
    over = (poll.canary[..., 1] - poll.canary[..., 0] * rate).sum(axis=-1)
    return np.asarray(np.where(column.counted, over, 0.0).sum(axis=-1))


def _excess_variance(column: Columns, canary: Floats, stable: Floats, tempered: Floats) -> Floats:
    """The variance of `_excess` while both versions are alike (runs,)."""
    n_c, n_s = canary[..., 0], stable[..., 0]
    rate = np.where(n_s > 0, stable[..., 1] / np.where(n_s > 0, n_s, 1.0), 0.0)
    varies = tempered * n_c * rate * (1.0 + n_c / np.maximum(n_s, 1.0))
    return np.asarray(np.where(column.counted, varies, 0.0).sum(axis=-1))


def _failing(column: Columns, stable: Floats) -> Floats:
    """Stable's requests and failures of the poll (runs, 2), over the tests whose failures callers see."""
    counted = np.where(column.counted[:, None], stable, 0.0)
    return np.stack([counted[..., 0].max(axis=-1), counted[..., 1].sum(axis=-1)], axis=-1)


def _routing(tide: Tide, poll: Poll) -> dict[str, Floats]:
    """Bets that the requests do not follow the configured share, since it was configured."""
    share = np.where(np.isfinite(poll.share), poll.share, 0.0)
    counts = (share > 0) & (share < 1) & (poll.sent.sum(axis=-1) > 0)
    safe = np.where(counts, share, 0.5)
    other = np.stack(
        [safe * times if times < 1 else np.minimum(safe * times, (1 + safe) / 2) for times in MISROUTED], -1
    )
    gained = poll.sent[:, :1] * np.log(other / safe[:, None])
    gained += poll.sent[:, 1:] * np.log((1 - other) / (1 - safe[:, None]))
    polls = tide.routing_polls + counts
    return {"routing": grown(tide.routing, gained[:, None, :] / ROUTING_PHI, polls, counts), "routing_polls": polls}
