"""Does our mesh do what istiod does? Each case through both, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tests.conformance.canonical import Difference, canonical, differences
from tests.conformance.corpus import Case
from tests.conformance.ours import refusals, translated

Answers = dict[str, Any]
"""Istiod's resources in canonical form, by the kind of proxy."""


class Outcome(StrEnum):
    """What became of a case."""

    EQUAL = "equal"
    REFUSED = "refused"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Result:
    """A case and its outcome; why it was refused, or where the two disagree."""

    case: Case
    outcome: Outcome
    refused: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


def compared(case: Case, istiod: Answers) -> Result:
    """The case through our translation, against istiod's answer."""
    problems = refusals(case)
    if problems:
        return Result(case, Outcome.REFUSED, tuple(problem.message for problem in problems))
    found: list[Difference] = []
    for proxy in case.proxies:
        ours = canonical(translated(case, proxy), case)
        found += differences(istiod[proxy.kind], ours, proxy.kind)
    return Result(case, Outcome.DIFFERENT if found else Outcome.EQUAL, differences=tuple(found))


def counts(results: Sequence[Result]) -> dict[Outcome, int]:
    """How many cases ended which way."""
    return {outcome: sum(result.outcome is outcome for result in results) for outcome in Outcome}
