"""How is a protobuf message read and written by hand?

Only what discovery needs: tags, varints and length-delimited fields. Pure functions on bytes.
"""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """These bytes are no protobuf message."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and raw values of an encoded message, in order. Raises Malformed."""
    at, end = 0, len(message)
    while at < end:
        tag, at = varint(message, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == VARINT:
            value, at = varint(message, at)
            yield number, value
            continue
        if wire_type == BYTES:
            size, at = varint(message, at)
        else:
            size = {FIXED64: 8, FIXED32: 4}.get(wire_type, -1)
        if size < 0 or at + size > end:
            raise Malformed(f"field {number} of wire type {wire_type} at byte {at}")
        yield number, message[at : at + size]
        at += size


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A base-128 number and where it ends. Raises Malformed."""
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise Malformed(f"unfinished number at byte {at}")


def first_text(message: bytes, wanted: int) -> str:
    """The text of the first field `wanted`, or ""."""
    return next((text(value) for number, value in fields(message) if number == wanted and isinstance(value, bytes)), "")


def text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def chunk(number: int, value: bytes) -> bytes:
    """A length-delimited field. An empty one is left out, as proto3 does."""
    return key(number, len(value)) + value if value else b""


def key(number: int, size: int) -> bytes:
    """Tag and length of a length-delimited field."""
    return encoded(number << 3 | BYTES) + encoded(size)


def encoded(value: int) -> bytes:
    """A number in base 128."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
