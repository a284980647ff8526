"""How did the comparison end, case by case? Kept beside the answers, so that the page of figures is made in no time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from tests.conformance.compare import Outcome, Result
from tests.conformance.golden import GOLDEN

FILE = GOLDEN / "results.json"


@dataclass(frozen=True, slots=True)
class Ended:
    """A case's outcome and, where our mesh refuses it, the reasons."""

    name: str
    group: str
    about: str
    documents: int
    outcome: Outcome
    refused: tuple[str, ...]


def ended(result: Result) -> Ended:
    """What of a result is kept."""
    case = result.case
    documents = len(case.documents) + len(case.scene)
    return Ended(case.name, case.group, case.about, documents, result.outcome, result.refused)


def read() -> list[Ended]:
    """The kept outcomes."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return [Ended(**{**each, "outcome": Outcome(each["outcome"]), "refused": tuple(each["refused"])}) for each in found]


def write(results: Iterable[Result]) -> None:
    """Keeps the outcomes, one a line."""
    lines = [json.dumps(_plain(ended(result)), ensure_ascii=False) for result in results]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _plain(each: Ended) -> dict[str, object]:
    names = ("name", "group", "about", "documents", "outcome", "refused")
    return {name: getattr(each, name) for name in names}
