"""How strongly do the counts say that the canary does harm? Evidence that holds however often one looks.

The claim that is tested in every poll: the canary's bad rate is at most `r0` times stable's plus `d`. For one poll,
with n requests of which x were bad on the canary and y on stable, and any factor A > 1 chosen without looking at x
and y:

    E = A^x * B^y * exp(-(A - 1) * n_canary * d),      B = 1 - (A - 1) * r0 * n_canary / n_stable           (F1)

While the claim holds, the expectation of E is at most 1, whatever happened before:

    Proof. Given the past, let request i of the canary be bad with probability p_i, request j of stable with q_j, all
    independent. Since 1 + u <= e^u, the canary's factor has expectation prod(1 + p_i (A-1)) <= exp((A-1) sum p_i),
    and stable's prod(1 + q_j (B-1)) <= exp((B-1) sum q_j), which needs B >= 0. With p and q the average rates, sum
    p_i = n_canary p, (B-1) sum q_j = -(A-1) r0 n_canary q. All exponents add up to (A-1) n_canary (p - r0 q - d) <=
    0.    QED

So the product over polls is a bet that, were the claim true, can't be expected to win; by Ville's inequality it ever
reaches 100 with probability at most 1/100. Nobody may plan when to look, rates may drift (both versions see the same
hour), weights may change at will. An equally weighted mean over several A is again such a bet (F2), so nobody need
know how bad "bad" is.

Choosing A: were the canary's rate r times stable's, a bad request would fall to the canary with chance
q(r) = s r / (s r + 1 - s), s being the realised share of requests. A = q(m r0) / q(r0) bets on
"m times worse than tolerated", and then B = (1 - q(m r0)) / (1 - q(r0)), which is never below 0. Without stable (s = 1)
or without canary (s = 0) nothing is learned and E = 1.

Tries: x counts retries, of which one request can have up to R. For X in 0..R, A^(X/R) <= 1 + (X/R)(A - 1) by
convexity, so the proof goes through for E^(1/R), p and q now being retries a request.

Abandoned requests are compared like outcomes: x are those that their callers left before an answer, n all that ended,
answered or not. Callers who leave as they please leave both versions alike, which is no difference.

Strata (the proxies that send) multiply, each with its own share: a different mix of callers is no difference between
versions.

Example: s = 0.1 (410 canary, 3,690 stable), r0 = 1.1, m = 5: q(1.1) = 0.1089, q(5.5) = 0.3793, A = 3.48, B = 0.697.
Example: 14 of 410 bad against 9 of 3,702, d = 0.0005: log E(m=5) = 14 ln 3.49 + 9 ln 0.697 - 2.49 * 410 * 0.0005 =
13.7.
Example: 0 of 410 against 9 of 3,702: log E(m=5) = 9 ln 0.697 - 0.51 = -3.8: the bet loses, nothing is wrong.

Source: canary statistics by betting: Ville 1939; Lindon & Malek, "Anytime-valid inference for multinomial count
data", 2022; Vovk & Wang, "E-values: calibration, combination and applications", 2021 (the weighted mean as the merge
of dependent bets).
Limits: requests in clumps, pods that differ by host and latency are not modelled here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from control.engine.readings import Increments, Tally

Floats = NDArray[np.float64]

GRID = (1.5, 2.5, 5.0, 15.0)
ROLLBACK_AT = 100.0
"""1 / alpha, alpha = 0.01: at most one good version in a hundred is rolled back, however long one looks."""
HOLD_AT = 5.0
WORTH_SAYING = 0.5
"""Units: log E. Less than this, for or against, is called no evidence."""


class Metric(StrEnum):
    """What is compared: how requests ended for their callers, how many tries that took, and how many callers left
    before an answer.
    """

    OUTCOMES = "outcomes"
    ATTEMPTS = "attempts"
    ABANDONED = "abandoned"


WEIGHTS = {Metric.OUTCOMES: 0.4, Metric.ATTEMPTS: 0.4, Metric.ABANDONED: 0.2}
"""How much of the stake is on each metric (F4); those that are watched share it in these proportions."""


@dataclass(frozen=True, slots=True)
class Margin:
    """What is tolerated: `ratio` times stable's rate, plus `extra`. Units: extra is bad requests (or retries) a
    request.
    """

    ratio: float = 1.1
    extra: float = 0.0005


TOLERATED = Margin()


@dataclass(frozen=True, slots=True)
class MetricEvidence:
    """One metric's bets since the run began: log E for each point of the grid, and the counts they rest on."""

    metric: Metric
    log_e: tuple[float, ...] = (0.0,) * len(GRID)
    canary_requests: int = 0
    canary_bad: int = 0
    stable_requests: int = 0
    stable_bad: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """All metrics of one run. Which are watched is settled when the run begins, so that their weights are, too."""

    metrics: tuple[MetricEvidence, ...] = (MetricEvidence(Metric.OUTCOMES),)

    @property
    def log_merged(self) -> float:
        """log of the weighted mean over the metrics (F4): valid however they depend on each other."""
        weights = [WEIGHTS[each.metric] for each in self.metrics]
        return float(merged(np.array([[log_harm(each) for each in self.metrics]]), weights)[0])

    @property
    def leading(self) -> MetricEvidence:
        """The metric to name: the one that says most, or outcomes when none says anything."""
        most = max(self.metrics, key=log_harm)
        return most if log_harm(most) >= WORTH_SAYING else self.metrics[0]


def factors(canary: Any, stable: Any, margin: Margin = TOLERATED) -> tuple[Floats, Floats]:
    """A and B for each point of the grid, from the requests of each version.

    Units: `canary`, `stable` of any shape S (runs first); A and B of shape S + grid. Where a version has no requests,
    both are 1.
    """
    n_c, n_s = np.asarray(canary, float)[..., None], np.asarray(stable, float)[..., None]
    both = (n_c > 0) & (n_s > 0)
    odds = margin.ratio * np.where(both, n_c, 0.0) / np.where(both, n_s, 1.0)
    grid = np.array(GRID)
    shrink = (odds + 1.0) / (odds * grid + 1.0)
    return np.where(both, grid * shrink, 1.0), np.where(both, shrink, 1.0)


def log_e_of_poll(canary: Any, stable: Any, margin: Margin = TOLERATED, tries: int = 1) -> Floats:
    """log E of one poll for each point of the grid, strata multiplied (F1).

    Units: `canary`, `stable` of shape (runs, strata, 2): requests and bad ones; `tries` the most that one request can
    add to bad. Result of shape (runs, grid).
    """
    of_canary, of_stable = np.asarray(canary, float), np.asarray(stable, float)
    n_c, x, y = of_canary[..., 0], of_canary[..., 1:], of_stable[..., 1:]
    a, b = factors(n_c, of_stable[..., 0], margin)
    log_e = x * np.log(a) + y * np.log(b) - (a - 1.0) * n_c[..., None] * margin.extra
    return np.asarray(log_e.sum(axis=-2) / tries)


def log_mean(log_e: Floats) -> Floats:
    """log of the mean over the last axis (F2), without overflow."""
    top = log_e.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(log_e - top).mean(axis=-1)))


def merged(log_e: Floats, weights: Sequence[float]) -> Floats:
    """log of the weighted mean over metrics (F4). Units: (runs, metrics) to (runs,); weights of any sum above 0."""
    parts = np.asarray(weights) / np.mean(weights)
    return log_mean(log_e + np.log(parts))


def log_harm(evidence: MetricEvidence) -> float:
    """log of the evidence for harm on one metric, the grid mixed."""
    return float(log_mean(np.array([evidence.log_e]))[0])


def fresh(retries: int) -> Evidence:
    """No evidence yet. Tries are watched only where the route repeats any."""
    watched = (metric for metric in Metric if metric is not Metric.ATTEMPTS or retries > 0)
    return Evidence(tuple(MetricEvidence(metric) for metric in watched))


def weigh(evidence: Evidence, new: Increments, *, stable: str, canary: str, retries: int) -> Evidence:
    """The evidence with what one reading added. Units: `retries` is how often the route repeats a failed try."""
    return Evidence(tuple(_weigh(each, new, stable, canary, retries) for each in evidence.metrics))


def _weigh(evidence: MetricEvidence, new: Increments, stable: str, canary: str, retries: int) -> MetricEvidence:
    tries = retries if evidence.metric is Metric.ATTEMPTS else 1
    if not new.tallies or tries < 1:
        return evidence
    of_canary = _counts(new.tallies, canary, new.strata, evidence.metric)
    of_stable = _counts(new.tallies, stable, new.strata, evidence.metric)
    added = log_e_of_poll([of_canary], [of_stable], TOLERATED, tries)[0]
    return MetricEvidence(
        metric=evidence.metric,
        log_e=tuple(float(old + more) for old, more in zip(evidence.log_e, added, strict=True)),
        canary_requests=evidence.canary_requests + sum(n for n, _ in of_canary),
        canary_bad=evidence.canary_bad + sum(bad for _, bad in of_canary),
        stable_requests=evidence.stable_requests + sum(n for n, _ in of_stable),
        stable_bad=evidence.stable_bad + sum(bad for _, bad in of_stable),
    )


def _counts(
    tallies: Mapping[tuple[str, str], Tally], version: str, strata: Sequence[str], metric: Metric
) -> list[tuple[int, int]]:
    return [_of_metric(tallies.get((version, stratum), Tally()), metric) for stratum in strata]


def _of_metric(tally: Tally, metric: Metric) -> tuple[int, int]:
    """Requests, and bad ones or retries."""
    match metric:
        case Metric.OUTCOMES:
            return tally.requests, tally.failures
        case Metric.ATTEMPTS:
            return tally.requests, tally.retries
        case Metric.ABANDONED:
            return tally.requests + tally.abandoned, tally.abandoned
        case _:
            assert_never(metric)
