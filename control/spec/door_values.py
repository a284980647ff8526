"""Which single values are possible? The types of the door's fields; each refuses in a sentence that says what to do."""

import re
from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from control.spec import schema_values as looks
from control.spec.quantity import (
    parse_duration,
    parse_edge,
    parse_host,
    parse_label,
    parse_number,
    parse_rate,
    parse_share,
    rate_text,
    share_text,
)

AUTO = "auto"
LONGEST_QUERY = 4096
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,62}")


class Door(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, frozen=True, arbitrary_types_allowed=True)


def _looks(schema: looks.Schema) -> Any:
    """The type of what is written, for the schema of the custom resource."""
    return Annotated[Any, WithJsonSchema(schema)]


def between(low: timedelta, high: timedelta) -> BeforeValidator:
    def check(value: object) -> timedelta:
        length = parse_duration(value)
        if not low <= length <= high:
            raise ValueError(f"{value} is not between {low.total_seconds():g} s and {high.total_seconds():g} s")
        return length

    return BeforeValidator(check, json_schema_input_type=_looks(looks.duration(low, high)))


def chance(highest: float) -> BeforeValidator:
    """A rate above 0 and up to `highest`."""

    def check(value: object) -> float:
        rate = parse_rate(value)
        if not 0 < rate <= highest:
            raise ValueError(f"{value} is not above 0% and at most {rate_text(highest)}")
        return rate

    return BeforeValidator(check, json_schema_input_type=_looks(looks.chance(highest)))


def or_auto(value: object) -> object:
    """`auto` is None: it is worked out later."""
    return None if value == AUTO else value


def parse_extra(value: object) -> float:
    """Raises: ValueError for what is no rate, and for 100 %."""
    rate = parse_rate(value)
    if rate >= 1:
        raise ValueError("100% would tolerate everything")
    return rate


def parse_ratio(value: object) -> float:
    """Raises: ValueError for what is no number, and outside of 1 to 100."""
    found = parse_number(value)
    if not 1 <= found <= 100:
        raise ValueError(f"{value} is not between 1 and 100")
    return found


def _part(value: object) -> float:
    """Raises: ValueError when every request, or none, would have to succeed."""
    rate = parse_rate(value)
    if not 0 < rate < 1:
        raise ValueError(f"{value} is not above 0% and below 100%: an objective leaves some requests to fail")
    return rate


def _budget(value: object) -> float | None:
    if value == AUTO:
        return None
    found = parse_number(value)
    if not 0 < found <= 1e9:
        raise ValueError(f"{value} is no budget: how many requests may fail, such as 50, or auto")
    return found


def _weight(value: object) -> float:
    found = parse_number(value)
    if not 0 < found <= 1e6:
        raise ValueError(f"{value} is no weight: it must be above 0 and at most 1,000,000")
    return found


def _rung(share: Fraction) -> Fraction:
    if share >= 1:
        raise ValueError(f"{share_text(share)} is no rung: all traffic is what follows the last one")
    return share


def _bake_at(share: Fraction) -> Fraction:
    if share > Fraction(19, 20):
        raise ValueError(
            f"{share_text(share)} leaves stable too little to compare with: bake at 95% at most, 20% is advised"
        )
    return share


def _query(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{value!r} is no PromQL")
    if len(value) > LONGEST_QUERY:
        raise ValueError(f"the query has {len(value):,} characters; {LONGEST_QUERY:,} are the most")
    return value.strip()


def _label_name(value: object) -> str:
    if not isinstance(value, str) or not _LABEL_NAME.fullmatch(value):
        raise ValueError(f"{value!r} is no label of Prometheus")
    if value == "le":
        raise ValueError("'le' tells buckets apart, not who asked: name another label")
    return value


def _any_edge(value: object) -> float | str:
    """An edge with a unit stays text until the metric's unit is known."""
    if isinstance(value, str):
        parse_edge(value)
        return value
    return parse_number(value)


Share = Annotated[Fraction, BeforeValidator(parse_share), WithJsonSchema(looks.share())]
Rung = Annotated[Share, AfterValidator(_rung), WithJsonSchema(looks.RUNG)]
BakeAt = Annotated[Share, AfterValidator(_bake_at), WithJsonSchema(looks.BAKE_AT)]
Label = Annotated[str, BeforeValidator(parse_label), WithJsonSchema(looks.LABEL)]
Host = Annotated[str, BeforeValidator(parse_host), WithJsonSchema(looks.HOST)]
Name = Annotated[str, BeforeValidator(parse_host), WithJsonSchema(looks.HOST)]
Query = Annotated[str, BeforeValidator(_query), WithJsonSchema(looks.QUERY)]
LabelName = Annotated[str, BeforeValidator(_label_name), WithJsonSchema(looks.LABEL_NAME)]
Ratio = Annotated[float, BeforeValidator(parse_ratio), WithJsonSchema(looks.RATIO)]
Extra = Annotated[float, BeforeValidator(parse_extra), WithJsonSchema(looks.EXTRA)]
Weight = Annotated[float, BeforeValidator(_weight), WithJsonSchema(looks.WEIGHT)]
Budget = Annotated[float | None, BeforeValidator(_budget), WithJsonSchema(looks.BUDGET)]
Objective = Annotated[float, BeforeValidator(_part), WithJsonSchema(looks.PART)]
Number = Annotated[float, BeforeValidator(parse_number), WithJsonSchema(looks.NUMBER)]
Edge = Annotated[float, BeforeValidator(parse_edge)]
AnyEdge = Annotated[Any, BeforeValidator(_any_edge)]
FewEdges = Field(min_length=1, max_length=3)
