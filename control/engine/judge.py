"""What does the evidence say about the canary now? A verdict on each metric and one in all, of which only *fail* acts.

| verdict | a metric | in all |
|---|---|---|
| pass | shown to be within the proven margin; by fixed steps, `minRequests` seen is enough | every metric |
| fail | it carries the evidence for harm, which has reached 1 / alpha | harm, or a gauge that says "roll back" |
| insufficient | none of the others | none of the others |
| no data | nothing of it was ever counted | one version is not counted, or one falls silent at this weight |
| unavailable | it can't be read | the source, or a metric, can't be read |
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction

import numpy as np

from control.engine.compared import Comparison, comparisons
from control.engine.evidence import Action, Findings, Standing, Terms, Tide, course, findings, overspent
from control.engine.gauges import gauge_verdicts
from control.engine.guarding import log_guard
from control.engine.observation import Observation
from control.engine.phase import Verdict
from control.engine.plan import nearest
from control.engine.silence import silent
from control.engine.state import ShiftState
from control.engine.terms import terms_of
from control.spec import EvidenceStrategy, StepStrategy, TrafficShift

WORTH_NAMING = 0.5
"""Units: log E. Short of this no test leads, and the first one is named."""
IN_DOUBT = frozenset({Action.SUSPECTED, Action.POD, Action.MISMATCH, Action.OUTAGE})
"""Courses that keep a version from passing though nothing is proven against it, while there is a stable to compare."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the evidence says, and what it asks for.

    `action`, `to`: the course, and the share that it leads to. `rows`: every test; `leading` the one to name.
    `log_total`: evidence for harm of all tests together; `fail_at`, `pass_at`: log E from which there is harm, and from
    which a test is proven. `spent`: the excess has used up the budget, by more than bad luck. Units: `excess`
    and `budget` failed requests; `upper` excess failed requests a request.
    """

    verdict: Verdict = Verdict.NO_DATA
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    action: Action = Action.WAITING
    to: Fraction = Fraction(0)
    rows: tuple[Comparison, ...] = ()
    leading: Comparison | None = None
    log_total: float = 0.0
    log_guard: float = 0.0
    fail_at: float = math.inf
    pass_at: float = math.inf
    hold_at: float = math.inf
    upper: float = 1.0
    excess: float = 0.0
    spent: bool = False
    budget: float = math.inf
    cap: float = 1.0

    @property
    def guard_broken(self) -> bool:
        return self.log_guard >= self.fail_at

    @property
    def facts(self) -> dict[str, str]:
        """The numbers of the test that says most."""
        return self.leading.facts(self.log_total) if self.leading is not None else {}

    @property
    def doubtful(self) -> Comparison | None:
        """The test that is furthest from its proof."""
        return min(self.rows, key=lambda row: row.log_proof, default=None)


def judge(shift: TrafficShift, state: ShiftState, seen: Observation, now: datetime) -> Judged:
    """Harm that was proven stays proven. Short of that, what can't be read or did not move is no verdict."""
    found = weighed(shift, state, seen, now)
    gauges = gauge_verdicts(shift, state, seen, now)
    verdict = _in_all(shift, state, seen, found, gauges)
    tests = {row.test: _of_test(row, shift, seen, found, verdict) for row in found.rows}
    return replace(found, verdict=verdict, verdicts={**tests, **gauges})


def weighed(shift: TrafficShift, state: ShiftState, seen: Observation, now: datetime) -> Judged:
    """The numbers, without a verdict."""
    if state.watched is None:
        return Judged(fail_at=-math.log(shift.alpha), log_guard=log_guard(state.guard))
    terms = terms_of(shift, state.watched)
    judged = Judged(
        log_guard=log_guard(state.guard),
        fail_at=terms.log_harm,
        pass_at=terms.log_proof,
        hold_at=math.log(terms.hold_at),
        budget=terms.budget,
        cap=capacity(shift, seen),
    )
    if not terms.tests or not state.tide.values:
        return judged
    return _with_findings(judged, shift, state, terms, now)


def _with_findings(judged: Judged, shift: TrafficShift, state: ShiftState, terms: Terms, now: datetime) -> Judged:
    found = findings(terms, Tide.of(terms, state.tide.values))
    way = course(terms, found, standing(state, judged.cap, now))
    rows = comparisons(terms, found)
    return replace(
        judged,
        action=Action(int(way.action[0])),
        to=nearest(shift.strategy, float(way.share[0])) if way.share[0] > 0 else Fraction(0),
        rows=rows,
        leading=_leading(rows, found),
        log_total=float(found.log_total[0]),
        upper=float(found.upper[0]),
        excess=float(found.excess[0]),
        spent=bool(overspent(terms, found)[0]),
    )


def _leading(rows: tuple[Comparison, ...], found: Findings) -> Comparison:
    most = rows[int(found.leading[0])]
    return most if most.log_harm >= WORTH_NAMING else rows[0]


def standing(state: ShiftState, cap: float, now: datetime) -> Standing:
    """Where the run stands. It is ready for another weight when the present one is in force and nothing warms up."""
    warming = state.warm_until is not None and now < state.warm_until
    return Standing(
        share=np.array([float(state.share)]),
        polls=np.array([float(state.window.compared)]),
        rate=np.array([state.flow.per_s or 0.0]),
        cap=np.array([cap]),
        baking=np.array([state.bake is not None]),
        baked_s=np.array([state.bake.lasted_s(now) if state.bake is not None else 0.0]),
        ready=np.array([state.acknowledged_at is not None and not warming]),
    )


def capacity(shift: TrafficShift, seen: Observation) -> float:
    """The highest share that the canary's ready endpoints carry, each as much as one of stable's does now."""
    canary, stable = seen.canary_endpoints, seen.stable_endpoints
    capped = isinstance(shift.strategy, EvidenceStrategy) and shift.strategy.capped
    return min(1.0, canary / stable) if capped and canary is not None and stable else 1.0


def _in_all(
    shift: TrafficShift, state: ShiftState, seen: Observation, found: Judged, gauges: Mapping[str, Verdict]
) -> Verdict:
    if found.action is Action.ROLL_BACK or Verdict.FAIL in gauges.values():
        return Verdict.FAIL
    if not seen.readable or _troubled(found, seen) or Verdict.UNAVAILABLE in gauges.values():
        return Verdict.UNAVAILABLE
    if (seen.unseen and state.share != 1) or not state.window.canary or Verdict.NO_DATA in gauges.values():
        return Verdict.NO_DATA
    if silent(shift, state) is not None:
        return Verdict.NO_DATA
    clear = state.share == 1 or found.action not in IN_DOUBT
    passes = clear and set(gauges.values()) <= {Verdict.PASS} and _enough(shift, state, found)
    return Verdict.PASS if passes else Verdict.INSUFFICIENT


def _troubled(found: Judged, seen: Observation) -> bool:
    return any(row.metric in seen.troubles for row in found.rows)


def _enough(shift: TrafficShift, state: ShiftState, found: Judged) -> bool:
    """Is enough known for the next weight? What counts as enough is the strategy's."""
    match shift.strategy:
        case StepStrategy():
            heard = bool(found.rows) and all(row.canary.requests for row in found.rows)
            compared = state.share == 1 or (state.window.stable > 0 and heard)
            return compared and state.window.canary >= shift.strategy.min_requests
        case EvidenceStrategy():
            return bool(found.rows) and all(row.log_proof >= found.pass_at for row in found.rows)


def _of_test(row: Comparison, shift: TrafficShift, seen: Observation, found: Judged, in_all: Verdict) -> Verdict:
    """A test's own verdict. The failure belongs to the test that says most; a suspicion to each that has one."""
    if found.action is Action.ROLL_BACK and row == found.leading:
        return Verdict.FAIL
    if not seen.readable or row.metric in seen.troubles:
        return Verdict.UNAVAILABLE
    if not row.canary.requests:
        return Verdict.NO_DATA
    if row.log_harm >= found.hold_at:
        return Verdict.INSUFFICIENT
    by_steps = isinstance(shift.strategy, StepStrategy) and in_all in (Verdict.PASS, Verdict.FAIL)
    return Verdict.PASS if by_steps or row.log_proof >= found.pass_at else Verdict.INSUFFICIENT
