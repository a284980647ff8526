"""What will a shift do, how long will it take, and does the traffic suffice? The engine's plan in words.

By fixed steps the plan is the list of steps. By evidence it is what must be proven, how many requests of the canary
that takes, and the way that a version as good as stable usually goes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from control.engine.budget import needed_budget
from control.engine.foresee import Assumed, End, Foreseen, Setting, setting
from control.engine.foresee.needs import Need, Remedies, needs, proof_share, remedies, takes_s
from control.engine.plan import PlannedStep, next_step, plan
from control.spec import EvidenceStrategy, Mode, StepStrategy, Strategy, TrafficShift
from control.spec.quantity import duration_text, rate_text
from control.view import format as words
from control.view import read
from control.view.diff import OBSERVES
from mesh.traffic import RouteRef

ON_FAILURE = {
    "rollback": "a bad version gives all traffic back to {stable} at once",
    "hold": "a bad version keeps its share until a person decides",
}
PATIENCE_S = 3600.0
"""What is too long where no deadline says so."""
USUAL = 0.5
"""A share that fewer runs stand at is not on the usual way."""


@dataclass(frozen=True, slots=True)
class PlanStep:
    number: int
    share: str
    starts: str
    hold: str
    canary_requests: str
    enough: bool
    note: str


@dataclass(frozen=True, slots=True)
class PlanNeed:
    """What one test needs before a promotion: `requests` of the canary, which take `time` at the share of the proof."""

    test: str
    proven: str
    stable_rate: str
    requests: str
    time: str


@dataclass(frozen=True, slots=True)
class PlanView:
    """What a shift will do, before anything runs. `needs` is empty where nothing has to be proven (fixed steps);
    `remedies` each make a shift short enough that takes too long. `headline`: how long it takes, or why it would not
    begin or not get to 100 %; then `total` is empty.
    """

    namespace: str
    name: str
    host: str
    stable: str
    canary: str
    routes: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    needs: tuple[PlanNeed, ...]
    remedies: tuple[str, ...]
    headline: str
    total: str
    on_failure: str
    notes: tuple[str, ...]


def plan_view(
    shift: TrafficShift, *, rate: float | None, given: Assumed | None = None, foreseen: Foreseen | None = None
) -> PlanView:
    """The steps with the time that each is expected to begin and to take, and what they need.

    Units: `rate` is requests a second to the host, both versions together; None when nobody knows, then times are the
    shortest possible. `given`, `foreseen`: for evidence, what is assumed, and runs of a good version under it.
    """
    at = setting(shift, given or Assumed(inf if rate is None else rate))
    match shift.strategy:
        case StepStrategy():
            found = _by_steps(shift, shift.strategy, rate)
        case EvidenceStrategy():
            found = _by_evidence(at, foreseen)
    if refused := would_not_begin(at):
        needed = tuple(replace(each, time="") for each in found.needs)
        found = replace(found, steps=(), needs=needed, remedies=(), total="", notes=tuple(_assumed(at)))
    said = refused or (f"takes {found.total}" if found.total else _stays(foreseen))
    return replace(found, headline=f"{OBSERVES}; {said}" if shift.mode is Mode.OBSERVE else said)


def _arrives(foreseen: Foreseen | None) -> bool:
    return foreseen is None or float((foreseen.end == End.PROMOTED).mean()) >= USUAL


def _stays(foreseen: Foreseen | None) -> str:
    assert foreseen is not None
    runs = words.plural(foreseen.runs, "simulated run")
    stays = words.count(int((foreseen.end != End.PROMOTED).sum()))
    return (
        f"would not get to 100 % in {stays} of {runs} of a good version; `tidegate simulate` shows what becomes of it"
    )


def would_not_begin(at: Setting) -> str:
    """Why such a shift would stay Pending; empty where it would begin, or where nobody knows the traffic.

    Example: "would not begin: a budget of 1 failed request is too small, 5 would do".
    """
    if not isfinite(at.given.per_s):
        return ""
    needed = needed_budget(at.shift, at.watched, at.given.stable, at.given.per_s)
    if at.watched.budget >= needed:
        return ""
    budget = words.amount_of(at.watched.budget, "failed request")
    return f"would not begin: a budget of {budget} is too small, {words.amount(ceil(needed))} would do"


def _by_steps(shift: TrafficShift, strategy: StepStrategy, rate: float | None) -> PlanView:
    planned = plan(strategy, rate)
    return replace(
        _nothing_yet(shift),
        steps=tuple(_step(each, strategy, rate) for each in planned),
        total=("" if rate is not None else "at least ") + words.duration(planned[-1].ends),
        notes=_notes(strategy, shift.canary, rate),
    )


def _by_evidence(at: Setting, foreseen: Foreseen | None) -> PlanView:
    return replace(
        _nothing_yet(at.shift),
        steps=tuple(_way(at, foreseen)),
        needs=tuple(_need(at, each) for each in needs(at)),
        remedies=tuple(_what_helps(at)),
        total=_total(at, foreseen) if _arrives(foreseen) else "",
        notes=tuple(_advice(at, foreseen)),
    )


def _nothing_yet(shift: TrafficShift) -> PlanView:
    return PlanView(
        namespace=shift.namespace,
        name=shift.name,
        host=shift.target.host,
        stable=shift.stable,
        canary=shift.canary,
        routes=tuple(_route(ref) for ref in shift.target.routes),
        steps=(),
        needs=(),
        remedies=(),
        headline="",
        total="",
        on_failure=_on_failure(shift),
        notes=(),
    )


def _on_failure(shift: TrafficShift) -> str:
    if shift.mode is Mode.OBSERVE:
        return "a bad version would go back, and nothing is written"
    return ON_FAILURE[shift.on_failure].format(stable=shift.stable)


def worth_foreseeing_s(shift: TrafficShift, given: Assumed) -> float | None:
    """How long runs of a good version should be followed; None where it would take too long to draw, or not begin.

    Example: what takes about 19 min by the arithmetic is followed for an hour.
    """
    if not isinstance(shift.strategy, EvidenceStrategy):
        return None
    at = setting(shift, given)
    if would_not_begin(at):
        return None
    long_s = _takes_s(at)
    return max(PATIENCE_S, 2 * long_s) if long_s <= PATIENCE_S else None


def first_step(strategy: Strategy) -> Fraction:
    """The share that a run begins at; the lowest where only the traffic tells."""
    named = strategy.first if isinstance(strategy, EvidenceStrategy) else None
    return strategy.shares[0] if named is None else named


def next_share(strategy: Strategy, status: Mapping[str, Any]) -> Fraction | None:
    """The share that the next step gives; 0 while it goes back, 100 % when none is left, None after a rollback."""
    match read.text(status, "phase"):
        case "RolledBack":
            return None
        case "RollingBack":
            return Fraction(0)
        case "Pending":
            return first_step(strategy)
    return next_step(strategy, read.share(status.get("stepShare")) or Fraction(0)) or Fraction(1)


def _step(planned: PlannedStep, strategy: StepStrategy, rate: float | None) -> PlanStep:
    takes, needed = planned.ends - planned.begins, strategy.min_requests
    seen = None if rate is None else rate * float(planned.share) * takes.total_seconds()
    slow = takes > strategy.hold
    wait = f"waits beyond its hold of {words.duration(strategy.hold)} for {words.plural(needed, 'request')}"
    return PlanStep(
        number=planned.step,
        share=words.percent(planned.share),
        starts=f"after {words.duration(planned.begins)}" if planned.begins else "at once",
        hold=words.duration(takes),
        canary_requests=f"{words.count(needed)} needed" if seen is None else f"{words.count(round(seen))} expected",
        enough=not slow,
        note=wait if slow else "",
    )


def _notes(strategy: StepStrategy, canary: str, rate: float | None) -> tuple[str, ...]:
    smallest, hold_s = strategy.steps[0], strategy.hold.total_seconds()
    in_all = ceil(strategy.min_requests / smallest)
    needed = words.plural(strategy.min_requests, "request")
    notes = (f"At {words.percent(smallest)}, {needed} of {canary} take {words.plural(in_all, 'request')} in all.",)
    if rate is not None or not hold_s:
        return notes
    keeps = words.plural(ceil(in_all / hold_s), "request")
    return (*notes, f"Every step keeps to its hold from {keeps} a second on.")


def _way(at: Setting, foreseen: Foreseen | None) -> Iterator[PlanStep]:
    """The shares that a good version usually stands at, with the middle of the times at which it gets there."""
    if foreseen is None:
        return
    began = [(share, foreseen.entered(float(share))) for share in at.shift.strategy.shares]
    usual = [(share, float(np.nanmedian(when))) for share, when in began if np.isfinite(when).mean() >= USUAL]
    for number, ((share, now_s), (_, then_s)) in enumerate(pairwise([*usual, (None, inf)]), start=1):
        yield _on_the_way(at, number, share or Fraction(1), now_s, then_s)


def _on_the_way(at: Setting, number: int, share: Fraction, now_s: float, then_s: float) -> PlanStep:
    requests = at.given.per_s * float(share) * (then_s - now_s)
    return PlanStep(
        number=number,
        share=words.percent(share),
        starts=f"after {_span(now_s)}",
        hold=_span(then_s - now_s) if isfinite(then_s) else "",
        canary_requests=f"{words.count(round(requests))} expected" if isfinite(then_s) else "",
        enough=True,
        note="the bake, in which everything is proven" if float(share) == at.terms.bake_at and at.terms.bake_s else "",
    )


def _need(at: Setting, need: Need) -> PlanNeed:
    test = at.terms.tests[need.test]
    return PlanNeed(
        test=at.named(need.test),
        proven=words.margin(test.proven.ratio, test.proven.extra),
        stable_rate=words.percent(need.rate),
        requests=words.count(ceil(need.requests)) if isfinite(need.requests) else "no number suffices",
        time=_span(need.seconds) if isfinite(need.seconds) else "",
    )


def _span(seconds: float) -> str:
    return words.duration(timedelta(seconds=seconds))


def _takes_s(at: Setting) -> float:
    return takes_s(at, max((each.seconds for each in needs(at)), default=inf))


def _total(at: Setting, foreseen: Foreseen | None) -> str:
    """Example: "about 20 min 10 s (9 of 10 runs: 25 min 30 s)"."""
    promoted = foreseen.seconds[foreseen.end == End.PROMOTED] if foreseen is not None else np.zeros(0)
    if foreseen is not None and len(promoted) >= USUAL * foreseen.runs:
        return f"about {_span(float(np.median(promoted)))} (9 of 10 runs: {_span(float(np.quantile(promoted, 0.9)))})"
    long_s = _takes_s(at)
    return f"about {_span(long_s)}" if isfinite(long_s) else "as long as the requests below take"


def _advice(at: Setting, foreseen: Foreseen | None) -> Iterator[str]:
    """What the numbers rest on, what doesn't suffice, and what would change that."""
    given, stable = at.given, at.shift.stable
    share = words.percent(proof_share(at))
    yield f"Everything is proven at {share} of the traffic, by fewer requests once earlier shifts are known."
    if foreseen is not None:
        yield f"Times are the middle of {foreseen.runs} simulated runs of a version as good as {stable}."
    yield from _assumed(at)
    if not isfinite(given.per_s):
        yield "With --rate, times are told as well."
        return
    if (found := _remedies(at)) is not None:
        yield _too_long(at, found)


def _assumed(at: Setting) -> Iterator[str]:
    """How often each test is taken to go wrong. Example: "Assumed: outcomes 0.3 %, attempts 0.6 %." """
    rates = (f"{at.named(each.test)} {words.percent(each.rate)}" for each in needs(at))
    if at.by_evidence and (told := ", ".join(rates)):
        yield f"Assumed: {told} (outcomes: --baseline-errors; the others are usual values, not measured)."


def _too_long(at: Setting, found: Remedies) -> str:
    if not isfinite(found.deadline_s):
        return "However long it takes, nothing can be proven within these margins."
    than = "an hour" if at.shift.deadline is None else f"its deadline of {_span(found.limit_s)}"
    return f"It takes about {_span(found.deadline_s)} at {words.per_second(at.given.per_s)}, more than {than}."


def _remedies(at: Setting) -> Remedies | None:
    deadline = at.shift.deadline
    return remedies(at, PATIENCE_S if deadline is None else deadline.total_seconds())


def _what_helps(at: Setting) -> Iterator[str]:
    """What makes it short enough, each by itself."""
    found, rate = _remedies(at), at.given.per_s
    if found is None:
        return
    wider = [f"{name} {rate_text(extra)}" for name, extra in found.wider.items() if extra is not None]
    if len(wider) == len(found.wider):
        yield f"wider proof margins (proof.extra): {', '.join(wider)}"
    if at.shift.deadline is not None and isfinite(found.deadline_s):
        yield f"a later deadline: {duration_text(timedelta(seconds=ceil(found.deadline_s / 60) * 60))}"
    if isfinite(found.per_s):
        more = ceil(found.per_s) - rate
        yield f"more traffic: {words.per_second(ceil(found.per_s))}, such as {more:,.0f} of synthetic load"
    if at.terms.bake_s and found.limit_s <= at.terms.bake_s:
        yield "a shorter bake (strategy.bake.for)"


def _route(ref: RouteRef) -> str:
    return f"{ref.virtual_service}, route {ref.route}" if ref.route else ref.virtual_service
