"""Which shares can't follow each other, and which can never be reached?"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

from control.spec.mistake import Mistake
from control.spec.quantity import duration_text, parse_duration, parse_share, share_text
from control.spec.raw import at, by_steps, readable, readables, rungs

Shares = list[tuple[int, Fraction]]
RISING = "each must be larger than the one before"


def strategy_mistakes(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    strategy = at(spec, "strategy")
    if by_steps(strategy):
        steps = readables(parse_share, strategy.get("steps"))
        yield from _order(steps, "steps", "each step must be larger than the one before")
        yield from _end_of_steps(steps)
        return
    yield from _order(readables(parse_share, strategy.get("rungs")), "rungs", RISING)
    yield from _first(strategy)
    yield from _bake(spec, strategy)


def _order(shares: Shares, name: str, hint: str) -> Iterator[Mistake]:
    for (_, before), (index, share) in pairwise(shares):
        path = ("spec", "strategy", name, index)
        if share == before:
            yield Mistake(path, f"{share_text(share)} is repeated", hint)
        elif share < before:
            yield Mistake(path, f"{share_text(share)} comes after {share_text(before)}", hint)


def _end_of_steps(steps: Shares) -> Iterator[Mistake]:
    if steps and steps[-1][1] < 1:
        yield Mistake(
            ("spec", "strategy", "steps", steps[-1][0]),
            "the last step must be 100%",
            "to stay below, pause the shift there: tidegate pause NAME",
        )


def _first(strategy: Mapping[str, Any]) -> Iterator[Mistake]:
    first, highest = readable(parse_share, strategy.get("first")), max(rungs(strategy), default=None)
    if first is not None and highest is not None and first > highest:
        yield Mistake(
            ("spec", "strategy", "first"),
            f"{share_text(first)} is above the highest rung, {share_text(highest)}",
            "begin lower, or add a rung",
        )


def _bake(spec: Mapping[str, Any], strategy: Mapping[str, Any]) -> Iterator[Mistake]:
    bake = at(strategy, "bake")
    lasting = readable(parse_duration, bake.get("for", "10m"))
    share = readable(parse_share, bake.get("at", "20%"))
    if not lasting or share is None:
        return
    yield from _unreachable(strategy, share, "at" in bake)
    yield from _too_long(spec, lasting)


def _unreachable(strategy: Mapping[str, Any], share: Fraction, given: bool) -> Iterator[Mistake]:
    """A canary that begins above the share that it bakes at never comes down to it."""
    first = readable(parse_share, strategy.get("first"))
    lowest = first if first is not None else min(rungs(strategy), default=None)
    if lowest is not None and lowest > share:
        path = ("spec", "strategy", "bake", "at") if given else ("spec", "strategy", "first" if first else "rungs")
        yield Mistake(
            path,
            f"the canary begins with {share_text(lowest)} and is to bake at {share_text(share)}",
            "begin lower, bake higher (bake.at), or leave the bake out (bake.for: 0s)",
        )


def _too_long(spec: Mapping[str, Any], lasting: timedelta) -> Iterator[Mistake]:
    deadline = readable(parse_duration, spec.get("deadline"))
    if deadline is not None and deadline <= lasting:
        yield Mistake(
            ("spec", "deadline"),
            f"{duration_text(deadline)} is over before a bake of {duration_text(lasting)} is",
            "give it more time, or bake for less (strategy.bake.for)",
        )
