"""How is a decision said to a person? Sentences, made afterwards from the decision and the numbers it kept.

Three answers to each cause: why, what must happen next, and which command a person could give.
"""

import math
from datetime import timedelta
from fractions import Fraction

from control.engine.compared import Comparison, Counted, from_facts
from control.engine.decision import Decision
from control.engine.phase import Event
from control.engine.state import ShiftState
from control.engine.words import OBSERVED, WORDS, WOULD
from control.spec import Mode
from control.spec.quantity import share_text

MOST_SHOWN = 1e9
WORTH_SAYING = 0.5
"""Units: log E. Less than this, for or against, is called no evidence."""
NOTHING = "nothing to compare yet"


def sentence(decision: Decision, state: ShiftState, name: str) -> str:
    """Why: one sentence. A shift that only observes says what it would do."""
    if state.subject.mode is Mode.CONTROL:
        return _say(WORDS[decision.cause].why, decision, state, name)
    if decision.cause in OBSERVED:
        return _say(OBSERVED[decision.cause], decision, state, name)
    would = WOULD.get(decision.event, "") if decision.event is not None else ""
    return _say(would + WORDS[decision.cause].why, decision, state, name)


def waiting_for(decision: Decision, state: ShiftState, name: str) -> str:
    """What must happen next; empty when nothing must."""
    if state.subject.mode is Mode.OBSERVE and decision.event in _WRITES:
        return ""
    return _say(WORDS[decision.cause].next, decision, state, name)


_WRITES = frozenset({Event.BEGIN, Event.ADVANCE, Event.FILL, Event.ROLL_BACK, Event.LOWER, Event.PARK, Event.UNPARK})


def next_command(decision: Decision, name: str) -> str:
    """What a person could type; empty when nothing is asked of anyone."""
    words = WORDS[decision.cause].command.split(" ", 1)
    return " ".join(["tidegate", words[0], name, *words[1:]]) if words[0] else ""


def _say(template: str, decision: Decision, state: ShiftState, name: str) -> str:
    known = {
        "name": name,
        "canary": state.subject.canary,
        "stable": state.subject.stable,
        "share": percent(state.share),
        "compared": compared_facts(decision.facts),
        "odds": odds_facts(decision.facts),
        "asked": _asked(decision.facts),
        "overwritten": _overwritten(state),
        "running": f"every proxy runs {percent(state.share)}",
        "returned": f"every proxy gives all traffic to {state.subject.stable}",
    }
    return template.format_map(
        _Facts(known | {key: _spoken(key, value) for key, value in decision.facts.items()})
    ).strip()


def unsure(share: Fraction) -> dict[str, str]:
    """Facts of a weight that time alone has settled: nothing is claimed of proxies that nobody could ask."""
    told = f"{percent(share)} is written, though nobody can say which proxies run it"
    return {"running": told, "returned": told}


def _asked(facts: dict[str, str]) -> str:
    """Who asked for it and why. Example: " (asked for by ada: looks odd)"; empty when nobody did."""
    return f" (asked for by {facts['by']}{facts.get('because', '')})" if "by" in facts else ""


def _overwritten(state: ShiftState) -> str:
    """What a document says that had our weight once, and says another one now; empty when none does."""
    done = state.intent.done if state.intent is not None else ()
    routes = [(route.route, route.configured) for route in state.seen.routes if route.key in done]
    others = ((name, share) for name, share in routes if share is not None and share != state.share)
    return next((f"; {name} says {percent(share)} now, which is left alone" for name, share in others), "")


class _Facts(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "an unknown number"


_SHARES = frozenset({"ours", "theirs", "to"})
_REQUESTS = frozenset({"windowCanary", "windowStable", "need", "of"})
_COUNTS = frozenset({"last"})


def _spoken(key: str, value: str) -> str:
    """A fact as people say it. Example: windowCanary "2013" is "2,013 requests"."""
    if key in _SHARES:
        return percent(Fraction(value))
    if key in _REQUESTS:
        return counted(int(value), "request")
    return f"{int(value):,}" if key in _COUNTS else value


def counted(number: int, noun: str) -> str:
    """Example: (1, "request") is "1 request", (2013, "request") is "2,013 requests"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def seconds_text(length: timedelta) -> str:
    """Example: "64 s", "12 min"."""
    seconds = round(length.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60:,} min"


def percent(share: Fraction) -> str:
    """Example: 1/20 is "5 %", 1/3 is "33.3 %"."""
    text = share_text(share)
    return text.replace("%", " %") if "%" in text else f"{float(share) * 100:.3g} %"


def rate_percent(rate: float) -> str:
    """A rate as people say it. Example: 0.0005 is "0.05 %", 0.034146 is "3.41 %"."""
    return f"{rate * 100:.3g} %"


def amount(number: float) -> str:
    """A number of failed requests. Example: 12.34 is "12.3", 50.0 is "50", 1234.5 is "1,234"."""
    return f"{number:,.0f}" if abs(number) >= 100 or number == round(number) else f"{number:.3g}"


def odds(log_harm: float) -> str:
    """Evidence as people bet. Example: "evidence 212 : 1 for harm", "no evidence of harm (8 : 1 against)"."""
    if log_harm >= WORTH_SAYING:
        return f"evidence {to_one(log_harm)} for harm"
    return "no evidence of harm" + (f" ({to_one(-log_harm)} against)" if log_harm <= -WORTH_SAYING else "")


def to_one(log: float) -> str:
    """Example: ln 212 is "212 : 1", ln 2.5 is "2.5 : 1"."""
    if log >= math.log(MOST_SHOWN):
        return f"over {MOST_SHOWN:,.0f} : 1"
    value = math.exp(max(log, -700.0))
    return f"{value:,.0f} : 1" if value >= 10 else f"{value:.2g} : 1"


def compared(row: Comparison, log_harm: float) -> str:
    """Both versions' numbers, what was tolerated, and the evidence."""
    margin = f"tolerated up to {row.tolerated.ratio:.3g} x stable + {row.tolerated.extra * 100:.3g} %"
    return f"{_both(row)}; {margin}; {odds(log_harm)}"


def _both(row: Comparison) -> str:
    """Both versions' numbers. Example: "slower than 250 ms: canary 12 of 410, stable 13 of 3,702"."""
    canary, stable = row.canary, row.stable
    match row.metric:
        case "outcomes":
            return f"canary {_part(canary)} failed, stable {_part(stable)}"
        case "attempts":
            return f"canary {_retries(canary)}, stable {_retries(stable)}"
        case "abandoned":
            return f"canary {_part(canary)} abandoned by their callers, stable {_part(stable)}"
        case _:
            return f"{bad_means(row.test)}canary {_part(canary)}, stable {_part(stable)}"


def bad_means(test: str) -> str:
    """What makes a request a bad one, where that is an edge. Example: "latency>250ms" is "slower than 250 ms: "."""
    sign = next((each for each in (">", "<") if each in test), "")
    if not sign:
        return "bad: "
    metric, _, edge = test.rpartition(sign)
    length = edge.removesuffix("ms")
    text = f"{length} ms" if edge != length else edge
    if metric == "latency":
        return f"slower than {text}: "
    return f"{'above' if sign == '>' else 'not above'} {text}: "


def _part(side: Counted) -> str:
    return f"{side.bad:,} of {side.requests:,}"


def _retries(side: Counted) -> str:
    return f"{side.bad:,} {'retry' if side.bad == 1 else 'retries'} in {counted(side.requests, 'request')}"


def compared_facts(facts: dict[str, str]) -> str:
    """The comparison that a decision rests on."""
    kept = from_facts(facts)
    return NOTHING if kept is None or not kept[0].canary.requests else compared(*kept)


def odds_facts(facts: dict[str, str]) -> str:
    """The evidence that a decision rests on."""
    kept = from_facts(facts)
    return NOTHING if kept is None or not kept[0].canary.requests else odds(kept[1])
