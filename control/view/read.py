"""What stands in a document? Plain JSON values become exact ones; what is absent or odd becomes None or 0.

A screen must show whatever a newer or older controller sends, so nothing here raises.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
MOST_S = 1e9
"""Units: seconds. Longer than any shift lasts."""
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def section(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, Mapping) else {}


def rows(parent: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    value = parent.get(key)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list | tuple) else []


def text(parent: Mapping[str, Any], key: str) -> str:
    value = parent.get(key)
    return "" if value is None else str(value)


def whole(parent: Mapping[str, Any], key: str) -> int:
    value = parent.get(key)
    return int(value) if isinstance(value, int | float) else 0


def ratio(parent: Mapping[str, Any], key: str) -> float | None:
    value = parent.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def share(value: Any) -> Fraction | None:
    """An exact share, 0 to 1. Example: "1/20", "5%", 0.05 and "0.05" are all 1/20; "2" is none."""
    written = str(value).strip()
    percent = written.endswith("%")
    try:
        parsed = Fraction(written.removesuffix("%").strip())
    except (ValueError, ZeroDivisionError):
        return None
    found = parsed / 100 if percent else parsed
    return found if 0 <= found <= 1 else None


def moment(value: Any) -> datetime | None:
    """An aware time, UTC, of RFC 3339 text."""
    try:
        parsed = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def span(value: Any) -> timedelta:
    """A duration as manifests write it. Example: "10s", "1m30s", "500ms", 10 (seconds)."""
    if isinstance(value, int | float):
        return seconds(value)
    return seconds(sum(float(n) * _SECONDS[unit] for n, unit in _DURATION.findall(str(value))))


def seconds(value: float) -> timedelta:
    """So many seconds, none below 0, and no more than a time can be counted on by."""
    return timedelta(seconds=min(max(value, 0.0), MOST_S))


def texts(parent: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts; anything else is none."""
    value = parent.get(key)
    return tuple(str(each) for each in value) if isinstance(value, list | tuple) else ()
