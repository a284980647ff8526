"""What does a person ask for? Text in, TrafficShift or all problems at once out. Pure."""

from control.spec.parse import from_document, parse_shift
from control.spec.shift import OnDeadline, OnDelete, OnFailure, StepStrategy, Target, TrafficShift, to_document

__all__ = [
    "OnDeadline",
    "OnDelete",
    "OnFailure",
    "StepStrategy",
    "Target",
    "TrafficShift",
    "from_document",
    "parse_shift",
    "to_document",
]
