"""The evidence: what the counts of both versions say, however often one looks, and which weight that allows.

`bets` is the arithmetic of one poll and its proof, `dispersion` and `pods` what keeps noise from being taken for harm,
`tide` the state and the step, `findings` what it says, `course` what follows, `guard` what is left at 100 %.
docs/evidence explains the method.
"""

from control.engine.evidence.course import (
    Action,
    Course,
    Standing,
    budget_needed,
    course,
    first_share,
    overspent,
    requests_needed,
    stage_s,
)
from control.engine.evidence.findings import Findings, findings
from control.engine.evidence.terms import RUNGS, Margin, Prior, Terms, Test
from control.engine.evidence.tide import SLOTS, Poll, Tide, fresh, rebake, resized, weigh

__all__ = [
    "RUNGS",
    "SLOTS",
    "Action",
    "Course",
    "Findings",
    "Margin",
    "Poll",
    "Prior",
    "Standing",
    "Terms",
    "Test",
    "Tide",
    "budget_needed",
    "course",
    "findings",
    "first_share",
    "fresh",
    "overspent",
    "rebake",
    "requests_needed",
    "resized",
    "stage_s",
    "weigh",
]
