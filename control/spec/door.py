"""Is the shape of a TrafficShift document right? pydantic at the door; everything behind it works on frozen values."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from pydantic.alias_generators import to_camel

from control.spec import door_metrics
from control.spec import schema_values as looks
from control.spec.door_metrics import MetricDoor
from control.spec.door_values import (
    BakeAt,
    Budget,
    Door,
    Host,
    Label,
    Name,
    Objective,
    Rung,
    Share,
    between,
    chance,
    or_auto,
)
from control.spec.quantity import parse_moment
from control.spec.raw import by_steps
from control.spec.shift import Change, Mode, OnDeadline, OnDelete, OnFailure, Source
from control.spec.strategy import RUNGS

Poll = Annotated[timedelta, between(timedelta(milliseconds=100), timedelta(hours=1))]
Wait = Annotated[timedelta, between(timedelta(0), timedelta(days=30))]
Limit = Annotated[timedelta, between(timedelta(seconds=1), timedelta(days=365))]
WarmUp = Annotated[timedelta, between(timedelta(0), timedelta(hours=1))]
Blind = Annotated[timedelta, between(timedelta(seconds=1), timedelta(days=1))]
Afterwards = Annotated[timedelta, between(timedelta(0), timedelta(days=7))]
Moment = Annotated[datetime, BeforeValidator(parse_moment), WithJsonSchema(looks.MOMENT)]
HIGHEST_CHANCE = 0.2


class RouteDoor(Door):
    virtual_service: Name
    route: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    namespace: Label | None = None


class TargetDoor(Door):
    host: Host
    routes: Annotated[list[RouteDoor], Field(min_length=1, max_length=16)]


class _StrategyDoor(Door):
    """Each shape allows every kind: which one a document has is settled before its kind is checked."""

    kind: Literal["evidence", "steps"]


class StepsDoor(_StrategyDoor):
    steps: Annotated[list[Share], Field(min_length=1, max_length=30)]
    hold: Wait = timedelta(minutes=1)
    min_requests: Annotated[int, Field(ge=1, le=10**9, strict=True)] = 20


class BakeDoor(Door):
    lasting: Annotated[Wait, Field(alias="for")] = timedelta(minutes=10)
    at: BakeAt = Fraction(1, 5)


class EvidenceDoor(_StrategyDoor):
    kind: Literal["evidence", "steps"] = "evidence"
    rungs: Annotated[list[Rung], Field(min_length=1, max_length=30)] = Field(default_factory=lambda: list(RUNGS))
    bake: BakeDoor = BakeDoor()
    first: Annotated[Rung | None, BeforeValidator(or_auto), WithJsonSchema(looks.or_auto(looks.RUNG))] = None
    capacity: Literal["endpoints", "none"] = "endpoints"


def _kind_of_strategy(value: object) -> str:
    return "<steps>" if isinstance(value, Mapping) and by_steps(value) else "<evidence>"


StrategyDoor = Annotated[
    Annotated[StepsDoor, Tag("<steps>")] | Annotated[EvidenceDoor, Tag("<evidence>")], Discriminator(_kind_of_strategy)
]


class ReturnDoor(Door):
    over: WarmUp = timedelta(0)


class WindowDoor(Door):
    start: Annotated[Moment, Field(alias="from")]
    end: Annotated[Moment, Field(alias="to")]


class SpecDoor(Door):
    target: TargetDoor
    stable: Label
    canary: Label
    strategy: StrategyDoor = EvidenceDoor()
    metrics: Annotated[list[MetricDoor], Field(min_length=1, max_length=16)] | None = None
    poll: Poll = timedelta(seconds=5)
    mode: Mode = Mode.CONTROL
    source: Source = Source.MESH
    alpha: Annotated[float, chance(HIGHEST_CHANCE)] = 0.01
    beta: Annotated[float, chance(HIGHEST_CHANCE)] = 0.05
    budget: Budget = None
    objective: Objective = 0.995
    warm_up: WarmUp = timedelta(0)
    blind_for: Blind | None = None
    rollback_window: Afterwards = timedelta(minutes=10)
    back: Annotated[ReturnDoor, Field(alias="return")] = ReturnDoor()
    changes: Annotated[list[Change], Field(max_length=16)] = Field(default_factory=list)
    baseline: WindowDoor | None = None
    on_failure: OnFailure = OnFailure.ROLLBACK
    on_delete: OnDelete = OnDelete.STABLE
    on_deadline: OnDeadline = OnDeadline.HOLD
    deadline: Limit | None = None
    grace_period: Wait = timedelta(minutes=5)
    settle: Wait = timedelta(seconds=10)
    manage_subsets: bool = False


class MetadataDoor(Door):
    """Kubernetes adds fields of its own to metadata (uid, managedFields, ...); they are let through and ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, frozen=True)
    name: Label
    namespace: Label = "default"
    annotations: dict[str, str] = Field(default_factory=dict)


class ShiftDoor(Door):
    """`status` is ours to write: accepted, so that what was read can be applied again, and ignored."""

    api_version: Literal["tidegate.dev/v1alpha1"]
    kind: Literal["TrafficShift"]
    metadata: MetadataDoor
    spec: SpecDoor
    status: Any = None


SHAPES: dict[str, type[BaseModel]] = {**door_metrics.SHAPES, "<steps>": StepsDoor, "<evidence>": EvidenceDoor}
"""The shapes of what can have several, by the mark that they leave in the path of a mistake."""
