"""How does the Common Expression Language of Kubernetes read what people write? Expressions, as texts.

Shares become doubles here, not exact fractions: what these expressions compare differs by far more than 1e-15.
"""

from datetime import timedelta
from typing import Any


def rule(says: str, message: str) -> dict[str, str]:
    """One validation of a schema: `says` must be true of `self`."""
    return {"rule": says, "message": message}


def ruled(schema: dict[str, Any], *rules: dict[str, str]) -> dict[str, Any]:
    """The schema with more rules."""
    return {**schema, "x-kubernetes-validations": [*schema.get("x-kubernetes-validations", ()), *rules]}


def length_of(text: str) -> str:
    """Units: seconds. The duration that the text at `text` means.

    CEL knows no days, which come first; and what its strings are made of must have a size that is known beforehand.
    """
    days = f"double({text}.substring(0, {text}.indexOf('d'))) * 86400.0"
    rest = f"duration('0s' + {text}.substring({text}.indexOf('d') + 1))"
    return f"(({text}.contains('d') ? {days} : 0.0) + double({rest}.getMilliseconds()) / 1000.0)"


def seconds(value: timedelta) -> str:
    """Example: 0.1."""
    return repr(value.total_seconds())


def part_of(text: str) -> str:
    """The number from 0 to 1 that a share or a rate at `text` means: `5%` and `1/20` are 0.05."""
    percent = f"double({text}.replace('%', '').trim()) / 100.0"
    ratio = f"double({text}.split('/')[0].trim()) / double({text}.split('/')[1].trim())"
    return f"({text}.endsWith('%') ? {percent} : {ratio})"


def given(field: str, read: str, otherwise: str) -> str:
    """`read` where the field is given, else `otherwise`. Every mapping on the way to the field may be absent too."""
    names = field.split(".")
    there = " && ".join(f"has({'.'.join(names[: count + 1])})" for count in range(1, len(names)))
    return f"({there} ? {read} : {otherwise})"


def rising(texts: str) -> str:
    """Each share of a list is larger than the one before."""
    parts, one, other = f"{texts}.map(each, {part_of('each')})", part_of("one"), part_of("other")
    return f"{parts}.isSorted() && {texts}.all(one, {texts}.exists_one(other, {one} == {other}))"
