"""Why is a shift where it is, what do the numbers say, what happens next, and which command moves it?"""

from control.view import format as words
from control.view.metrics import named
from control.view.model import ExplainView, MetricRow, ShiftView, StepMark
from control.view.shift import untold_refusals

MOVES_OF_PHASE = {
    "Pending": ("pause", "rollback"),
    "Progressing": ("promote", "promote --full", "pause", "rollback"),
    "Paused": ("resume", "promote", "rollback"),
    "Parked": ("promote", "pause", "rollback"),
    "Promoting": ("rollback",),
    "Promoted": ("report", "history"),
    "RollingBack": ("status -w",),
    "RolledBack": ("retry", "report", "history"),
    "Suspended": ("resume",),
    "Conflict": ("resume", "rollback"),
    "Failed": ("rollback", "history"),
}
MEANING = {
    "promote": "go to the next step now",
    "promote --full": "give the new version all traffic now",
    "pause": "stay at this share until resumed",
    "resume": "go on",
    "rollback": "give all traffic back to the old version",
    "retry": "start again from the first step",
    "history": "read what happened",
    "report": "read both versions' numbers side by side",
    "status -w": "watch it",
}


def explain_view(view: ShiftView) -> ExplainView:
    """The headline, and below it what it doesn't say: nothing stands here twice."""
    answers = (
        ("Where is it?", _weights(view)),
        ("Why?", tuple(line for line in (view.reason, *_troubles(view)) if line)),
        ("What do the numbers say?", (*_numbers(view), *view.unwatched)),
        ("What may it still cost?", _costs(view)),
        ("What happens next?", _next(view)),
        ("What can I do?", moves(view)),
    )
    return ExplainView(view.name, view.headline, view.tone, tuple((q, a) for q, a in answers if a))


def moves(view: ShiftView) -> tuple[str, ...]:
    """Commands that fit the phase, each with what it does; the one that the controller suggests comes first."""
    verbs = MOVES_OF_PHASE.get(view.phase, ("status -w",))
    lines = [f"tidegate {_spell(verb, view.name)}: {MEANING[verb]}" for verb in verbs]
    suggested = [line for line in lines if view.next_command and line.startswith(view.next_command + ":")]
    if view.next_command and not suggested:
        suggested = [view.next_command]
    return tuple(suggested + [line for line in lines if line not in suggested])


def _spell(verb: str, name: str) -> str:
    """Example: ("promote --full", "translator") is "promote translator --full"."""
    word, *options = verb.split(" ")
    return " ".join([word, name, *options])


def _weights(view: ShiftView) -> tuple[str, ...]:
    configured, acknowledged, observed, *would = view.shares
    if configured.ratio is None and observed.ratio is None:
        return ("Nobody could read the weights yet.",)
    sentence = (
        f"The documents say {configured.text} for {view.canary}, the proxies have acknowledged {acknowledged.text}, "
        f"the traffic shows {observed.text}."
    )
    lines = [sentence, f"Nothing is written; {view.canary} would have {would[0].text}." if would else ""]
    return tuple(line for line in (*lines, f"{view.endpoints}." if view.endpoints else "") if line)


def _troubles(view: ShiftView) -> tuple[str, ...]:
    late = [f"{row.route}: {row.text}; late: {', '.join(row.late)}." for row in view.proxies if row.late]
    refused = [f"Refused by {rejection}" for rejection in untold_refusals(view)]
    return (*late, *refused, *view.conditions)


def _numbers(view: ShiftView) -> tuple[str, ...]:
    lines = [": ".join(part for part in (_named(row), row.verdict, _seen(row, view)) if part) for row in view.metrics]
    return tuple(lines + ([f"At 100 %: {view.guard}."] if view.guard else []))


def _named(row: MetricRow) -> str:
    return named(row.title, row.metric)


def _seen(row: MetricRow, view: ShiftView) -> str:
    """The numbers in words, without what was told as the reason."""
    told = bool(row.sentence) and row.sentence in view.reason
    numbers = "" if told else row.sentence.removesuffix(f"; {view.reason}") or _both(row, view)
    return "; ".join(part for part in (numbers, _bounds(row), _proof(row)) if part)


def _both(row: MetricRow, view: ShiftView) -> str:
    return f"{view.canary} {row.canary.text}, {view.stable} {row.stable.text}"


def _bounds(row: MetricRow) -> str:
    return f"difference {row.difference.text}" if row.difference else ""


def _proof(row: MetricRow) -> str:
    """Example: "proof 3.1 : 1 of being within 1.25 x stable + 0.5 %"."""
    if row.proof is None or row.proven is None or not row.canary.requests:
        return ""
    return f"proof {words.odds(row.proof)} of being within {row.proven.text}"


def _costs(view: ShiftView) -> tuple[str, ...]:
    if view.finished or view.budget is None:
        return ()
    known = (
        f"For all that is known, {view.upper} more of {view.canary}'s requests fail at the most." if view.upper else ""
    )
    return tuple(line for line in (f"{view.budget.text}.", known) if line)


def _next(view: ShiftView) -> tuple[str, ...]:
    if view.finished:
        return ("Nothing: this run is over.",)
    waiting = " ".join(
        part for part in (view.waiting.sentence, f"({view.waiting.left})" if view.waiting.left else "") if part
    )
    ahead = [step for step in view.steps if step.mark is StepMark.AHEAD]
    more = " or more, as the evidence allows" if view.by_evidence and len(ahead) > 1 else ""
    after = f"The next step gives {view.canary} {ahead[0].share.text}{more}." if ahead else ""
    bake = f"It bakes: {view.bake.text}." if view.bake else ""
    return tuple(line for line in (waiting, bake, after) if line)
