"""What would the ledger say of this service? Five earlier shifts, simulated, and the priors that the product draws.

Each earlier shift is a good release in the same world (same noise, same processes' habits, other luck) that stood at
10 % for a quarter of an hour. Its findings become ledger entries, and `priors_of` is the product's own. A cell has
several such histories, which its runs share by seed.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from control.engine.evidence import Prior, Terms, Tide, findings
from control.engine.evidence.dispersion import own_reference
from control.engine.evidence.pods import seen_spread
from control.engine.ledger import PROMOTED, Finding, LedgerEntry
from control.engine.priors import priors_of
from tests.bench.canary.conditions import Name
from tests.bench.canary.policies.ours import Ours, terms
from tests.bench.canary.race import Outcomes, begin, pass_tick
from tests.bench.canary.scenarios import Fate

Floats = NDArray[np.float64]
STREAM = "history"
SHIFTS, HISTORIES = 5, 2
"""Earlier shifts of a history, and histories of a cell."""
TICKS, SHARE = 180, 0.1
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def known_of(run: Name) -> tuple[Prior, ...]:
    """What the earlier shifts of the run's service say, test by test."""
    calm = replace(run.scenario, canary=None, gone_s=np.inf, warm_up_s=0.0, fate=Fate.PROMOTE)
    return _histories(Name(calm, run.shape, run.rps, 0))[run.seed % HISTORIES]


@lru_cache(maxsize=512)
def _histories(service: Name) -> tuple[tuple[Prior, ...], ...]:
    names = [replace(service, seed=seed) for seed in range(1, HISTORIES * SHIFTS + 1)]
    plain = terms(budget=float("inf"), bake_s=0.0)
    at, outcomes = begin(names, STREAM, lambda case: Ours.of(case, plain, fixed=SHARE)), Outcomes.fresh(len(names))
    for tick in range(TICKS):
        pass_tick(at, tick, outcomes)
    assert isinstance(at.policy, Ours)
    entries = [_entry(plain, at.policy.tide.runs([run]), run) for run in range(len(names))]
    return tuple(_priors(plain, entries[first : first + SHIFTS]) for first in range(0, len(entries), SHIFTS))


def _priors(plain: Terms, entries: list[LedgerEntry]) -> tuple[Prior, ...]:
    found = priors_of(entries)
    return tuple(found[test.name] for test in plain.tests)


def _entry(plain: Terms, tide: Tide, number: int) -> LedgerEntry:
    """An earlier shift's entry, as far as priors read it."""
    began = BEGAN + timedelta(days=number)
    return LedgerEntry(
        shift=f"earlier-{number}",
        run=1,
        stable="v1",
        canary="v2",
        began=began,
        ended=began + timedelta(minutes=15),
        outcome=PROMOTED,
        cause="",
        reason="",
        rule="",
        tests=tuple(_findings(plain, tide)),
    )


def _findings(plain: Terms, tide: Tide) -> Iterator[Finding]:
    """As `control.engine.entry` makes them of one run's tide."""
    chi, freedom = tide.seen.chi[0], tide.seen.freedom[0]
    alone = np.where(freedom > 0, chi / np.where(freedom > 0, freedom, 1.0), 1.0)
    phi = findings(plain, tide).phi
    beyond, trust = seen_spread(tide.seen.totals, phi)
    reference = own_reference(tide.seen)[0]
    for row, test in enumerate(plain.tests):
        most = int(alone[row].argmax())
        ratio, variance = _log_ratio(tide.counts[0, row], float(phi[0, row]))
        yield Finding(
            test=test.name,
            metric=test.metric,
            verdict="pass",
            log_ratio=ratio,
            variance=variance,
            phi=max(1.0, float(alone[row, most])),
            freedom=float(freedom[row, most]),
            reference=float(reference[row]),
            spread=float(np.sqrt(beyond[0, row])),
            trust=float(trust[0, row]),
        )


def _log_ratio(counts: Floats, phi: float) -> tuple[float | None, float | None]:
    """The log of the canary's rate over stable's, and its variance by chance; None where one had nothing bad."""
    n_c, x, n_s, y = (float(each) for each in counts)
    if not x or not y:
        return None, None
    return float(np.log(x / n_c) - np.log(y / n_s)), phi * (1.0 / x + 1.0 / y)
