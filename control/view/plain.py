"""How does a view look as JSON? Keys in camelCase as in a TrafficShift, times in RFC 3339, values as they are."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import Any


def plain(value: Any) -> Any:
    """Only dicts, lists, text, numbers, booleans and None."""
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return value.total_seconds()
        case Fraction():
            return str(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case tuple() | list():
            return [plain(item) for item in value]
        case _ if is_dataclass(value):
            return {camel(field.name): plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


def camel(name: str) -> str:
    """Example: "total_steps" is "totalSteps"."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
