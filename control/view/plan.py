"""What will a shift do, how long will it take, and does the traffic suffice? Worked out from the manifest alone."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from math import ceil
from typing import Any

from control.view import format as words
from control.view import read
from control.view.model import PlanStep, PlanView
from control.view.steps import planned_shares

ON_FAILURE = {
    "rollback": "a bad version gives all traffic back to {stable} at once",
    "hold": "a bad version keeps its share until a person decides",
}


def plan_view(document: Mapping[str, Any], *, rate: float | None) -> PlanView:
    """The steps with the time that each is expected to begin and to take.

    Units: `rate` is requests a second to the host, both versions together; None when nobody knows, then times are the
    shortest possible.
    """
    spec, meta = read.section(document, "spec"), read.section(document, "metadata")
    strategy = read.section(spec, "strategy")
    hold, needed = read.span(strategy.get("hold", 0)), read.whole(strategy, "minRequests")
    shares = planned_shares(spec)
    spans = [expected(share, hold=hold, needed=needed, rate=rate) for share in shares]
    starts = [sum(spans[:i], timedelta()) for i in range(len(spans))]
    stable, canary = read.text(spec, "stable"), read.text(spec, "canary")
    target = read.section(spec, "target")
    return PlanView(
        namespace=read.text(meta, "namespace") or "default",
        name=read.text(meta, "name"),
        host=read.text(target, "host"),
        stable=stable,
        canary=canary,
        routes=tuple(_route(route) for route in read.rows(target, "routes")),
        steps=tuple(
            _step(number, share, start=start, takes=takes, hold=hold, needed=needed, rate=rate)
            for number, (share, start, takes) in enumerate(zip(shares, starts, spans, strict=True), 1)
        ),
        total=("" if rate is not None else "at least ") + words.duration(sum(spans, timedelta())),
        on_failure=ON_FAILURE.get(read.text(spec, "onFailure"), ON_FAILURE["rollback"]).format(stable=stable),
        notes=_notes(shares, hold=hold, needed=needed, rate=rate, canary=canary),
    )


def expected(share: Fraction, *, hold: timedelta, needed: int, rate: float | None) -> timedelta:
    """How long a step takes: its hold, or longer until the canary has answered `needed` requests.

    Example: 1 % of 200/s are 2 canary requests a second: 20 of them take 10 s; with a hold of 5 s the step takes 10 s.
    """
    if not rate or not share:
        return hold
    return max(hold, timedelta(seconds=needed / (rate * float(share))))


def _step(
    number: int,
    share: Fraction,
    *,
    start: timedelta,
    takes: timedelta,
    hold: timedelta,
    needed: int,
    rate: float | None,
) -> PlanStep:
    seen = None if rate is None else rate * float(share) * takes.total_seconds()
    slow = takes > hold
    return PlanStep(
        number=number,
        share=words.percent(share),
        starts="at once" if not start else f"after {words.duration(start)}",
        hold=words.duration(takes),
        canary_requests=f"{words.count(round(seen))} expected" if seen is not None else f"{words.count(needed)} needed",
        enough=not slow,
        note=f"waits beyond its hold of {words.duration(hold)} for {words.plural(needed, 'request')}" if slow else "",
    )


def _notes(
    shares: Sequence[Fraction], *, hold: timedelta, needed: int, rate: float | None, canary: str
) -> tuple[str, ...]:
    if not shares or not needed:
        return ()
    smallest = min(shares)
    in_all = ceil(needed / smallest)
    notes = [
        f"At {words.percent(smallest)}, {words.plural(needed, 'request')} of {canary} "
        f"take {words.plural(in_all, 'request')} in all."
    ]
    if rate is None and hold:
        keeps = ceil(in_all / hold.total_seconds())
        notes.append(f"Every step keeps to its hold from {words.plural(keeps, 'request')} a second on.")
    return tuple(notes)


def _route(route: Mapping[str, Any]) -> str:
    name, service = read.text(route, "route"), read.text(route, "virtualService")
    return f"{service}, route {name}" if name else service
