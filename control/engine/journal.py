"""What goes into the journal, and how does it get there once?

Entries are made together with the state that they tell of, and wait in its outbox until they are recorded. Killed in
between, they are recorded again under the same number, which makes them the same entries.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from math import exp
from typing import Any

from control.engine.codec import encode
from control.engine.decision import Decision
from control.engine.explain import MOST_SHOWN, sentence
from control.engine.state import Entry, ShiftState

CONTROLLER = "tidegate"
MOST_WAITING = 20


def noted(state: ShiftState, decision: Decision, now: datetime, *, name: str, actor: str = CONTROLLER) -> ShiftState:
    """The state with one more entry waiting to be recorded."""
    entry = Entry(
        seq=state.entries + 1,
        at=now,
        reason=decision.cause,
        sentence=sentence(decision, state, name),
        actor=actor,
        step=state.step,
        share=state.share,
        harm=_harm(decision),
    )
    return replace(state, entries=entry.seq, outbox=(*state.outbox, entry)[-MOST_WAITING:])


def _harm(decision: Decision) -> float | None:
    """The evidence for harm among the decision's facts, in odds to four digits."""
    log = decision.facts.get("logHarm")
    return None if log is None else float(f"{min(exp(min(float(log), 700.0)), MOST_SHOWN):.4g}")


def as_json(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [encode(entry) for entry in entries]
