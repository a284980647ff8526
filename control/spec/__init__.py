"""What does a person ask for? Text in, TrafficShift or all problems at once out. Pure."""

from control.spec.draft import Draft, read_draft
from control.spec.parse import from_document, parse_shift
from control.spec.shift import OnDeadline, OnDelete, OnFailure, StepStrategy, Target, TrafficShift, to_document

__all__ = [
    "Draft",
    "OnDeadline",
    "OnDelete",
    "OnFailure",
    "StepStrategy",
    "Target",
    "TrafficShift",
    "from_document",
    "parse_shift",
    "read_draft",
    "to_document",
]
