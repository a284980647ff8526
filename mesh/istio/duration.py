"""How long is a duration as Istio's documents write it? Go's syntax: `1.5s`, `100ms`, `1h30m`."""

import re
from datetime import timedelta

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)")
_MICROSECONDS = {"h": 3.6e9, "m": 6e7, "s": 1e6, "ms": 1e3, "us": 1.0, "µs": 1.0, "ns": 1e-3}
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)


def parse_duration(text: str) -> timedelta:
    """The duration that `text` names.

    Raises: ValueError when `text` is no duration in Go's syntax.
    Example: parse_duration("1m30s") == timedelta(seconds=90)
    """
    parts = list(_PART.finditer(text))
    if not parts or "".join(part.group() for part in parts) != text:
        raise ValueError(f"{text!r} is not a duration such as 1.5s, 100ms or 1h30m")
    return timedelta(microseconds=sum(float(part[1]) * _MICROSECONDS[part[2]] for part in parts))
