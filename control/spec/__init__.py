"""What does a person ask for? Text in, TrafficShift or all problems at once out. Pure."""

from control.spec.draft import Draft, read_draft
from control.spec.metric import (
    BuiltIn,
    BuiltInName,
    Direction,
    GaugeQuery,
    HistogramQuery,
    Margin,
    Metric,
    OnBreach,
    RatioQuery,
    Unit,
    UserMetric,
)
from control.spec.parse import from_document, parse_shift, stored_shift
from control.spec.shift import (
    Change,
    Mode,
    OnDeadline,
    OnDelete,
    OnFailure,
    Source,
    Target,
    TrafficShift,
    Window,
    to_document,
)
from control.spec.strategy import EvidenceStrategy, StepStrategy, Strategy

__all__ = [
    "BuiltIn",
    "BuiltInName",
    "Change",
    "Direction",
    "Draft",
    "EvidenceStrategy",
    "GaugeQuery",
    "HistogramQuery",
    "Margin",
    "Metric",
    "Mode",
    "OnBreach",
    "OnDeadline",
    "OnDelete",
    "OnFailure",
    "RatioQuery",
    "Source",
    "StepStrategy",
    "Strategy",
    "Target",
    "TrafficShift",
    "Unit",
    "UserMetric",
    "Window",
    "from_document",
    "parse_shift",
    "read_draft",
    "stored_shift",
    "to_document",
]
