"""Entries of a ledger: a release that went well until a test says otherwise."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from control.engine.compared import Counted, Difference
from control.engine.ledger import Finding, LedgerEntry

BEGAN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def finding(test: str = "outcomes", metric: str = "", **changes: Any) -> Finding:
    known: dict[str, Any] = {
        "test": test,
        "metric": metric or test.partition(">")[0],
        "verdict": "pass",
        "canary": Counted(4000, 9),
        "stable": Counted(36000, 90),
        "harm": 0.12,
        "proof": 31.0,
        "difference": Difference(-0.00025, -0.0031, 0.00214),
        "log_ratio": -0.1,
        "variance": 0.12,
        "phi": 1.4,
        "freedom": 120.0,
        "reference": 0.25,
        "spread": 0.2,
        "trust": 5.0,
    }
    return Finding(**known | changes)


def entry(run: int = 1, **changes: Any) -> LedgerEntry:
    """The `run`-th release, each a day after the one before."""
    began = BEGAN + timedelta(days=run)
    known: dict[str, Any] = {
        "shift": "translator",
        "run": run,
        "stable": f"v{run}",
        "canary": f"v{run + 1}",
        "began": began,
        "ended": began + timedelta(minutes=14),
        "outcome": "promoted",
        "cause": "Promoted",
        "reason": "every proxy runs 100 %",
        "rule": f"v{run + 1} may replace v{run}: at most 0.21 % more requests fail",
        "shares": (Fraction(1, 50), Fraction(1, 5), Fraction(1)),
        "longest_s": 1.25,
        "tests": (finding(),),
    }
    return LedgerEntry(**known | changes)
