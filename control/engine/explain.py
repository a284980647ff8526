"""How is a decision said to a person? Sentences, made afterwards from the decision and the numbers it kept.

Three answers to each cause: why, what must happen next, and which command a person could give.
"""

import math
from fractions import Fraction
from typing import assert_never

from control.engine.decision import Decision
from control.engine.counting import TOLERATED, WORTH_SAYING, Metric, MetricEvidence, log_harm
from control.engine.state import ShiftState
from control.engine.words import WORDS
from control.spec.quantity import share_text

MOST_SHOWN = 1e9
NOTHING = "nothing to compare yet"


def sentence(decision: Decision, state: ShiftState, name: str) -> str:
    """Why: one sentence."""
    return _say(WORDS[decision.cause].why, decision, state, name)


def waiting_for(decision: Decision, state: ShiftState, name: str) -> str:
    """What must happen next; empty when nothing must."""
    return _say(WORDS[decision.cause].next, decision, state, name)


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
        "compared": compared_facts(decision.facts, state),
        "odds": odds(state.evidence.log_merged) if state.evidence is not None and _has_begun(state) else NOTHING,
        "asked": _asked(decision.facts),
        "overwritten": _overwritten(state),
    }
    return template.format_map(
        _Facts(known | {key: _spoken(key, value) for key, value in decision.facts.items()})
    ).strip()


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


def percent(share: Fraction) -> str:
    """Example: 1/20 is "5 %", 1/3 is "33.3 %"."""
    text = share_text(share)
    return text.replace("%", " %") if "%" in text else f"{float(share) * 100:.3g} %"


def odds(log_harm_: float) -> str:
    """Evidence as people bet. Example: "evidence 212 : 1 for harm", "no evidence of harm (8 : 1 against)"."""
    if log_harm_ >= WORTH_SAYING:
        return f"evidence {_count(log_harm_)} : 1 for harm"
    return "no evidence of harm" + (f" ({_count(-log_harm_)} : 1 against)" if log_harm_ <= -WORTH_SAYING else "")


def _count(log: float) -> str:
    if log >= math.log(MOST_SHOWN):
        return f"over {MOST_SHOWN:,.0f}"
    value = math.exp(log)
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _both(metric: Metric, canary: tuple[int, int], stable: tuple[int, int]) -> str:
    """Both versions' numbers. Example: "canary 12 of 40 abandoned by their callers, stable 3 of 3,700"."""
    match metric:
        case Metric.OUTCOMES:
            return f"canary {_part(*canary)} failed, stable {_part(*stable)} failed"
        case Metric.ATTEMPTS:
            return f"canary {_retries(*canary)}, stable {_retries(*stable)}"
        case Metric.ABANDONED:
            return f"canary {_part(*canary)} abandoned by their callers, stable {_part(*stable)}"
        case _:
            assert_never(metric)


def _part(requests: int, bad: int) -> str:
    return f"{bad:,} of {requests:,}"


def _retries(requests: int, bad: int) -> str:
    return f"{bad:,} {'retry' if bad == 1 else 'retries'} in {counted(requests, 'request')}"


def compared(metric: Metric, canary: tuple[int, int], stable: tuple[int, int], log_e: float) -> str:
    """Both versions' numbers, what was tolerated, and the evidence. Units: (requests, bad ones)."""
    margin = f"tolerated up to {TOLERATED.ratio:g} x stable + {TOLERATED.extra * 100:g} %"
    return f"{_both(metric, canary, stable)}; {margin}; {odds(log_e)}"


def compared_metric(found: MetricEvidence) -> str:
    canary, stable = (found.canary_requests, found.canary_bad), (found.stable_requests, found.stable_bad)
    return compared(found.metric, canary, stable, log_harm(found))


def _has_begun(state: ShiftState) -> bool:
    """Has anything been compared?"""
    return state.evidence is not None and state.evidence.leading.canary_requests > 0


def compared_facts(facts: dict[str, str], state: ShiftState) -> str:
    """The comparison that a decision rested on, or the present one when it kept no numbers."""
    if "metric" not in facts:
        return compared_metric(state.evidence.leading) if state.evidence and _has_begun(state) else NOTHING
    if facts["canaryRequests"] == "0":
        return NOTHING
    canary, stable = ((int(facts[f"{name}Requests"]), int(facts[f"{name}Bad"])) for name in ("canary", "stable"))
    return compared(Metric(facts["metric"]), canary, stable, float(facts["logHarm"]))
