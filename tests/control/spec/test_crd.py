"""The custom resource definition: made from the models, and never stale."""

import pytest

from control.spec.crd import definition
from tests.support.generated_manifests import FILES, MANIFESTS


@pytest.mark.parametrize("name", FILES)
def test_the_manifest_is_what_the_models_say(name: str) -> None:
    assert (MANIFESTS / name).read_text(encoding="utf-8") == FILES[name](), "stale: run `make docs`"


def columns() -> dict[str, str]:
    version = definition()["spec"]["versions"][0]
    return {each["name"]: each["jsonPath"] for each in version["additionalPrinterColumns"]}


def test_the_columns_tell_where_a_shift_is() -> None:
    assert list(columns())[:6] == ["Phase", "Step", "Share", "Observed", "Verdict", "Age"]


def schemas(node: object) -> list[dict[str, object]]:
    if isinstance(node, dict):
        return [node, *(each for value in node.values() for each in schemas(value))]
    return [each for value in node for each in schemas(value)] if isinstance(node, list) else []


@pytest.mark.parametrize("word", ["$ref", "definitions"])
def test_the_schema_is_structural(word: str) -> None:
    version = definition()["spec"]["versions"][0]
    assert [each for each in schemas(version["schema"]) if word in each] == []


def test_every_field_of_the_spec_is_explained() -> None:
    spec = definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    silent = [name for name, field in spec["properties"].items() if not field.get("description")]
    assert silent == []
