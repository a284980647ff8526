"""How would a shift go? What came of many runs that were foreseen, counted and put into words."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from math import sqrt

import numpy as np

from control.engine.evidence.terms import Bools, Floats
from control.engine.foresee import Assumed, End, Foreseen, Setting
from control.spec import OnDeadline, OnFailure, TrafficShift
from control.view import format as words
from control.view.model import Tone

COLUMNS = 60
"""Moments at which the plot shows where the runs stand."""
Z = 1.96
"""Both bounds of a chance together are right 95 times of 100."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of several runs, and what one in ten exceeds."""

    median: float
    p90: float
    mean: float


@dataclass(frozen=True, slots=True)
class EndRow:
    """How many of the runs ended like this. Units: `chance`, `low`, `high` 0 to 1; seconds; requests.

    `excess`: failed requests of the canary beyond what stable would have failed. None of it where no run ended so.
    """

    end: str
    sentence: str
    tone: Tone
    runs: int
    chance: float
    low: float
    high: float
    seconds: Spread | None
    canary_requests: Spread | None
    canary_failures: Spread | None
    excess_failures: Spread | None


@dataclass(frozen=True, slots=True)
class Blame:
    """How often a test did most for a rollback, as a part of all rollbacks."""

    test: str
    part: float


@dataclass(frozen=True, slots=True)
class Plot:
    """Where the runs stand: for each share (a row, the largest first) the part of them at each moment (a column)."""

    shares: tuple[str, ...]
    seconds: tuple[float, ...]
    parts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class SimulationView:
    """How this very shift would go."""

    namespace: str
    name: str
    host: str
    stable: str
    canary: str
    strategy: str
    assumed: tuple[str, ...]
    runs: int
    seed: int
    within_seconds: float
    budget: float
    headline: str
    tone: Tone
    ends: tuple[EndRow, ...]
    blamed: tuple[Blame, ...]
    plot: Plot
    notes: tuple[str, ...]


SENTENCES = {
    End.PROMOTED: ("promoted", "promoted", Tone.GOOD),
    End.ROLLED_BACK: ("rolledBack", "rolled back", Tone.BAD),
    End.RETURNED: ("returned", "promoted, then returned", Tone.BAD),
    End.SPENT: ("budgetSpent", "budget spent", Tone.WARN),
    End.GOING: ("undecided", "undecided", Tone.WAITING),
}


def simulation_view(at: Setting, found: Foreseen, *, seed: int, within_s: float) -> SimulationView:
    """Units: `within_s` is how long each run was followed."""
    shift = at.shift
    ends = tuple(_row(at.shift, end, found, within_s) for end in SENTENCES)
    return SimulationView(
        namespace=shift.namespace,
        name=shift.name,
        host=shift.target.host,
        stable=shift.stable,
        canary=shift.canary,
        strategy="evidence" if at.by_evidence else "steps",
        assumed=tuple(_assumed(at)),
        runs=found.runs,
        seed=seed,
        within_seconds=within_s,
        budget=at.terms.budget,
        headline=_headline(ends, found),
        tone=max(ends, key=lambda row: row.runs).tone,
        ends=ends,
        blamed=tuple(_blamed(at, found)),
        plot=_plot(at, found, within_s),
        notes=tuple(_notes(at, found)),
    )


def _row(shift: TrafficShift, end: End, found: Foreseen, within_s: float) -> EndRow:
    which = found.end == end
    name, sentence, tone = SENTENCES[end]
    low, high = wilson(int(which.sum()), found.runs)
    return EndRow(
        end=name,
        sentence=_qualified(shift, end, sentence, within_s),
        tone=tone,
        runs=int(which.sum()),
        chance=float(which.mean()),
        low=low,
        high=high,
        seconds=_spread(found.seconds, which),
        canary_requests=_spread(found.requests, which),
        canary_failures=_spread(found.failed, which),
        excess_failures=_spread(found.excess, which),
    )


def _qualified(shift: TrafficShift, end: End, sentence: str, within_s: float) -> str:
    """The end, as this shift's policies make it."""
    if end is End.ROLLED_BACK and shift.on_failure is OnFailure.HOLD:
        return "found to do harm, and held"
    if end is not End.GOING:
        return sentence
    if shift.deadline is None or shift.deadline.total_seconds() > within_s:
        return f"undecided after {_span(within_s)}"
    return "undecided at the deadline, " + ("held" if shift.on_deadline is OnDeadline.HOLD else "rolled back")


def wilson(count: int, of: int) -> tuple[float, float]:
    """Bounds of a chance that was met so many times. Source: Wilson 1927. Example: 0 of 500 is 0 to 0.76 %."""
    rate, z2 = count / of, Z * Z
    middle, half = rate + z2 / (2 * of), Z * sqrt(rate * (1 - rate) / of + z2 / (4 * of * of))
    return max(0.0, (middle - half) / (1 + z2 / of)), min(1.0, (middle + half) / (1 + z2 / of))


def _span(seconds: float) -> str:
    return words.duration(timedelta(seconds=seconds))


def _spread(values: Floats, which: Bools) -> Spread | None:
    if not which.any():
        return None
    chosen = values[which]
    return Spread(*(float(each) for each in (np.median(chosen), np.quantile(chosen, 0.9), chosen.mean())))


def _headline(ends: tuple[EndRow, ...], found: Foreseen) -> str:
    """Example: "rolled back in 100 % of 500 runs, after 4 min 00 s, at the price of 17.7 more failed requests"."""
    most = max(ends, key=lambda row: row.runs)
    time = f", after {_span(most.seconds.median)}" if most.seconds and most.end != "undecided" else ""
    excess = max(0.0, float(found.excess.mean()))
    price = (
        "at no price" if words.amount(excess) == "0" else f"at the price of {words.amount_of(excess, 'failed request')}"
    )
    return f"{most.sentence} in {words.percent(most.chance)} of {words.plural(found.runs, 'run')}{time}, {price}"


def _assumed(at: Setting) -> Iterator[str]:
    given: Assumed = at.given
    yield words.per_second(given.per_s)
    rates = words.percent(given.stable), words.percent(given.canary)
    yield f"{rates[0]} of {at.shift.stable}'s and {rates[1]} of {at.shift.canary}'s fail"
    if given.latency_factor != 1:
        yield f"{at.shift.canary} takes {given.latency_factor:g} times as long"
    retries = words.plural(given.retries, "retry", "retries")
    yield f"{words.plural(given.processes, 'process', 'processes')} of each version, {retries} a request at most"
    yield "failures that do not clump, of a service that nothing is known of yet"


def _blamed(at: Setting, found: Foreseen) -> Iterator[Blame]:
    named = found.leading[found.leading >= 0]
    counts = np.bincount(named, minlength=len(at.terms.tests))
    for test in np.argsort(-counts, kind="stable"):
        if counts[test]:
            yield Blame(at.named(int(test)), float(counts[test] / len(named)))


def _plot(at: Setting, found: Foreseen, within_s: float) -> Plot:
    """Until the last run has ended, a little longer."""
    end_s = within_s if (found.end == End.GOING).any() else min(within_s, 1.05 * float(found.seconds.max()))
    seconds = np.linspace(0.0, end_s, COLUMNS)
    levels = [0.0, *(float(each) for each in at.shift.strategy.shares)]
    stands = found.shares_at(seconds)
    parts = [(np.abs(stands - level) < 1e-9).mean(axis=1) for level in levels]
    rows = [(level, part) for level, part in zip(levels, parts, strict=True) if part.any() or level in (0.0, 1.0)]
    return Plot(
        shares=tuple(words.percent(level) for level, _ in reversed(rows)),
        seconds=tuple(float(each) for each in seconds),
        parts=tuple(tuple(float(each) for each in part) for _, part in reversed(rows)),
    )


def _notes(at: Setting, found: Foreseen) -> Iterator[str]:
    if at.given.canary > at.given.stable and (found.end == End.PROMOTED).any():
        hourly = at.given.per_s * 3600 * (at.given.canary - at.given.stable)
        yield f"Promoted, this version would fail {words.plural(round(hourly), 'more request')} an hour."
    yield from (f"{name} is not compared: {why}." for name, why in at.watched.unwatched.items())
