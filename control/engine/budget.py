"""How many failed requests must a shift be allowed, so that bad luck alone can't use them up?

A budget below three sd of the canary failures that are planned is refused, with the number that would do. One that
nobody named follows what is needed by itself, as far as 1 % of a month's error budget goes.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, hypot, isfinite

from control.engine.evidence import Terms, Test, budget_needed, requests_needed
from control.engine.plan import plan
from control.engine.terms import error_budget, terms_of
from control.engine.watched import Watched
from control.spec import EvidenceStrategy, StepStrategy, TrafficShift


def raised(shift: TrafficShift, watched: Watched, failing: float | None, per_s: float | None) -> Watched:
    """With a budget that suffices, where the spec names none. Units: as of `needed_budget`; None: not known.

    Example: 3,000 requests a second, 0.3 % failing: 110 instead of 50.
    """
    if shift.budget is not None or failing is None or not per_s or not isfinite(per_s):
        return watched
    needed = min(float(ceil(needed_budget(shift, watched, failing, per_s))), error_budget(shift.objective, per_s))
    return replace(watched, budget=max(watched.budget, needed))


def needed_budget(shift: TrafficShift, watched: Watched, failing: float, per_s: float) -> float:
    """The least budget for what is planned. Units: `failing` is stable's rate of failed requests, `per_s` requests."""
    match shift.strategy:
        case StepStrategy():
            below_all = [each for each in plan(shift.strategy, per_s) if each.share < 1]
            planned = [(per_s * float(each.share) * (each.ends - each.begins).total_seconds(), each.share)
                       for each in below_all]  # fmt: skip
            phi = _phi(watched.tests)
            return hypot(*(budget_needed(failing, requests, float(share), phi) for requests, share in planned))
        case EvidenceStrategy():
            return needed_by_evidence(terms_of(shift, watched), failing, per_s)


def needed_by_evidence(terms: Terms, failing: float, per_s: float) -> float:
    """The same for weights that follow the evidence: what the proof needs, or the bake if that is more."""
    share, phi = terms.bake_at if terms.bake_s > 0 else terms.learn_at, _phi(terms.tests)
    counted = (number for number, test in enumerate(terms.tests) if test.counted)
    proofs = (requests_needed(terms, number, failing, share, phi) for number in counted)
    return budget_needed(failing, max(per_s * share * terms.bake_s, *filter(isfinite, proofs), 0.0), share, phi)


def _phi(tests: Iterable[Test]) -> float:
    """The dispersion of failures that earlier shifts showed; 1 where they say nothing."""
    return max((test.prior.dispersion for test in tests if test.counted and test.prior.weight > 0), default=1.0)
