"""Which values does a field of Istio's take? The types that the support table speaks of."""

import base64
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mesh.istio.duration import MILLISECOND, SECOND, parse_duration
from mesh.istio.protocol import GRPC_CODES

_OPERATORS = re.compile(r"(?:[^%]|%%|%[A-Z][A-Z0-9_]*(?:\([^)]*\))?(?::\d+)?%)*\Z")
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*\Z")


@dataclass(frozen=True, slots=True)
class Type:
    """A set of values. `objection` says what is wrong with one, as the end of `... must be`, or "" when it belongs."""

    name: str
    objection: Callable[[Any], str]


def integer(name: str, low: int, high: int) -> Type:
    """Whole numbers from `low` to `high`."""

    def objection(value: Any) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            return "a whole number"
        return "" if low <= value <= high else f"from {low} to {high}"

    return Type(name, objection)


def one_of(*values: str) -> Type:
    """A closed set of words."""
    return Type(" | ".join(values), lambda value: "" if value in values else f"one of {', '.join(values)}")


def _duration_objection(value: Any) -> str:
    if not isinstance(value, str):
        return "a duration such as 1.5s or 100ms"
    try:
        length = parse_duration(value)
    except ValueError:
        return "a duration such as 1.5s or 100ms"
    return "" if length >= MILLISECOND and not length % MILLISECOND else "at least 1ms, in whole milliseconds"


def _percent_objection(value: Any) -> str:
    right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
    return "" if right else "a number from 0 to 100"


def _loopback_objection(value: Any) -> str:
    try:
        right = isinstance(value, str) and ipaddress.ip_address(value).is_loopback
    except ValueError:
        right = False
    return "" if right else "a loopback address such as 127.0.0.2, for the local mesh listens nowhere else"


def _header_value_objection(value: Any) -> str:
    if not isinstance(value, str):
        return "text (put it in quotes)"
    if not _HEADER_VALUE.match(value):
        return "text without control characters"
    return "" if _OPERATORS.match(value) else "text in which % stands doubled or around an Envoy operator"


def _regex_objection(value: Any) -> str:
    """What RE2 lacks is refused here, and what nobody understands; what only RE2 understands is Envoy's to judge."""
    if not isinstance(value, str):
        return "text"
    if value == "*":
        return ""
    if _NOT_RE2.search(value):
        return "a regular expression of RE2: no look-around, no back-references, nothing possessive"
    try:
        re.compile(value)
    except re.error as error:
        return "" if error.msg.startswith(_RE2_ALONE) else "a regular expression"
    return ""


_NOT_RE2 = re.compile(r"\(\?(?:[=!>(]|<[=!]|P=)|\\[1-9]|\\Z|[*+?}]\+")
_RE2_ALONE = ("bad escape", "global flags not at the start")


def _aggression_objection(value: Any) -> str:
    right = isinstance(value, int | float) and not isinstance(value, bool) and value >= 1
    return "" if right else "a number of at least 1"


def _idle_objection(value: Any) -> str:
    return "" if value == "0s" else _duration_objection(value)


def _ttl_objection(value: Any) -> str:
    """A time of 0 makes a cookie that lasts as long as the browser's session."""
    return _idle_objection(value)


def _seconds_objection(value: Any) -> str:
    if objection := _duration_objection(value):
        return objection
    return "in whole seconds" if parse_duration(value) % SECOND else ""


def _base64_objection(value: Any) -> str:
    try:
        return "" if isinstance(value, str) and base64.b64decode(value, validate=True) is not None else "text in base64"
    except ValueError:
        return "text in base64"


_BALANCERS = ("UNSPECIFIED", "ROUND_ROBIN", "LEAST_REQUEST", "LEAST_CONN", "RANDOM")


def _balancer_objection(value: Any) -> str:
    if value == "PASSTHROUGH":
        return "a balancer that chooses: passing on to the dialled address needs interception"
    return "" if value in _BALANCERS else f"one of {', '.join(_BALANCERS)}"


def _table_size_objection(value: Any) -> str:
    """Maglev's table: Envoy takes primes only."""
    right = isinstance(value, int) and not isinstance(value, bool) and 1 < value < 5_000_011
    prime = right and all(value % factor for factor in range(2, int(value**0.5) + 1))
    return "" if prime else "a prime number below 5000011"


STRING = Type("string", lambda value: "" if isinstance(value, str) else "text (put it in quotes)")
WORD = Type("string", lambda value: "" if isinstance(value, str) and value else "text that isn't empty")
BOOL = Type("boolean", lambda value: "" if isinstance(value, bool) else "a boolean")
AGGRESSION = Type("number", _aggression_objection)
PORT = integer("port", 1, 65535)
COUNT = integer("integer", 0, 2**31 - 1)
WEIGHT = integer("weight", 0, 2**31 - 1)
STATUS = integer("HTTP status", 200, 599)
PERCENT = Type("percent", _percent_objection)
DURATION = Type("duration", _duration_objection)
LOOPBACK = Type("loopback address", _loopback_objection)
HEADER_VALUE = Type("header value", _header_value_objection)
REGEX = Type("regular expression (RE2)", _regex_objection)
IDLE = Type("duration", _idle_objection)
TTL = Type("duration", _ttl_objection)
SECONDS = Type("duration", _seconds_objection)
BASE64 = Type("base64", _base64_objection)
RING = integer("integer", 0, 2**23)
TABLE_SIZE = Type("prime", _table_size_objection)
BALANCER = Type(" | ".join(_BALANCERS), _balancer_objection)
CORS_METHOD = one_of("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "*")
GRPC_STATUS = one_of(*GRPC_CODES)
ANYTHING = Type("anything", lambda _: "")
OBJECT = Type("object", lambda value: "" if isinstance(value, dict) else "an object")
