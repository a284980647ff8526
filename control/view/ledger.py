"""What did earlier shifts of a service leave behind, and what does the next one take from it?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from control.engine.evidence import Prior
from control.engine.ledger import PROMOTED, Finding, LedgerEntry
from control.engine.priors import FEWEST, priors_of
from control.view import format as words
from control.view.metrics import TONE_OF_VERDICT, title_of
from control.view.model import Tone


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One test of a run that is over."""

    test: str
    title: str
    stable: str
    canary: str
    difference: str
    verdict: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: what was tried, how it went, and the rule that came of it."""

    day: str
    shift: str
    run: int
    stable: str
    canary: str
    outcome: str
    tone: Tone
    shares: str
    took: str
    reason: str
    rule: str
    tests: tuple[FindingRow, ...]


@dataclass(frozen=True, slots=True)
class LedgerView:
    """A service's ledger, oldest run first. `next` is what the next shift takes from it, in sentences."""

    namespace: str
    service: str
    headline: str
    runs: tuple[RunRow, ...]
    next: tuple[str, ...]


def ledger_view(namespace: str, service: str, entries: Sequence[LedgerEntry]) -> LedgerView:
    good = sum(entry.outcome == PROMOTED for entry in entries)
    return LedgerView(
        namespace=namespace,
        service=service,
        headline=f"{words.plural(len(entries), 'run')}, {words.count(good)} promoted" if entries else "no run yet",
        runs=tuple(map(_run, entries)),
        next=_taken(priors_of(entries), {each.test: each.metric for entry in entries for each in entry.tests}),
    )


def _run(entry: LedgerEntry) -> RunRow:
    return RunRow(
        day=entry.ended.strftime("%Y-%m-%d"),
        shift=entry.shift,
        run=entry.run,
        stable=entry.stable,
        canary=entry.canary,
        outcome=entry.outcome if entry.mode == "control" else f"{entry.outcome} ({entry.mode})",
        tone=Tone.GOOD if entry.outcome == PROMOTED else Tone.BAD,
        shares=", ".join(words.percent(share) for share in entry.shares),
        took=words.duration(entry.ended - entry.began),
        reason=entry.reason,
        rule=entry.rule,
        tests=tuple(map(_finding, entry.tests)),
    )


def _finding(found: Finding) -> FindingRow:
    bounds = found.difference
    return FindingRow(
        test=found.test,
        title=title_of(found.test, found.metric),
        stable=words.rate_of(found.stable.bad, found.stable.requests),
        canary=words.rate_of(found.canary.bad, found.canary.requests),
        difference=words.difference(bounds.estimate, bounds.low, bounds.high) if bounds else "",
        verdict=found.verdict,
        tone=TONE_OF_VERDICT.get(found.verdict, Tone.IDLE),
    )


def _taken(priors: dict[str, Prior], tests: dict[str, str]) -> tuple[str, ...]:
    """Of each test that was watched: how its failures clump, and how processes and releases differ."""
    told = ((title_of(test, metric), _prior(priors[test])) for test, metric in tests.items())
    return tuple(f"{title}: {sentence}" for title, sentence in told if sentence)


def _prior(prior: Prior) -> str:
    parts = []
    if prior.weight > 0:
        parts.append("failures come one by one" if prior.phi < 1.2 else f"failures clump by {prior.phi:.3g}")
    if prior.spread > 0:
        parts.append(f"processes differ by {_factor(prior.spread)}")
    if prior.known >= FEWEST:
        parts.append(f"good releases differ by {_factor(prior.releases)} ({words.plural(prior.known, 'release')})")
    return ", ".join(parts)


def _factor(sd: float) -> str:
    """A sd of logs as a factor. Example: 0.3 is "a factor of 1.35"."""
    return f"a factor of {exp(sd):.3g}"
