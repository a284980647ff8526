"""How does a Kubernetes cluster know a TrafficShift? Its custom resource definition, made from the models of the door.

A structural schema has no references and no alternatives: what a field can be is merged into one object, and rules in
CEL say what goes with what.
"""

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from control.spec.cel import ruled
from control.spec.crd_rules import MORE, RULES
from control.spec.crd_status import STATUS
from control.spec.door import SpecDoor
from control.spec.field_words import WORDS
from control.spec.schema_values import LABEL, Schema
from control.spec.shift import API_VERSION, KIND, Target, TrafficShift, to_document

GROUP, _, VERSION = API_VERSION.partition("/")
PLURAL = "trafficshifts"
NAME = f"{PLURAL}.{GROUP}"
_KEPT = (
    *("type", "format", "pattern", "enum", "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength"),
    *("minItems", "maxItems", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"),
)
_COLUMNS = (
    ("Phase", "string", ".status.phase", "Where the shift is", 0),
    ("Step", "integer", ".status.step", "How many shares the canary has had", 0),
    ("Share", "string", ".status.configured", "The canary's share as the mesh's documents say", 0),
    ("Observed", "string", ".status.observed", "The canary's share as it was counted", 0),
    ("Verdict", "string", ".status.verdict", "What the evidence says", 0),
    ("Age", "date", ".metadata.creationTimestamp", "", 0),
    ("Stable", "string", ".spec.stable", "The version that serves now", 1),
    ("Canary", "string", ".spec.canary", "The version that is to serve", 1),
    ("Reason", "string", ".status.reason", "Why it is where it is", 1),
)


class _Json(GenerateJsonSchema):
    """Defaults are the door's to fill in, so that an upgrade may change them: none is written down."""

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])


def definition() -> dict[str, Any]:
    """The CustomResourceDefinition as JSON."""
    names = {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": KIND.lower(), "shortNames": ["ts"]}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [_column(*each) for each in _COLUMNS],
        "schema": {"openAPIV3Schema": _schema()},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {**names, "categories": ["tidegate"]},
            "versions": [version],
        },
    }


def _column(name: str, kind: str, path: str, description: str, priority: int) -> dict[str, Any]:
    column = {"name": name, "type": kind, "jsonPath": path, "priority": priority}
    return {**column, "description": description} if description else column


def _schema() -> Schema:
    return {
        "type": "object",
        "description": "One move of a service's traffic from its stable version to the next, one step at a time.",
        "required": ["metadata", "spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": LABEL}},
            "spec": spec_schema(),
            "status": STATUS,
        },
    }


def spec_schema() -> Schema:
    whole = SpecDoor.model_json_schema(schema_generator=_Json)
    found = _Flattening(whole["$defs"], _defaults()).flat(whole, "")
    return {"description": "Which traffic moves from which version to which, how fast, and what is watched.", **found}


class _Flattening:
    def __init__(self, models: Mapping[str, Schema], defaults: Mapping[str, str]) -> None:
        self._models = models
        self._defaults = defaults

    def flat(self, schema: Schema, path: str) -> Schema:
        """The schema at `path` without references and alternatives."""
        shapes = [self._model(each) for each in self._shapes(schema)]
        found = {key: shapes[0][key] for key in _KEPT if key in shapes[0]} | MORE.get(path, {})
        if inner := _merged([each.get("properties", {}) for each in shapes]):
            found["properties"] = {name: self.flat(each, _below(path, name)) for name, each in inner.items()}
        if needed := [name for name in inner if all(name in each.get("required", ()) for each in shapes)]:
            found["required"] = needed
        if "items" in shapes[0]:
            found["items"] = self.flat(shapes[0]["items"], f"{path}[]")
        return ruled(self._described(found, path), *RULES[path]) if path in RULES else self._described(found, path)

    def _model(self, schema: Schema) -> Schema:
        return {**self._models[schema["$ref"].rpartition("/")[2]], **schema} if "$ref" in schema else schema

    def _shapes(self, schema: Schema) -> list[Schema]:
        """Every shape that is not nothing: an API server drops what is null."""
        options = schema.get("oneOf") or schema.get("anyOf") or [schema]
        return [each for each in options if each.get("type") != "null"]

    def _described(self, schema: Schema, path: str) -> Schema:
        if path not in WORDS:
            return schema
        default = f" Default: {self._defaults[path]}." if path in self._defaults else ""
        return {"description": WORDS[path] + default, **schema}


def _merged(shapes: list[dict[str, Schema]]) -> dict[str, Schema]:
    """The fields of all shapes; where they differ, the one that is no list of names allows the others."""
    found: dict[str, Schema] = {}
    for properties in shapes:
        for name, schema in properties.items():
            if name not in found or "pattern" in schema:
                found[name] = schema
    return found


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _defaults() -> dict[str, str]:
    """Path -> default, for those that are a word or a list of words."""
    shift = TrafficShift("x", "x", Target("x", ()), "", "")
    return dict(_words(to_document(shift)["spec"], ""))


def _words(document: Mapping[str, Any], path: str) -> Any:
    for name, value in document.items():
        below = _below(path, name)
        if isinstance(value, Mapping):
            yield from _words(value, below)
        elif value and not (isinstance(value, list) and isinstance(value[0], Mapping)):
            yield below, ", ".join(value) if isinstance(value, list) else str(value)
