"""How does a frozen value become JSON and come back bit for bit?

Driven by the dataclasses' own annotations, so that a field can't be written and forgotten on the way back. A field
that has its default is left out, which keeps states small and lets a field be added without a new schema version.
Floats survive since Python prints the shortest text that reads back to the same bits; many of them, and whatever else
repeats itself, are packed.
"""

import base64
import dataclasses
import json
import struct
import types
import typing
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
Decoder = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Numbers:
    """Many floats, infinities among them, that are stored as text of their very bits.

    Units: base 85 of zlib of 8 bytes a number, the lowest byte first.
    """

    values: tuple[float, ...] = ()

    @staticmethod
    def of(values: Iterable[float]) -> "Numbers":
        return Numbers(tuple(map(float, values)))

    def text(self) -> str:
        return squeezed(struct.pack(f"<{len(self.values)}d", *self.values))

    @staticmethod
    def parse(text: str) -> "Numbers":
        """Raises: ValueError for text that is none."""
        packed = expanded(text)
        if len(packed) % 8:
            raise ValueError(f"{len(packed)} bytes are no numbers")
        return Numbers(struct.unpack(f"<{len(packed) // 8}d", packed))


def squeezed(data: bytes) -> str:
    return base64.b85encode(zlib.compress(data)).decode()


def expanded(text: str) -> bytes:
    """Raises: ValueError for text that nothing was squeezed into."""
    try:
        return zlib.decompress(base64.b85decode(text))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def pack(value: Any) -> str:
    """A value that repeats itself, such as the names of proxies, as short text."""
    return squeezed(json.dumps(encode(value), separators=(",", ":")).encode())


def unpack(kind: Any, text: str) -> Any:
    """Raises: ValueError, TypeError, KeyError when `text` does not hold a `kind`."""
    return decode(kind, json.loads(expanded(text)))


def time_text(at: datetime) -> str:
    """RFC 3339 in UTC, microseconds when there are any."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def encode(value: Any) -> Any:
    match value:
        case None | int() | float():
            return value
        case str():
            return str(value)
        case Fraction():
            return str(value)
        case Numbers():
            return value.text()
        case datetime():
            return time_text(value)
        case tuple() | list():
            return [encode(each) for each in value]
        case dict():
            return {str(key): encode(each) for key, each in value.items()}
        case _:
            return _encode_fields(value)


def _encode_fields(value: Any) -> dict[str, Any]:
    kind: Any = type(value)
    found = ((name, getattr(value, name), default) for name, default in _defaults(kind))
    return {name: encode(each) for name, each, default in found if each != default}


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, _default(field)) for field in dataclasses.fields(kind))


def _default(field: "dataclasses.Field[Any]") -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def decode(kind: type[T], data: Any) -> T:
    """Raises: ValueError, TypeError, KeyError when `data` does not fit `kind`."""
    wanted: Any = kind
    return typing.cast(T, _decoder(wanted)(data))


@cache
def _decoder(kind: Any) -> Decoder:
    """What reads a value of `kind`; made once for each kind."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return _optional(_decoder(next(each for each in arguments if each is not types.NoneType)))
    if origin is tuple:
        return _tuple(arguments)
    if origin is dict:
        return _mapping(*map(_decoder, arguments))
    if kind is Numbers:
        return Numbers.parse
    if dataclasses.is_dataclass(kind):
        return _fields(kind)
    if kind is datetime:
        return parse_time
    return typing.cast(Decoder, kind) if issubclass(kind, Fraction | StrEnum) else _plain(kind)


def _optional(decoder: Decoder) -> Decoder:
    return lambda data: None if data is None else decoder(data)


def _tuple(arguments: tuple[Any, ...]) -> Decoder:
    if arguments[-1] is Ellipsis:
        every = _decoder(arguments[0])
        return lambda data: tuple(map(every, data))
    decoders = [_decoder(each) for each in arguments]
    return lambda data: tuple(decoder(each) for decoder, each in zip(decoders, data, strict=True))


def _mapping(key: Decoder, value: Decoder) -> Decoder:
    return lambda data: {key(name): value(each) for name, each in data.items()}


def _plain(kind: Any) -> Decoder:
    accepted = (float, int) if kind is float else (kind,)

    def decoder(data: Any) -> Any:
        if not isinstance(data, accepted):
            raise TypeError(f"{data!r} is no {kind.__name__}")
        return data

    return decoder


def _fields(kind: Any) -> Decoder:
    decoders = {name: _decoder(hint) for name, hint in typing.get_type_hints(kind).items()}

    def decoder(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise TypeError(f"{data!r} is no {kind.__name__}")
        if unknown := data.keys() - decoders.keys():
            raise ValueError(f"{kind.__name__} has no {', '.join(sorted(map(str, unknown)))}")
        return kind(**{name: decoders[name](each) for name, each in data.items()})

    return decoder
