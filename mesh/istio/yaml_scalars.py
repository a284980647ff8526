"""Which value does a YAML scalar stand for?

As Kubernetes reads it (go-yaml, then JSON): `yes`, `on` and `true` are booleans, `0x5A`, `0o17` and `017` are integers,
while `1:30` and `2024-01-01`, which PyYAML would turn into a number and a date, stay text.
"""

import re
from collections.abc import Callable, Mapping

Plain = str | int | float | bool | None

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = ("true", "yes", "on")
_FALSE = ("false", "no", "off")
_BOOLS: Mapping[str, bool] = {
    spelling: word in _TRUE for word in _TRUE + _FALSE for spelling in (word, word.capitalize(), word.upper())
}
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|0o[0-7_]+|0[0-7_]*|[1-9][0-9_]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_SPECIAL = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_MOST_DIGITS = 24


class UnknownTag(ValueError):
    """A tag that would make something else than plain data."""


def resolve(text: str, *, plain: bool, tag: str | None) -> Plain:
    """The value of a scalar. Raises UnknownTag, or ValueError when the text doesn't fit its tag."""
    if tag is None:
        return _resolve_plain(text) if plain else text
    read = _TAGS.get(tag)
    if read is None:
        raise UnknownTag(tag)
    return read(text)


def whole_number(value: object) -> int | None:
    """The whole number that a value stands for where JSON is read into protobuf: 90, 90.0 and "90" are the same."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < _MOST_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _resolve_plain(text: str) -> Plain:
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.match(text) and len(text) <= _MOST_DIGITS:
        return _integer(text)
    return _float(text) if _FLOAT.match(text) or _SPECIAL.match(text) else text


def _integer(text: str) -> int:
    digits = text.replace("_", "")
    octal = re.match(r"([-+]?)0([0-7]+)\Z", digits)
    return int(f"{octal[1]}{octal[2]}", 8) if octal else int(digits, 0)


def _float(text: str) -> float:
    return float(text.replace(".", "", 1) if _SPECIAL.match(text) else text)


def _tagged_integer(text: str) -> int:
    if not _INTEGER.match(text) or len(text) > _MOST_DIGITS:
        raise ValueError(text)
    return _integer(text)


def _tagged_float(text: str) -> float:
    if not (_FLOAT.match(text) or _SPECIAL.match(text)):
        raise ValueError(text)
    return _float(text)


def _tagged_bool(text: str) -> bool:
    if text not in _BOOLS:
        raise ValueError(text)
    return _BOOLS[text]


def _tagged_null(text: str) -> None:
    if text not in _NULLS:
        raise ValueError(text)


_TAGS: Mapping[str, Callable[[str], Plain]] = {
    "!": str,
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": _tagged_integer,
    "tag:yaml.org,2002:float": _tagged_float,
    "tag:yaml.org,2002:bool": _tagged_bool,
    "tag:yaml.org,2002:null": _tagged_null,
}
