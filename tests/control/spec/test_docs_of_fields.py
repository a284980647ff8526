"""docs/shifts.md says everything about the fields: all of them, with their defaults, in examples that are shifts."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from control.spec import BuiltIn, HistogramQuery, Metric, UserMetric, from_document, parse_shift, to_document
from control.spec.door import SpecDoor
from control.spec.laws_metrics import margin_text
from control.spec.metric import BUILT_IN
from tests.support.spec_shifts import SHORT

PAGE = (Path(__file__).parents[3] / "docs" / "shifts.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([\w.\[\]]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """The path of each field that has a value, `[]` for the members of a list."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        inner = list(_models(field.annotation))
        dot = "[]." if "list" in str(field.annotation) else "."
        yield from (path,) if not inner else (found for each in inner for found in fields(each, path + dot))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


def defaults(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """What stands where nothing is given, as it is written down."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from defaults(value, f"{prefix}{name}.")
        elif value and not (isinstance(value, list) and isinstance(value[0], Mapping)):
            yield f"{prefix}{name}", ", ".join(value) if isinstance(value, list) else str(value)


KNOWN = sorted(set(fields(SpecDoor)))
WRITTEN = dict(defaults(to_document(parse_shift(SHORT.encode(), "x"))["spec"]))
OWN = UserMetric("your own", HistogramQuery(""))
GIVEN = ("target.host", "stable", "canary")


@pytest.mark.parametrize("path", KNOWN)
def test_a_field_is_explained(path: str) -> None:
    assert path in ROWS, "explain it in the table of docs/shifts.md"


def test_nothing_else_is_explained_as_a_field() -> None:
    sections = {path.rpartition("[]")[0] or path for path in KNOWN} | {"attempts", "abandoned", "latency", "outcomes"}
    kinds = {"ratio", "histogram", "gauge"}
    assert set(ROWS) - set(KNOWN) - sections - kinds == set()


@pytest.mark.parametrize("path", [each for each in WRITTEN if each not in GIVEN])
def test_a_default_is_told(path: str) -> None:
    assert ROWS[path] == WRITTEN[path]


@pytest.mark.parametrize(
    "metric", [*BUILT_IN.values(), UserMetric("your own", HistogramQuery(""))], ids=lambda each: each.name
)
def test_a_metrics_defaults_are_told(metric: Metric) -> None:
    name = f"`{metric.name}`" if isinstance(metric, BuiltIn) else metric.name
    margins = (margin_text(each).replace("%", " %") for each in (metric.tolerance, metric.proof))
    row = re.search(rf"^\| {name} \| [^|]* \| (.*) \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert row[1] == " | ".join((*margins, f"{metric.weight:g}"))


def test_the_weights_of_the_built_in_metrics_are_told_in_their_order() -> None:
    assert ROWS["metrics[].weight"] == ", ".join(f"{each.weight:g}" for each in BUILT_IN.values())


def test_there_are_defaults_to_tell() -> None:
    assert {"alpha", "strategy.rungs", "strategy.bake.for", "return.over", "blindFor"} <= set(WRITTEN)


@pytest.mark.parametrize("text", BLOCKS, ids=lambda text: str(text)[:30].strip())
def test_an_example_is_a_shift(text: str) -> None:
    example = yaml.safe_load(text)
    whole = yaml.safe_load(SHORT)
    assert from_document({**whole, **example, "spec": {**whole["spec"], **example["spec"]}})
