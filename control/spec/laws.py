"""Which values are each possible, but not together?

These laws look at the raw document and skip what is malformed, so that they report beside the door, not after it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from control.spec.quantity import parse_share, share_text
from control.spec.text import Path


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at a path of the document, and what to do about it."""

    path: Path
    message: str
    hint: str


def mistakes(document: Mapping[str, Any]) -> Iterator[Mistake]:
    spec = at(document, "spec")
    yield from _same_version(spec)
    yield from _step_order(at(spec, "strategy").get("steps"))
    yield from _repeated_routes(at(spec, "target").get("routes"))


def at(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping at `key`; an empty one where there is none."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _same_version(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    if spec.get("stable") is not None and spec.get("stable") == spec.get("canary"):
        yield Mistake(
            ("spec", "canary"),
            f"stable and canary are both {spec['canary']!r}",
            "a shift goes from one subset to another",
        )


def _step_order(steps: object) -> Iterator[Mistake]:
    shares = readable_shares(steps)
    for (_, before), (index, share) in pairwise(shares):
        if share == before:
            yield Mistake(
                _step(index), f"{share_text(share)} is repeated", "each step must be larger than the one before"
            )
        elif share < before:
            yield Mistake(
                _step(index),
                f"{share_text(share)} comes after {share_text(before)}",
                "each step must be larger than the one before",
            )
    if shares and shares[-1][1] < 1:
        yield Mistake(
            _step(shares[-1][0]),
            "the last step must be 100%",
            "to stay below, pause the shift there: tidegate pause NAME",
        )


def _step(index: int) -> Path:
    return ("spec", "strategy", "steps", index)


def readable_shares(steps: object) -> list[tuple[int, Fraction]]:
    """The steps that are shares, with their positions."""
    found = enumerate(steps if isinstance(steps, list) else [])
    return [(index, share) for index, each in found if (share := _share(each)) is not None]


def _share(value: object) -> Fraction | None:
    try:
        return parse_share(value)
    except ValueError:
        return None


def _repeated_routes(routes: object) -> Iterator[Mistake]:
    seen: set[str] = set()
    for index, route in enumerate(routes if isinstance(routes, list) else []):
        text = json.dumps(route, sort_keys=True, default=str)
        if text in seen:
            yield Mistake(("spec", "target", "routes", index), "this route is named twice", "")
        seen.add(text)
