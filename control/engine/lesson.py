"""Which rule came of a shift? One sentence for whoever makes the next release of the service.

Tables by what ended the run: harm is told by the metric that convicted the version, a promotion by what was proven.
"""

from collections.abc import Sequence

from control.engine.decision import Cause
from control.engine.ledger import PROMOTED, Finding, LedgerEntry

HARMED = {
    "outcomes": "{canary} must not be tried again as it is: {both} requests failed",
    "attempts": "watch attempts: {both} tries of {canary} were repeats",
    "abandoned": "{canary} keeps its callers waiting: {both} left before an answer",
    "latency": "{canary} is too slow: {both} requests took over {edge}",
}
HARMED_OTHERWISE = "watch {metric}: {both} were bad on {canary}"
HIDDEN = "watch attempts: retries hid from callers that {canary} fails, {both} tries were repeats"
ENDED = {
    Cause.BUDGET_SPENT: "{canary} used up its budget before there was a verdict: look at its failures, or begin lower",
    Cause.GUARD_BROKEN: "{canary} broke its objective at 100 %: bake longer before all traffic follows",
    Cause.CANARY_GONE: "{canary} lost its endpoints: it must stay up before its answers can be judged",
    Cause.DEADLINE_PASSED: "the deadline was too short for this traffic and these margins: plan says what they need",
}
NO_RULE = "no rule: {reason}"
PROVEN = {
    "outcomes": "at most {high} more requests fail",
    "attempts": "at most {high} more tries are repeats",
    "abandoned": "at most {high} more callers leave unanswered",
    "latency": "at most {high} more requests take over {edge}",
}
PROVEN_OTHERWISE = "at most {high} more are bad by {metric}"


def lesson(entry: LedgerEntry) -> str:
    """The rule that came of a run."""
    if entry.outcome == PROMOTED:
        return _proven(entry)
    failed = max((each for each in entry.tests if each.verdict == "fail"), key=lambda each: each.harm, default=None)
    if entry.cause == Cause.HARM_FOUND and failed is not None:
        return _harmed(entry, failed)
    known = {str(cause): template for cause, template in ENDED.items()}
    return known.get(entry.cause, NO_RULE).format(canary=entry.canary, reason=entry.reason)


def _harmed(entry: LedgerEntry, failed: Finding) -> str:
    seen = any(each.metric == "outcomes" and each.verdict == "fail" for each in entry.tests)
    template = HARMED.get(failed.metric, HARMED_OTHERWISE)
    if failed.metric == "attempts" and not seen:
        template = HIDDEN
    return template.format(canary=entry.canary, metric=failed.metric, edge=edge_of(failed), both=_both(entry, failed))


def _both(entry: LedgerEntry, found: Finding) -> str:
    """Example: "14 of 410 (v1: 9 of 3,702)"."""
    canary, stable = (f"{side.bad:,} of {side.requests:,}" for side in (found.canary, found.stable))
    return f"{canary} ({entry.stable}: {stable})"


def edge_of(found: Finding) -> str:
    """Example: "250 ms" of the test "latency>250ms"."""
    edge = found.test.partition(">")[2] or found.test
    return edge.removesuffix("ms") + " ms" if edge.endswith("ms") else edge


def _proven(entry: LedgerEntry) -> str:
    """Example: "v2 may replace v1: at most 0.21 % more requests fail"."""
    bounds = [_bound(each, each.difference.high) for each in _widest(entry.tests) if each.difference is not None]
    if not bounds:
        return f"nothing was compared when {entry.canary} replaced {entry.stable}: watch it"
    return f"{entry.canary} may replace {entry.stable}: {', '.join(bounds)}"


def _bound(found: Finding, high: float) -> str:
    """Units: `high` is the upper bound of the difference, below 0 for one that is surely better."""
    template = PROVEN.get(found.metric, PROVEN_OTHERWISE)
    text = f"{max(high, 0.0) * 100:.2g} %"
    return template.format(high=text, metric=found.metric, edge=edge_of(found))


def _widest(tests: Sequence[Finding]) -> list[Finding]:
    """Of each metric the test with the widest bound, in the order of the tests."""
    widest: dict[str, Finding] = {}
    for each in tests:
        before = widest.get(each.metric)
        if before is None or _high(each) > _high(before):
            widest[each.metric] = each
    return list(widest.values())


def _high(found: Finding) -> float:
    return found.difference.high if found.difference is not None else -1.0
