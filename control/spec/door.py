"""Is the shape of a TrafficShift document right? pydantic at the door; everything behind it works on frozen values."""

from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from control.spec.quantity import parse_duration, parse_host, parse_label, parse_share
from control.spec.shift import OnDeadline, OnDelete, OnFailure

Share = Annotated[Fraction, BeforeValidator(parse_share)]
Label = Annotated[str, BeforeValidator(parse_label)]
Host = Annotated[str, BeforeValidator(parse_host)]
Name = Annotated[str, BeforeValidator(parse_host)]


def _between(low: timedelta, high: timedelta) -> BeforeValidator:
    def check(value: object) -> timedelta:
        length = parse_duration(value)
        if not low <= length <= high:
            raise ValueError(f"{value} is not between {low.total_seconds():g} s and {high.total_seconds():g} s")
        return length

    return BeforeValidator(check)


Poll = Annotated[timedelta, _between(timedelta(milliseconds=100), timedelta(hours=1))]
Wait = Annotated[timedelta, _between(timedelta(0), timedelta(days=30))]
Limit = Annotated[timedelta, _between(timedelta(seconds=1), timedelta(days=365))]


class _Door(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True, arbitrary_types_allowed=True)


class RouteDoor(_Door):
    virtual_service: Name
    route: Annotated[str, Field(min_length=1, max_length=253)] | None = None
    namespace: Label | None = None


class TargetDoor(_Door):
    host: Host
    routes: Annotated[list[RouteDoor], Field(min_length=1, max_length=16)]


class StrategyDoor(_Door):
    kind: Literal["steps"]
    steps: Annotated[list[Share], Field(min_length=1, max_length=30)]
    hold: Wait = timedelta(minutes=1)
    min_requests: Annotated[int, Field(ge=1, le=10**9, strict=True)] = 20


class SpecDoor(_Door):
    target: TargetDoor
    stable: Label
    canary: Label
    strategy: StrategyDoor
    poll: Poll = timedelta(seconds=5)
    on_failure: OnFailure = OnFailure.ROLLBACK
    on_delete: OnDelete = OnDelete.STABLE
    on_deadline: OnDeadline = OnDeadline.HOLD
    deadline: Limit | None = None
    grace_period: Wait = timedelta(minutes=5)
    settle: Wait = timedelta(seconds=10)


class MetadataDoor(_Door):
    """Kubernetes adds fields of its own to metadata (uid, managedFields, ...); they are let through and ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, frozen=True)
    name: Label
    namespace: Label = "default"
    annotations: dict[str, str] = Field(default_factory=dict)


class ShiftDoor(_Door):
    """`status` is ours to write: accepted, so that what was read can be applied again, and ignored."""

    api_version: Literal["tidegate.dev/v1alpha1"]
    kind: Literal["TrafficShift"]
    metadata: MetadataDoor
    spec: SpecDoor
    status: Any = None
