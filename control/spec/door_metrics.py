"""Is the shape of a metric right: a built-in one, or a query of one's own?

Which shape a metric should have is guessed before it is checked, so that a mistake is told in terms of that shape.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

from control.spec import schema_values as looks
from control.spec.door_values import (
    AnyEdge,
    Door,
    Edge,
    Extra,
    FewEdges,
    Label,
    LabelName,
    Number,
    Query,
    Ratio,
    Weight,
    between,
    or_auto,
)
from control.spec.metric import NO_WORSE, BuiltInName, Direction, OnBreach, Unit

Lasting = Annotated[timedelta, between(timedelta(0), timedelta(days=1))]
Edges = Annotated[Annotated[list[Edge], FewEdges] | None, BeforeValidator(or_auto), WithJsonSchema(looks.EDGES)]
AnyEdges = Annotated[Annotated[list[AnyEdge], FewEdges] | None, BeforeValidator(or_auto), WithJsonSchema(looks.EDGES)]
Labels = Annotated[list[LabelName], Field(max_length=4)]
BUILT_IN_NAMES = tuple(each.value for each in BuiltInName)


def _built_in(value: object) -> object:
    if value not in BUILT_IN_NAMES:
        known = ", ".join(BUILT_IN_NAMES)
        raise ValueError(f"{value!r} is not built in ({known}); a metric of your own needs prometheus: {{kind: ...}}")
    return value


class MarginDoor(Door):
    ratio: Ratio | None = None
    extra: Extra | None = None


class _Judged(Door):
    tolerance: MarginDoor = MarginDoor()
    proof: MarginDoor = MarginDoor()
    weight: Weight | None = None


class BuiltInDoor(_Judged):
    name: Annotated[BuiltInName, BeforeValidator(_built_in)]


class LatencyDoor(_Judged):
    name: Literal["latency"]
    edges: Edges = None


class _QueryDoor(Door):
    kind: Literal["ratio", "histogram", "gauge"]


class RatioDoor(_QueryDoor):
    bad: Query
    total: Query
    by: Labels = Field(default_factory=list)


class HistogramDoor(_QueryDoor):
    buckets: Query
    unit: Unit = Unit.S
    edges: AnyEdges = None
    by: Labels = Field(default_factory=list)


class GaugeDoor(_QueryDoor):
    value: Query
    low: Annotated[Number | None, Field(alias="min")] = None
    high: Annotated[Number | None, Field(alias="max")] = None
    lasting: Annotated[Lasting, Field(alias="for")] = NO_WORSE
    on_breach: OnBreach = OnBreach.HOLD


def _kind_of_query(value: object) -> str:
    """The kind that a query says it is; else the kind that has what the query has."""
    given = value if isinstance(value, Mapping) else {}
    telling = {"ratio": "bad", "histogram": "buckets", "gauge": "value"}
    kind = given.get("kind")
    named = kind if isinstance(kind, str) and kind in telling else None
    return f"<{named or next((kind for kind, field in telling.items() if field in given), 'ratio')}>"


QueryDoor = Annotated[
    Annotated[RatioDoor, Tag("<ratio>")]
    | Annotated[HistogramDoor, Tag("<histogram>")]
    | Annotated[GaugeDoor, Tag("<gauge>")],
    Discriminator(_kind_of_query),
]


class UserDoor(_Judged):
    name: Label
    prometheus: QueryDoor
    direction: Direction = Direction.LOWER


def _kind_of_metric(value: object) -> str:
    given = value if isinstance(value, Mapping) else {}
    if "prometheus" in given:
        return "<user>"
    return "<latency>" if given.get("name") == BuiltInName.LATENCY else "<built-in>"


MetricDoor = Annotated[
    Annotated[BuiltInDoor, Tag("<built-in>")]
    | Annotated[LatencyDoor, Tag("<latency>")]
    | Annotated[UserDoor, Tag("<user>")],
    Discriminator(_kind_of_metric),
]
SHAPES: dict[str, type[Door]] = {
    "<ratio>": RatioDoor,
    "<histogram>": HistogramDoor,
    "<gauge>": GaugeDoor,
    "<built-in>": BuiltInDoor,
    "<latency>": LatencyDoor,
    "<user>": UserDoor,
}
"""The shapes by the mark that they leave in the path of a mistake."""
