"""How does a message become bytes, and how is it kept from being encoded twice?

envoy_data_plane's own constructor and `bytes()` compile validators for the messages that they meet: the better part of
a second for the first ones, and more than a millisecond for each route. The messages carry their wire format as
dataclass metadata, so this file walks that once a class and writes the same bytes some thirty times faster; tests hold
the two equal.
"""

import dataclasses
import struct
from collections.abc import Callable, Hashable
from datetime import timedelta
from functools import cache
from typing import Any as Anything
from typing import ParamSpec, TypeVar, cast

import betterproto2
from envoy_data_plane.google.protobuf import Any, Duration
from envoy_data_plane.message_pool import default_message_pool

T = TypeVar("T")
P = ParamSpec("P")
M = TypeVar("M", bound=betterproto2.Message)
_VARINTS = frozenset(
    {
        betterproto2.TYPE_ENUM,
        betterproto2.TYPE_BOOL,
        betterproto2.TYPE_INT32,
        betterproto2.TYPE_INT64,
        betterproto2.TYPE_UINT32,
        betterproto2.TYPE_UINT64,
    }
)
_FIXED = {betterproto2.TYPE_DOUBLE: ("<d", 1), betterproto2.TYPE_FLOAT: ("<f", 5)}
_LENGTH = 2
_SECOND = timedelta(seconds=1)


class Memo:
    """Values by the content that they were made from. A value that is asked for again is the very same object.

    Invariant: at most `limit` entries; the ones that were not asked for the longest go first.
    """

    def __init__(self, limit: int = 50_000) -> None:
        self._limit = limit
        self._entries: dict[Hashable, Anything] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """The value of `key`, built when it isn't there."""
        entries = self._entries
        if key in entries:
            value = entries.pop(key)
        else:
            value = build()
            while len(entries) >= self._limit:
                del entries[next(iter(entries))]
        entries[key] = value
        return cast("T", value)


class EncodeCache(Memo):
    """What outlives one state of the documents: views, encoded parts. `moments` keeps the last few states, indexed."""

    def __init__(self, limit: int = 50_000) -> None:
        super().__init__(limit)
        self.moments = Memo(4)
        self._latest: tuple[Anything, Anything] = (None, None)

    def of_moment(self, documents: Anything, build: Callable[[], T]) -> T:
        """What was made of this very tuple of documents when it was asked for last; else it is built."""
        if self._latest[0] is not documents or not isinstance(documents, tuple):
            self._latest = (documents, build())
        return cast("T", self._latest[1])


def varint(value: int) -> bytes:
    """A number in base 128, the lowest digits first; a negative one as its 64-bit complement."""
    rest = value & 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def nested(number: int, payload: bytes) -> bytes:
    """A message, string or bytes field of this number. Fields joined in any order are one message."""
    return varint(number << 3 | _LENGTH) + varint(len(payload)) + payload


def encode(message: betterproto2.Message) -> bytes:
    """The message in protobuf's wire format, fields in the order of their declaration."""
    out = bytearray()
    for name, keeps_zero, write in _fields(type(message)):
        value = getattr(message, name)
        if value is None or not (keeps_zero or value):
            continue
        write(out, value)
    return bytes(out)


def any_of(message: betterproto2.Message) -> Any:
    """The message wrapped in Any."""
    return make(Any, type_url=default_message_pool.type_to_url[type(message)], value=encode(message))


def make(kind: Callable[P, M], *_: P.args, **fields: P.kwargs) -> M:
    """A message with these fields. Their types are checked by mypy; the library would check them again at run time."""
    message = object.__new__(cast("type[M]", kind))
    message.__dict__.update({name: default() for name, default in _defaults(kind)}, _unknown_fields=b"", **fields)
    return message


@cache
def _defaults(kind: Anything) -> tuple[tuple[str, Callable[[], Anything]], ...]:
    return tuple((field.name, cast("Anything", field.default_factory)) for field in dataclasses.fields(kind))


_Writer = Callable[[bytearray, Anything], None]


@cache
def _fields(kind: type[betterproto2.Message]) -> tuple[tuple[str, bool, _Writer], ...]:
    """Of each field: its name, whether its zero value is written, and what writes it."""
    found = []
    for field in dataclasses.fields(cast("Anything", kind)):
        meta = field.metadata["betterproto"]
        keeps_zero = bool(meta.optional or meta.group or meta.unwrap) and not meta.repeated
        is_message = meta.proto_type == betterproto2.TYPE_MESSAGE and not meta.repeated
        found.append((field.name, keeps_zero or is_message, _writer(meta)))
    return tuple(found)


def _writer(meta: Anything) -> _Writer:
    if meta.map_meta:
        return _map_writer(meta)
    single = _single(meta.number, meta.proto_type, meta.unwrap)
    if not meta.repeated:
        return lambda out, value: out.extend(single(value))
    if meta.proto_type in _VARINTS:
        return lambda out, values: out.extend(nested(meta.number, b"".join(varint(value) for value in values)))
    return lambda out, values: out.extend(b"".join(single(value) for value in values))


def _map_writer(meta: Anything) -> _Writer:
    keys, values = (_single(number, part.proto_type, part.unwrap) for number, part in enumerate(meta.map_meta, 1))

    def write(out: bytearray, entries: dict[Anything, Anything]) -> None:
        for key, value in entries.items():
            out.extend(nested(meta.number, keys(key) + values(value)))

    return write


def _single(number: int, kind: str, unwrap: Anything) -> Callable[[Anything], bytes]:
    """What writes one value with its tag. `unwrap` names the message that a plain Python value stands for."""
    if kind in _VARINTS:
        tag = varint(number << 3)
        return lambda value: tag + varint(value)
    if kind in _FIXED:
        layout, wire = _FIXED[kind]
        fixed = varint(number << 3 | wire)
        return lambda value: fixed + struct.pack(layout, value)
    if kind == betterproto2.TYPE_STRING:
        return lambda value: nested(number, value.encode())
    if kind == betterproto2.TYPE_BYTES:
        return lambda value: nested(number, value)
    if unwrap is not None:
        return lambda value: nested(number, _wrapped(unwrap(), value))
    return lambda value: nested(number, encode(value))


def _wrapped(kind: type[betterproto2.Message], value: Anything) -> bytes:
    """The message that a plain value stands for: a Duration, or a wrapper around the value."""
    if isinstance(value, timedelta):
        seconds, rest = divmod(value, _SECOND)
        return encode(make(Duration, seconds=seconds, nanos=rest.microseconds * 1000))
    return encode(make(kind, value=value))
