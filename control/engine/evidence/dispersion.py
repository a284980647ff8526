"""How much more do bad events vary than independent requests would? Estimated from stable's own processes.

Failures come in clumps (a batch of 20 that fails as one, a bad minute of one host). Then a count says less than its
number, and the logarithm of a bet is divided by the dispersion phi, the variance over the mean of bad events (F6).

phi is a chi-square over its degrees of freedom: in each block of polls, how far do stable's processes lie from their
expected parts of the block's bad events? The expected part of a process is its own rate before the block, so that a
process that is always worse than others adds nothing here (that is `spread`). Blocks of 1, 4 and 12 polls are watched,
for clumps that last; the largest estimate counts. Only stable is looked at, and only polls before the one that is
weighed, so that a bad canary can't excuse itself.

phi was measured at some volume. Where a poll brings more bad events a process, noise that all requests of a process
share weighs more: phi_k = max(phi, 1 + (phi - 1) mu_k / mu_reference).

Example: independent requests: phi 1, evidence counts in full.
Example: failures in clumps of 5 (geometric): phi about 9; ten failures are the evidence of one.
Example: two processes, 8 and 0 bad of 100 each, in one block: chi-square (8-4)^2/4 + (0-4)^2/4 = 8 for one degree.
Source: Pearson's chi-square; McCullagh & Nelder, "Generalized Linear Models", 1989 (quasi-likelihood).
Limits: calibrated, not proved; noise that all of stable shares can't be seen by comparing its processes: only earlier
releases show it (`Prior.common`, a factor on phi; `Prior.releases`).
"""

from dataclasses import dataclass

import numpy as np

from control.engine.evidence.terms import Columns, Floats

LENGTHS = (1, 4, 12)
"""Units: polls."""
SHRINK = 5.0
"""Bad events of belief that a process is like the others, until its own say otherwise."""
UNSEEN_WEIGHT = 10.0
"""Degrees of freedom that the default dispersion is worth where no earlier shift says anything."""
MOST = 200.0


@dataclass(frozen=True, slots=True, eq=False)
class Dispersion:
    """What stable's processes showed so far.

    Units: `totals` (runs, tests, processes, 2) requests and bad ones; `blocks` (runs, tests, 2, processes, 2) the same
    in the running blocks of 4 and 12 polls; `chi`, `freedom` (runs, tests, 3); `polls` (runs,).
    """

    totals: Floats
    blocks: Floats
    chi: Floats
    freedom: Floats
    polls: Floats


def fresh_dispersion(runs: int, tests: int, processes: int) -> Dispersion:
    return Dispersion(
        totals=np.zeros((runs, tests, processes, 2)),
        blocks=np.zeros((runs, tests, 2, processes, 2)),
        chi=np.zeros((runs, tests, 3)),
        freedom=np.zeros((runs, tests, 3)),
        polls=np.zeros(runs),
    )


def measured(seen: Dispersion, pods: Floats) -> Dispersion:
    """With one more poll of stable's processes. Units: `pods` (runs, tests, processes, 2)."""
    some = pods[..., 0].sum(axis=(1, 2)) > 0
    polls, totals = seen.polls + some, seen.totals + pods
    blocks, chi, freedom = seen.blocks + pods[:, :, None], seen.chi.copy(), seen.freedom.copy()
    for number, length in enumerate(LENGTHS):
        complete = some & (polls % length == 0)
        if not complete.any():
            continue
        block = pods if length == 1 else blocks[:, :, number - 1]
        added, degrees = _chi_square(totals - block, block)
        chi[..., number] += np.where(complete[:, None], added, 0.0)
        freedom[..., number] += np.where(complete[:, None], degrees, 0.0)
        if length > 1:
            blocks[:, :, number - 1] = np.where(complete[:, None, None, None], 0.0, block)
    return Dispersion(totals, blocks, chi, freedom, polls)


def _chi_square(before: Floats, block: Floats) -> tuple[Floats, Floats]:
    """Chi-square of a block over processes, and its degrees of freedom; both 0 for a block in which nothing was bad.

    The variance of an expected count has the error of the process's own rate in it.
    """
    n, bad = block[..., 0], block[..., 1]
    expected_before = _part(before[..., 0], before[..., 1].sum(axis=-1))
    own = (before[..., 1] + SHRINK) / (expected_before + SHRINK)
    all_bad = bad.sum(axis=-1)
    expected = _part(own * n, all_bad)
    variance = expected + expected**2 * expected_before / (expected_before + SHRINK) ** 2
    active = n > 0
    squares = np.where(active, (bad - expected) ** 2 / np.where(variance > 0, variance, 1.0), 0.0)
    degrees = active.sum(axis=-1) - 1.0
    counts = (all_bad > 0) & (degrees > 0)
    return np.where(counts, squares.sum(axis=-1), 0.0), np.where(counts, degrees, 0.0)


def _part(weights: Floats, total: Floats) -> Floats:
    """`total` divided in proportion to the weights of the last axis."""
    in_all = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(in_all > 0, in_all, 1.0) * total[..., None]


def phi(seen: Dispersion, terms: Columns) -> Floats:
    """The dispersion (runs, tests), at least 1: what was seen, shrunk to what earlier shifts say.

    Where none says anything it is that of `Prior`, for each try that one request can add; or what another test of the
    service shows, where that is more: what is rare shows its clumps last.
    """
    unseen = terms.phi_weight <= 0
    weight = np.where(unseen, UNSEEN_WEIGHT, terms.phi_weight)
    alone = _shrunk(seen, weight, np.where(unseen, terms.phi * terms.tries, terms.phi))
    others = np.where(np.eye(len(weight), dtype=bool), 1.0, (alone / terms.tries)[:, None, :]).max(axis=-1)
    before = np.maximum(terms.phi, others) * terms.tries
    return np.clip(np.where(unseen, _shrunk(seen, weight, before), alone), 1.0, MOST)


def _shrunk(seen: Dispersion, weight: Floats, before: Floats) -> Floats:
    """The largest estimate of all lengths, with `before` counted as so many degrees of freedom (runs, tests)."""
    by_length = ((weight * before)[..., None] + seen.chi) / (weight[..., None] + seen.freedom)
    return np.asarray(by_length.max(axis=-1))


def in_all(phi_seen: Floats, terms: Columns) -> Floats:
    """phi with the noise that all processes of a version share, which only earlier releases show (runs, tests)."""
    return np.asarray(np.minimum(phi_seen * terms.common, MOST))


def at_volume(phi_seen: Floats, seen: Dispersion, terms: Columns, canary: Floats, stable: Floats) -> Floats:
    """phi for a poll of this size. Units: `canary`, `stable` are requests a process (runs, tests)."""
    n, bad = seen.totals[..., 0].sum(axis=-1), seen.totals[..., 1].sum(axis=-1)
    rate = np.where(n > 0, bad / np.where(n > 0, n, 1.0), 0.0)
    reference = np.where(terms.reference > 0, terms.reference, own_reference(seen))
    times = np.where(reference > 0, rate * np.maximum(canary, stable) / np.where(reference > 0, reference, 1.0), 1.0)
    return np.asarray(np.maximum(phi_seen, 1.0 + (phi_seen - 1.0) * times))


def own_reference(seen: Dispersion) -> Floats:
    """Bad events a process and poll, as far as seen (runs, tests)."""
    processes = np.maximum((seen.totals[..., 0] > 0).sum(axis=-1), 1)
    polls = np.maximum(seen.polls, 1.0)[:, None]
    return np.asarray(seen.totals[..., 1].sum(axis=-1) / (processes * polls))
