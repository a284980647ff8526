"""What does a shift that is over leave behind? Its entry for the ledger, from spec, state and the last judgement."""

from collections.abc import Iterator
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np

from control.engine.compared import Comparison, Difference, differences
from control.engine.evidence import Terms, Tide, findings
from control.engine.evidence.dispersion import own_reference
from control.engine.evidence.interval import Sums, log_ratio
from control.engine.evidence.pods import seen_spread
from control.engine.evidence.terms import Floats
from control.engine.explain import MOST_SHOWN, sentence
from control.engine.judge import Judged
from control.engine.ledger import PROMOTED, ROLLED_BACK, Finding, LedgerEntry
from control.engine.lesson import lesson
from control.engine.phase import Phase, Verdict
from control.engine.state import ShiftState
from control.engine.terms import terms_of
from control.spec import TrafficShift

OUTCOMES = {Phase.PROMOTED: PROMOTED, Phase.ROLLED_BACK: ROLLED_BACK}


def service_of(host: str, namespace: str) -> str:
    """The name of a host's ledger. Example: "translator.shop.svc.cluster.local" of namespace shop is "translator"."""
    return host.removesuffix(f".{namespace}.svc.cluster.local")


def entry_of(shift: TrafficShift, state: ShiftState, judged: Judged) -> LedgerEntry | None:
    """The entry of a run that is over; None of one that is not, or that never moved any traffic."""
    outcome = OUTCOMES.get(state.phase)
    if outcome is None or state.started_at is None or state.finished_at is None or state.outcome is None:
        return None
    entry = LedgerEntry(
        shift=shift.name,
        run=state.run,
        stable=state.subject.stable,
        canary=state.subject.canary,
        began=state.started_at,
        ended=state.finished_at,
        outcome=outcome,
        cause=state.outcome.cause.value,
        reason=sentence(state.outcome, state, shift.name),
        rule="",
        mode=state.subject.mode.value,
        shares=tuple(step.share for step in state.steps),
        longest_s=state.watched.longest_s if state.watched is not None else 0.0,
        tests=tuple(_findings(shift, state, judged)),
    )
    return replace(entry, rule=lesson(entry))


def _findings(shift: TrafficShift, state: ShiftState, judged: Judged) -> Iterator[Finding]:
    if state.watched is None or not state.tide.values:
        return
    terms = terms_of(shift, state.watched)
    tide = Tide.of(terms, state.tide.values)
    numbers = zip(differences(terms, state.sums), _noise(tide, terms), _ratios(terms, state, tide), strict=True)
    for row, (bounds, noise, ratio) in zip(judged.rows, numbers, strict=True):
        yield replace(_finding(row, bounds, _verdict(row, judged)), **noise, **ratio)


def _finding(row: Comparison, bounds: Difference | None, verdict: Verdict) -> Finding:
    return Finding(
        test=row.test,
        metric=row.metric,
        verdict=verdict.value,
        canary=row.canary,
        stable=row.stable,
        harm=_odds(row.log_harm),
        proof=_odds(row.log_proof),
        difference=bounds,
    )


def _odds(log_e: float) -> float:
    return min(exp(min(log_e, 700.0)), MOST_SHOWN)


def _verdict(row: Comparison, judged: Judged) -> Verdict:
    """The test's verdict when the run ended; what could not be read in the last moment was known before."""
    last = judged.verdicts.get(row.test, Verdict.UNAVAILABLE)
    if last not in (Verdict.UNAVAILABLE, Verdict.NO_DATA) or not row.canary.requests:
        return last
    return Verdict.PASS if row.log_proof >= judged.pass_at else Verdict.INSUFFICIENT


def _noise(tide: Tide, terms: Terms) -> Iterator[dict[str, Any]]:
    """How bad requests varied in this run alone, test by test: of the lengths of blocks the one that shows most."""
    chi, freedom = tide.seen.chi[0], tide.seen.freedom[0]
    alone = np.where(freedom > 0, chi / np.where(freedom > 0, freedom, 1.0), 1.0)
    most, reference = alone.argmax(axis=-1), own_reference(tide.seen)[0]
    beyond, trust = (each[0] for each in seen_spread(tide.seen.totals, findings(terms, tide).phi))
    for test, length in enumerate(most):
        yield {
            "phi": max(1.0, float(alone[test, length])),
            "freedom": float(freedom[test, length]),
            "reference": float(reference[test]),
            "spread": float(np.sqrt(beyond[test])),
            "trust": float(trust[test]),
        }


def _ratios(terms: Terms, state: ShiftState, tide: Tide) -> Iterator[dict[str, Any]]:
    """The log of canary's rate over stable's, and its variance by chance; nothing where nothing was compared."""
    for ratio, variance in zip(*_log_ratios(terms, state, tide), strict=True):
        known = np.isfinite(ratio) and np.isfinite(variance)
        yield {"log_ratio": float(ratio), "variance": float(variance)} if known else {}


def _log_ratios(terms: Terms, state: ShiftState, tide: Tide) -> tuple[Floats, Floats]:
    unknown = np.full(len(terms.tests), np.nan)
    if not state.sums.values:
        return unknown, unknown
    ratio, variance = log_ratio(Sums.of(terms, state.sums.values), findings(terms, tide).phi)
    return ratio[0], variance[0]
