"""Is a person's gauge where it should be? A value at each look, no counter: nothing is weighed, a range is kept."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from control.engine.observation import Observation
from control.engine.phase import Verdict
from control.engine.state import GaugeSeen, ShiftState, Subject
from control.spec import GaugeQuery, OnBreach, TrafficShift, UserMetric


@dataclass(frozen=True, slots=True)
class Breach:
    """A gauge that is outside its range on the canary, since when at every look, and whether stable's is, too."""

    name: str
    query: GaugeQuery
    value: float
    since: datetime
    shared: bool

    def lasted(self, now: datetime) -> bool:
        return now >= self.since + self.query.lasting

    @property
    def range(self) -> str:
        """Example: "at least 2", "at most 5", "between 2 and 5"."""
        low, high = self.query.low, self.query.high
        if low is None:
            return f"at most {high:g}"
        return f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"


def gauges(shift: TrafficShift) -> tuple[tuple[str, GaugeQuery], ...]:
    return tuple(
        (each.name, each.query)
        for each in shift.metrics
        if isinstance(each, UserMetric) and isinstance(each.query, GaugeQuery)
    )


def value_of(seen: Observation, name: str, version: str) -> float | None:
    """The gauge as it was read; None where there is no number."""
    value = seen.gauges.get(name, {}).get(version)
    return None if value is None or math.isnan(value) else value


def outside(query: GaugeQuery, value: float | None) -> bool:
    if value is None:
        return False
    return (query.low is not None and value < query.low) or (query.high is not None and value > query.high)


def breached(shift: TrafficShift, state: ShiftState, seen: Observation, now: datetime) -> dict[str, datetime]:
    """Since when each gauge of the canary is outside its range. A look that did not read it says nothing new."""
    since: dict[str, datetime] = {}
    for name, query in gauges(shift):
        value, before = value_of(seen, name, state.subject.canary), state.breaches.get(name)
        if outside(query, value) or (value is None and before is not None):
            since[name] = min(before or now, now)
    return since


def breaches(shift: TrafficShift, state: ShiftState, seen: Observation) -> Iterator[Breach]:
    """Those that are outside now."""
    for name, query in gauges(shift):
        canary, stable = (value_of(seen, name, each) for each in (state.subject.canary, state.subject.stable))
        if canary is not None and outside(query, canary) and name in state.breaches:
            yield Breach(name, query, canary, state.breaches[name], outside(query, stable))


def gauge_verdicts(shift: TrafficShift, state: ShiftState, seen: Observation, now: datetime) -> Mapping[str, Verdict]:
    """The verdict of each gauge, by name."""
    out = {each.name: each for each in breaches(shift, state, seen)}
    return {name: _verdict(name, out.get(name), state.subject, seen, now) for name, _ in gauges(shift)}


def _verdict(name: str, breach: Breach | None, subject: Subject, seen: Observation, now: datetime) -> Verdict:
    if not seen.readable or name in seen.troubles:
        return Verdict.UNAVAILABLE
    if value_of(seen, name, subject.canary) is None:
        return Verdict.NO_DATA
    if breach is None:
        return Verdict.PASS
    fails = breach.query.on_breach is OnBreach.ROLLBACK and breach.lasted(now) and not breach.shared
    return Verdict.FAIL if fails else Verdict.INSUFFICIENT


def gauges_seen(shift: TrafficShift, subject: Subject, seen: Observation) -> tuple[GaugeSeen, ...]:
    """What people are shown of them."""
    return tuple(
        GaugeSeen(name, value_of(seen, name, subject.canary), value_of(seen, name, subject.stable))
        for name, _ in gauges(shift)
    )
