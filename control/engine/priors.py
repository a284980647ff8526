"""What do earlier shifts of a service say about its next one? How failures clump, and how releases differ anyway.

Three things of each finished run outlive it. How bad requests clumped (phi), as stable's own processes showed it. How
those processes differed for good (spread). And by what ratio a good release differed from its predecessor, beyond what
chance explains: noise that all of stable shares can't be seen by comparing its processes, but it makes one release look
1.3 times worse than the last and the next one better. It may last (then no number of requests averages it out: the sd
of releases widens what is tolerated) or come and go (then it disperses the counts: `common` is a factor on phi). A few
releases can't tell which, so both are kept.

phi and spread are means weighted by the degrees of freedom that they rest on. The sd of releases solves, by the method
of moments, sum y^2 / (v + sd^2) = number of releases, y being log ratios and v their variances by chance; 0 when chance
alone gives as much. A release that changes nothing has y = 0, so that is what they are measured from. An improvement
counts as at most a half: how much better a release made things says little about how much worse a good one can look.

Only runs that were promoted with the test passed are good releases; phi and spread come from every run.

Example: phi 3.0 on 300 degrees of freedom and 1.5 on 100: (900 + 150) / 400 = 2.6.
Example: log ratios 0.5, -0.4 and 0.3 with a variance of 0.01 each: sd^2 = 0.5 / 3 - 0.01 = 0.157, sd 0.40.
Example: the same with a variance of 0.2 each: chance alone gives as much, sd 0.

Source: Paule & Mandel, "Consensus values and weighting factors", 1982 (the moment equation).
"""

from collections.abc import Iterable, Iterator, Sequence
from math import log, sqrt
from typing import Any

from control.engine.evidence import Prior
from control.engine.ledger import PROMOTED, Finding, LedgerEntry

NEWEST = 20
"""Runs that are looked at: a service of two years ago is another service."""
MOST_FREEDOM = 100.0
"""Degrees of freedom that history is worth at most, so that a few minutes of the present can outweigh it."""
FEWEST = 3
"""Good releases from which their differences mean something."""
BEST = -log(2.0)
"""The log ratio of an improvement counts as at least this."""
ALIKE = 2.0
"""Releases of belief that chance alone tells them apart."""
_HALVINGS = 60


def priors_of(entries: Sequence[LedgerEntry]) -> dict[str, Prior]:
    """By name of test, and by name of metric for a test (an edge of latency) that no earlier run had."""
    latest = {entry.of_run: entry for entry in sorted(entries, key=lambda each: each.ended)}
    runs = sorted(latest.values(), key=lambda each: each.ended)[-NEWEST:]
    names = {name for entry in runs for each in entry.tests for name in (each.metric, each.test)}
    return {name: _prior(runs, name) for name in sorted(names)}


def _prior(runs: Sequence[LedgerEntry], name: str) -> Prior:
    found = [each for entry in runs for each in _of(entry, name)]
    freedom = sum(each.freedom for each in found)
    if freedom <= 0:
        return Prior(spread=_spread(found), **_between(runs, name))
    return Prior(
        phi=sum(each.phi * each.freedom for each in found) / freedom,
        weight=min(freedom, MOST_FREEDOM),
        reference=sum(each.reference * each.freedom for each in found) / freedom,
        spread=_spread(found),
        **_between(runs, name),
    )


def _of(entry: LedgerEntry, name: str) -> Iterator[Finding]:
    """What the run found by this name: of a test, else of a metric, whose tests count together."""
    exact = [each for each in entry.tests if each.test == name]
    return iter(exact or [each for each in entry.tests if each.metric == name])


def _spread(found: Iterable[Finding]) -> float:
    known = [(each.spread**2 * each.trust, each.trust) for each in found if each.trust > 0]
    return sqrt(sum(part for part, _ in known) / sum(trust for _, trust in known)) if known else 0.0


def _ratios(runs: Sequence[LedgerEntry], name: str) -> list[tuple[float, float]]:
    """Log ratio and its variance by chance, one for each good release: of several tests the one that is known best."""
    best = [min(known, key=lambda each: each[1]) for entry in runs if (known := list(_known_ratios(entry, name)))]
    return [(max(ratio, BEST), variance) for ratio, variance in best]


def _known_ratios(entry: LedgerEntry, name: str) -> Iterator[tuple[float, float]]:
    for each in _of(entry, name) if entry.outcome == PROMOTED else ():
        if each.verdict == "pass" and each.log_ratio is not None and each.variance is not None and each.variance > 0:
            yield each.log_ratio, each.variance


def _between(runs: Sequence[LedgerEntry], name: str) -> dict[str, Any]:
    """How good releases differed: nothing while too few are known."""
    ratios = _ratios(runs, name)
    if len(ratios) < FEWEST:
        return {"known": len(ratios)}
    return {"known": len(ratios), "releases": sd_beyond_chance(ratios), "common": beyond_chance(ratios)}


def beyond_chance(ratios: Sequence[tuple[float, float]]) -> float:
    """The variance of log ratios over what chance gives them, at least 1. Units: pairs of a log ratio and its variance.

    Example: ratios of 0.3 with a variance of 0.09 each: 1. Example: five of 0.6: (2 + 5 * 4) / 7 = 3.1.
    """
    found = sum(ratio**2 / variance for ratio, variance in ratios)
    return max(1.0, (ALIKE + found) / (ALIKE + len(ratios)))


def sd_beyond_chance(ratios: Sequence[tuple[float, float]]) -> float:
    """The sd around 0 beyond what the variances explain. Units: pairs of a log ratio and its variance."""

    def too_small(square: float) -> bool:
        return sum(ratio**2 / (variance + square) for ratio, variance in ratios) > len(ratios)

    low, high = 0.0, sum(ratio**2 for ratio, _ in ratios)
    for _ in range(_HALVINGS if too_small(0.0) else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return sqrt(low)
