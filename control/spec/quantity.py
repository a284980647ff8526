"""How do a share, a duration and a name look in a person's text, and which values are possible?

Each parser takes what YAML gave and returns a value, or raises `ValueError` with a sentence that names the remedy.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LONGEST = timedelta(days=365)
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*%")
_FINE_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,40})?)\s*%")
_RATIO = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SHORTEST_EDGE_MS = 0.001
LARGEST_NUMBER = 1e15
SMALLEST_SHARE = Fraction(1, 1_000_000)


def parse_share(value: object) -> Fraction:
    """The exact fraction that `5%`, `0.5%` or `1/200` means.

    Raises: ValueError for a bare number (5 could mean 5 % or all of it five times), 0, and more than 100 %.
    """
    share = _fraction(value)
    if share == 0:
        raise ValueError("0% is no step: a shift begins there")
    if share > 1:
        raise ValueError(f"{value} is more than 100%")
    if share < SMALLEST_SHARE:
        raise ValueError(f"{value} is less than one request in a million, the finest share that a mesh can hold")
    return share


def _fraction(value: object) -> Fraction:
    if isinstance(value, str):
        text = value.strip()
        if found := _PERCENT.fullmatch(text):
            return Fraction(found[1]) / 100
        if (found := _RATIO.fullmatch(text)) and int(found[2]):
            return Fraction(int(found[1]), int(found[2]))
    raise ValueError(f"{value!r} is not a share: write it as 5%, 0.5% or 1/200")


def share_text(share: Fraction) -> str:
    """The share as a person writes it: `5%` where a finite decimal says it exactly, else `1/3`."""
    percent = share * 100
    for digits in range(10):
        if (percent * 10**digits).denominator == 1:
            return f"{_decimal(percent, digits)}%"
    return f"{share.numerator}/{share.denominator}"


def _decimal(value: Fraction, digits: int) -> str:
    scaled = value * 10**digits
    whole, rest = divmod(scaled.numerator, 10**digits)
    return f"{whole}.{rest:0{digits}d}" if digits else str(whole)


def parse_duration(value: object) -> timedelta:
    """The length of time that `2s`, `1m30s` or `500ms` means.

    Raises: ValueError for a number without a unit, and for more than a year.
    """
    if not isinstance(value, str) or not (parts := _duration_parts(value.strip())):
        raise ValueError(f"{value!r} is not a duration: write it with a unit, such as 500ms, 10s, 1m30s or 2h")
    length = timedelta(milliseconds=round(sum(float(number) * _MILLISECONDS[unit] for number, unit in parts)))
    if length > _LONGEST:
        raise ValueError(f"{value} is more than a year")
    return length


def _duration_parts(text: str) -> list[tuple[str, str]]:
    if len(text) > 32 or not re.fullmatch(f"(?:{_DURATION_PART.pattern})+", text):
        return []
    return [(number, unit) for number, unit in _DURATION_PART.findall(text)]


def parse_edge(value: object) -> float:
    """Units: milliseconds. A length of time as a histogram's edge, which may be finer than a millisecond.

    Raises: ValueError for a number without a unit, for 0, and for more than a day.
    Example: 0.5ms is 0.5, 1m30s is 90000.
    """
    if not isinstance(value, str) or not (parts := _duration_parts(value.strip())):
        raise ValueError(f"{value!r} is not an edge: write it with a unit, such as 100ms or 2s")
    edge = float(sum(Fraction(number) * _MILLISECONDS[unit] for number, unit in parts))
    if not SHORTEST_EDGE_MS <= edge <= _MILLISECONDS["d"]:
        raise ValueError(f"{value} is not between {SHORTEST_EDGE_MS:g} ms and a day")
    return edge


def edge_text(edge_ms: float) -> str:
    return f"{number(edge_ms)}ms"


def parse_rate(value: object) -> float:
    """A part of all requests as a number from 0 to 1. Unlike a share it is a measure, and need not be exact.

    Raises: ValueError for a bare number (0.05 could mean 5 % or 0.05 %), and for more than 100 %.
    Example: 0.05% is 0.0005.
    """
    rate = _rate(value)
    if rate is None:
        raise ValueError(f"{value!r} is not a part of requests: write it as 1%, 0.05% or 1/2000")
    if rate > 1:
        raise ValueError(f"{value} is more than 100%")
    return float(rate)


def _rate(value: object) -> Fraction | None:
    text = value.strip() if isinstance(value, str) else ""
    if found := _FINE_PERCENT.fullmatch(text):
        return Fraction(found[1]) / 100
    if (found := _RATIO.fullmatch(text)) and int(found[2]):
        return Fraction(int(found[1]), int(found[2]))
    return None


def rate_text(rate: float) -> str:
    """The rate as a person writes it, which `parse_rate` reads back to the very same number. Example: 0.05%."""
    percent = f"{Decimal(repr(rate)) * 100:f}"
    return (percent.rstrip("0").rstrip(".") if "." in percent else percent) + "%"


def parse_number(value: object) -> float:
    """Raises: ValueError for what is no number, and for infinity and what is not a number (.inf, .nan)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise ValueError(f"{str(value)[:20]}... is beyond {LARGEST_NUMBER:g}")
    return float(value)


def number(value: float) -> float:
    """The number as a person writes it: whole ones without a point."""
    return int(value) if float(value).is_integer() else value


def parse_moment(value: object) -> datetime:
    """Raises: ValueError for a moment without its offset from UTC. Example: 2026-05-01T10:00:00Z."""
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{value!r} is not a moment: write it as 2026-05-01T10:00:00Z, with Z or +02:00 at the end")
    return moment.astimezone(UTC)


def duration_text(length: timedelta) -> str:
    """The duration as a person writes it, which `parse_duration` reads back unchanged (to the millisecond)."""
    rest = round(length / timedelta(milliseconds=1))
    parts = []
    for unit, size in sorted(_MILLISECONDS.items(), key=lambda item: -item[1]):
        count, rest = divmod(rest, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def parse_label(value: object) -> str:
    """A DNS-1123 label: what Kubernetes and Istio take as a name."""
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        raise ValueError(
            f"{value!r} is not a name: use 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit"
        )
    return value


def parse_host(value: object) -> str:
    """A DNS-1123 name of one or more labels."""
    if not isinstance(value, str) or len(value) > 253 or not all(map(_LABEL.fullmatch, value.split("."))):
        raise ValueError(f"{value!r} is not a host: use the DestinationRule's name for it, such as translator")
    return value
