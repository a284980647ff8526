"""What is decided in one tick, and from which numbers? A value: plan, explain, journal, event and log line print the
same one.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from control.engine.phase import Event


class Cause(StrEnum):
    """Why the shift does what it does, or does nothing. Also the typed reason of journal entries and events."""

    # moves
    STEP_ENTERED = "StepEntered"
    FULL_ENTERED = "FullEntered"
    PROMOTED = "Promoted"
    BAKE_ENTERED = "BakeEntered"
    HARM_FOUND = "HarmFound"
    BUDGET_SPENT = "BudgetSpent"
    GUARD_BROKEN = "GuardBroken"
    GAUGE_OUT = "GaugeOut"
    CANARY_GONE = "CanaryGone"
    DEADLINE_PASSED = "DeadlinePassed"
    SUPERSEDED = "Superseded"
    REVISED = "Revised"
    DELETED = "Deleted"
    COMMANDED = "Commanded"
    PROMOTED_BY_HAND = "PromotedByHand"
    RETURNING = "Returning"
    ROLLED_BACK = "RolledBack"
    PARKED = "Parked"
    UNPARKED = "Unparked"
    FAILED = "Failed"
    CONFLICT = "Conflict"
    RENEWED = "Renewed"
    PAUSED = "Paused"
    RESUMED = "Resumed"
    SUSPENDED = "Suspended"
    # holds
    NOT_BEGUN = "NotBegun"
    ROUTE_MISSING = "RouteMissing"
    DESTINATION_MISSING = "DestinationMissing"
    WEIGHT_REFUSED = "WeightRefused"
    ROUTE_UNREADABLE = "RouteUnreadable"
    ALREADY_CARRYING = "AlreadyCarrying"
    NO_CANARY_ENDPOINT = "NoCanaryEndpoint"
    ENDPOINTS_UNKNOWN = "EndpointsUnknown"
    ROLLING_OUT = "RollingOut"
    RATE_UNKNOWN = "RateUnknown"
    EDGES_UNKNOWN = "EdgesUnknown"
    BUDGET_TOO_SMALL = "BudgetTooSmall"
    STABLE_GONE = "StableGone"
    HANDS_OFF = "HandsOff"
    FOREIGN_CHANGE = "ForeignChange"
    REJECTED = "Rejected"
    AWAITING_PROXIES = "AwaitingProxies"
    AWAITING_DRAIN = "AwaitingDrain"
    HOLDING = "Holding"
    VERSION_UNSEEN = "VersionUnseen"
    NO_DATA = "NoData"
    INSUFFICIENT = "Insufficient"
    METRICS_UNAVAILABLE = "MetricsUnavailable"
    SUSPECTED = "Suspected"
    POD_SUSPECT = "PodSuspect"
    ROUTING_MISMATCH = "RoutingMismatch"
    STABLE_OUTAGE = "StableOutage"
    WARMING = "Warming"
    DWELLING = "Dwelling"
    UNPROVEN = "Unproven"
    BUDGETED = "Budgeted"
    CAPPED = "Capped"
    BAKING = "Baking"
    NOT_OBSERVED = "NotObserved"
    OVERDUE = "Overdue"
    DONE = "Done"
    # beside the phase
    STEP_ACKNOWLEDGED = "StepAcknowledged"
    STEP_SETTLED = "StepSettled"
    LET_GO = "LetGo"
    DRIFT_REPAIRED = "DriftRepaired"
    SPEC_CHANGED = "SpecChanged"
    SUBSETS_ADDED = "SubsetsAdded"
    READABLE_AGAIN = "ReadableAgain"


@dataclass(frozen=True, slots=True)
class Decision:
    """`event` moves the shift; None holds it where it is. `facts` are the numbers that `cause` speaks of.

    `until` is when waiting ends by itself, if that is known.
    """

    cause: Cause
    event: Event | None = None
    facts: dict[str, str] = field(default_factory=dict)
    until: datetime | None = None
