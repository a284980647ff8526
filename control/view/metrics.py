"""How does each metric stand? A row a test: both versions, their difference, the margins, evidence and verdict."""

from collections.abc import Mapping
from typing import Any

from control.view import format as words
from control.view import read
from control.view.model import Cell, DifferenceView, MarginView, MetricRow, Tone

TONE_OF_VERDICT = {
    "pass": Tone.GOOD,
    "fail": Tone.BAD,
    "insufficient": Tone.WAITING,
    "no data": Tone.WARN,
    "unavailable": Tone.WARN,
}
TITLE_OF_METRIC = {
    "outcomes": "failed",
    "attempts": "tried again",
    "abandoned": "abandoned",
    "latency": "slow",
}
"""What is said of a bad request."""
NOT_WORTH_SAYING = 1.65
"""Units: odds. Evidence below this, for or against, is none."""
ANYTIME = "95 % at all looks together"


def metric_row(row: Mapping[str, Any]) -> MetricRow:
    metric, verdict = read.text(row, "metric"), read.text(row, "verdict") or "no data"
    harm, proof = read.ratio(row, "harm"), read.ratio(row, "proof")
    stable, canary = (_cell(read.section(row, side)) for side in ("stable", "canary"))
    return MetricRow(
        metric=metric,
        test=read.text(row, "test") or metric,
        title=title_of(read.text(row, "test") or metric, metric),
        stable=stable,
        canary=canary,
        difference=difference_view(read.section(row, "difference")),
        tolerated=_margin(read.section(row, "tolerated")),
        proven=_margin(read.section(row, "proven")),
        verdict=verdict,
        tone=TONE_OF_VERDICT.get(verdict, Tone.IDLE),
        harm=harm,
        proof=proof,
        evidence=_range(row) or _evidence(harm, proof),
        phi=read.ratio(row, "phi"),
        sentence=read.text(row, "sentence"),
    )


def title_of(test: str, metric: str) -> str:
    """Example: the test "latency>250ms" of latency is "over 250 ms", "size<=9" is "size up to 9", "misses" itself."""
    name, sign, edge = edge_of(test)
    if not sign:
        return TITLE_OF_METRIC.get(test, test)
    compared = f"over {edge}" if sign == ">" else f"up to {edge}" if sign == "<=" else f"below {edge}"
    return compared if metric == "latency" else f"{name} {compared}"


def named(title: str, metric: str) -> str:
    """A title with the name of its metric, as a spec has it. Example: "failed (outcomes)", "over 250 ms (latency)"."""
    return title if metric in title else f"{title} ({metric})"


def edge_of(test: str) -> tuple[str, str, str]:
    """A test's metric, sign and edge. Example: "latency>250ms" is "latency", ">", "250 ms"; "misses" has no edge."""
    sign = next((each for each in ("<=", ">", "<") if each in test), "")
    if not sign:
        return test, "", ""
    name, _, edge = test.partition(sign)
    return name, sign, f"{edge.removesuffix('ms')} ms" if edge.endswith("ms") else edge


def counts_cell(bad: int, requests: int) -> Cell:
    ratio = bad / requests if requests else None
    return Cell(requests, bad, ratio, words.part_of(bad, requests), words.rate_of(bad, requests))


def _cell(counts: Mapping[str, Any]) -> Cell:
    requests, bad = read.whole(counts, "requests"), read.whole(counts, "bad")
    value = read.ratio(counts, "value")
    if "value" in counts:
        text = words.UNKNOWN if value is None else f"{value:g}"
        return Cell(0, 0, value, text, text)
    return counts_cell(bad, requests)


def difference_view(found: Mapping[str, Any]) -> DifferenceView | None:
    """A difference with its bounds, None where nothing was compared."""
    estimate, low, high = (read.ratio(found, key) for key in ("estimate", "low", "high"))
    if estimate is None or low is None or high is None:
        return None
    middle, bounds = words.signed(estimate), f"{words.signed(low)} to {words.signed(high)}"
    return DifferenceView(estimate, low, high, middle, bounds, words.difference(estimate, low, high))


def _margin(found: Mapping[str, Any]) -> MarginView | None:
    ratio, extra = read.ratio(found, "ratio"), read.ratio(found, "extra")
    if ratio is None or extra is None:
        return None
    return MarginView(ratio, extra, words.margin(ratio, extra))


def _range(row: Mapping[str, Any]) -> str:
    """The range of a gauge. Example: "at most 20", "5 to 20"; empty for what is no gauge."""
    low, high = read.ratio(row, "low"), read.ratio(row, "high")
    match low, high:
        case None, None:
            return ""
        case None, _:
            return f"at most {high:g}"
        case _, None:
            return f"at least {low:g}"
        case _:
            return f"{low:g} to {high:g}"


def _evidence(harm: float | None, proof: float | None) -> str:
    """What says more. Example: "harm 212 : 1", "proof 3.1 : 1"; empty where nothing says anything yet."""
    if harm is not None and harm >= NOT_WORTH_SAYING:
        return f"harm {words.odds(harm)}"
    if proof is None or 1 / NOT_WORTH_SAYING < proof < NOT_WORTH_SAYING:
        return ""
    return f"proof {words.odds(proof)}"
