"""What of a document can be read as it stands, beside whatever is wrong with the rest of it?"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from control.spec.quantity import parse_share
from control.spec.strategy import RUNGS

T = TypeVar("T")


def at(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The mapping at `key`; an empty one where there is none."""
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def items(data: Mapping[str, Any], key: str) -> list[Any]:
    """The list at `key`; an empty one where there is none."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def readable(parse: Callable[[object], T], value: object) -> T | None:
    """The value, None where it is malformed: the door says so."""
    try:
        return parse(value)
    except ValueError:
        return None


def readables(parse: Callable[[object], T], values: object) -> list[tuple[int, T]]:
    """Those of a list that can be read, with their positions."""
    found = enumerate(values if isinstance(values, list) else [])
    return [(index, value) for index, each in found if (value := readable(parse, each)) is not None]


def by_steps(strategy: Mapping[str, Any]) -> bool:
    """What has steps is meant to be of that kind, whatever it says."""
    return strategy.get("kind") == "steps" or "steps" in strategy


def shares(strategy: Mapping[str, Any]) -> Iterator[Fraction]:
    """Every readable share that the canary may be given before it has all traffic, in no order."""
    if by_steps(strategy):
        yield from (share for _, share in readables(parse_share, strategy.get("steps")))
        return
    yield from rungs(strategy)
    bake = readable(parse_share, at(strategy, "bake").get("at", "20%"))
    first = readable(parse_share, strategy.get("first"))
    yield from (each for each in (bake, first) if each is not None)


def rungs(strategy: Mapping[str, Any]) -> tuple[Fraction, ...]:
    given = strategy.get("rungs")
    return RUNGS if given is None else tuple(share for _, share in readables(parse_share, given))
