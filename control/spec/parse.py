"""Which TrafficShift does a text ask for? Either the shift, or every mistake in it at once with its place."""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from control.errors import Problem, SpecError
from control.spec.build import built
from control.spec.door import SHAPES, ShiftDoor
from control.spec.laws import mistakes
from control.spec.mistake import Mistake
from control.spec.shift import TrafficShift
from control.spec.text import Path, Text, read_text

MISSING = "is missing"
NOUNS: Mapping[str | int, str] = {"by": "labels"}
"""What a list holds, where its field has another name."""


def parse_shift(text: bytes, source: str) -> TrafficShift:
    """Raises: SpecError with all problems, in the order of the text."""
    return parsed(read_text(text, source), source)


def from_document(document: Mapping[str, Any], source: str = "document") -> TrafficShift:
    """Raises: SpecError with all problems; they have no lines."""
    return parsed(Text(document), source)


def stored_shift(document: Mapping[str, Any]) -> TrafficShift:
    """The shift of a document as JSON that was accepted once. A loop reads the same ones again and again, and reading
    costs twenty times as much as knowing it again. Raises: SpecError.
    """
    return _known(json.dumps(document))


@lru_cache(maxsize=4096)
def _known(text: str) -> TrafficShift:
    return from_document(json.loads(text))


def parsed(text: Text, source: str, more: Iterable[Mistake] = ()) -> TrafficShift:
    """The shift of a text that was read. Raises: SpecError with all problems, `more` among them."""
    if text.data is None and text.problems:
        raise SpecError(text.problems)
    if not isinstance(text.data, Mapping):
        raise SpecError(
            [Problem(source, 0, 0, "this is no TrafficShift: expected apiVersion, kind, metadata and spec")]
        )
    found, door = _checked(text.data)
    problems = {*text.problems, *(_problem(mistake, text, source) for mistake in [*found, *more])}
    if problems or door is None:
        raise SpecError(sorted(problems, key=lambda each: (each.line, each.column, each.message)))
    return built(door)


def _checked(data: Mapping[str, Any]) -> tuple[list[Mistake], ShiftDoor | None]:
    """What is wrong. A value that the door refuses is not judged again by a law."""
    found = list(mistakes(data))
    try:
        return found, ShiftDoor.model_validate(dict(data))
    except ValidationError as error:
        refused = [_mistake(each) for each in error.errors(include_url=False)]
        paths = {each.path for each in refused}
        return [each for each in found if each.path not in paths] + refused, None


def _problem(mistake: Mistake, text: Text, source: str) -> Problem:
    place = text.place(mistake.path)
    field = _dotted(mistake.path)
    message = f"{field} is missing" if mistake.message == MISSING else f"{field}: {mistake.message}"
    return Problem(source, place.line, place.column, message, mistake.hint)


def _dotted(path: Path) -> str:
    parts = [f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path if part != ""]
    return "".join(parts).lstrip(".")


def _mistake(error: ErrorDetails) -> Mistake:
    path = tuple(part for part in error["loc"] if part not in SHAPES)
    match error["type"]:
        case "extra_forbidden":
            return Mistake((*path, ""), "no such field", _near_miss(tuple(error["loc"])))
        case "missing":
            return Mistake(path, MISSING, "")
        case "value_error":
            return Mistake(path, str(error["ctx"]["error"]), "")
        case "too_long":
            return Mistake(path, f"at most {error['ctx']['max_length']} {NOUNS.get(path[-1], path[-1])}", "")
        case "model_type":
            return Mistake(path, f"{error['input']!r} is no mapping", "write fields, such as {name: value}")
        case "list_type":
            return Mistake(path, f"{error['input']!r} is no list", "write it in brackets, such as [a, b]")
        case "enum" | "literal_error":
            return Mistake(path, f"{error['input']!r} is not possible", f"expected {error['ctx']['expected']}")
        case _:
            return Mistake(path, error["msg"][:1].lower() + error["msg"][1:], "")


def _near_miss(path: Path) -> str:
    names = _names_at(path[:-1])
    close = difflib.get_close_matches(str(path[-1]), names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"known here: {', '.join(names)}"


def _names_at(path: Path) -> list[str]:
    """The fields that the mapping at `path` may have."""
    model: type[BaseModel] = ShiftDoor
    for part in path:
        if part in SHAPES:
            model = SHAPES[str(part)]
        elif isinstance(part, str):
            field = next(each for name, each in model.model_fields.items() if part in (each.alias, name))
            model = next(_models(field.annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The doors that an annotation names, however deep: those of a list, of what may be left out."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)
