"""How does a frozen value become JSON and come back bit for bit?

Driven by the dataclasses' own annotations, so that a field can't be written and forgotten on the way back. A field
that has its default is left out, which keeps states small and lets a field be added without a new schema version.
Floats survive since Python prints the shortest text that reads back to the same bits.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def time_text(at: datetime) -> str:
    """RFC 3339 in UTC, microseconds when there are any."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def encode(value: Any) -> Any:
    match value:
        case Fraction():
            return str(value)
        case datetime():
            return time_text(value)
        case StrEnum():
            return value.value
        case tuple() | list():
            return [encode(each) for each in value]
        case dict():
            return {str(key): encode(each) for key, each in value.items()}
        case _ if dataclasses.is_dataclass(value):
            return {
                field.name: encode(each)
                for field in dataclasses.fields(value)
                if (each := getattr(value, field.name)) != _default(field)
            }
        case _:
            return value


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def decode(kind: type[T], data: Any) -> T:
    """Raises: ValueError, TypeError, KeyError when `data` does not fit `kind`."""
    return typing.cast(T, _decode(kind, data))


def _decode(kind: Any, data: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return None if data is None else _decode(next(each for each in arguments if each is not types.NoneType), data)
    if origin is tuple:
        return _decode_tuple(arguments, data)
    if origin is dict or kind is dict:
        key, value = arguments or (str, Any)
        return {_key(key, name): _decode(value, each) for name, each in data.items()}
    return data if kind is Any else _decode_plain(kind, data)


def _decode_tuple(arguments: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if arguments[-1] is Ellipsis:
        return tuple(_decode(arguments[0], each) for each in data)
    return tuple(_decode(kind, each) for kind, each in zip(arguments, data, strict=True))


def _key(kind: Any, name: str) -> Any:
    return name if kind is Any else kind(name)


def _decode_plain(kind: Any, data: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return _decode_fields(kind, data)
    if kind is datetime:
        return parse_time(data)
    if kind is Fraction or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        return kind(data)
    if not isinstance(data, kind) and not (kind is float and isinstance(data, int)):
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data


def _decode_fields(kind: Any, data: Any) -> Any:
    if not isinstance(data, Mapping):
        raise TypeError(f"{data!r} is no {kind.__name__}")
    hints = _hints(kind)
    if unknown := data.keys() - hints.keys():
        raise ValueError(f"{kind.__name__} has no {', '.join(sorted(map(str, unknown)))}")
    return kind(**{name: _decode(hints[name], each) for name, each in data.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
