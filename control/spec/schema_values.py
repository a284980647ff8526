"""How does each single value that people write look to a JSON schema?"""

from datetime import timedelta
from typing import Any

from control.spec.cel import length_of, part_of, rule, ruled, seconds

Schema = dict[str, Any]
LABEL_PATTERN = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_DURATION = r"([0-9]+(\.[0-9]+)?d)?([0-9]+(\.[0-9]+)?(ms|s|m|h))+|[0-9]+(\.[0-9]+)?d"
_RATIO = r"[0-9]{1,9}\s*/\s*[0-9]{1,9}"
_SHARE = rf"[0-9]{{1,9}}(\.[0-9]{{1,9}})?\s*%|{_RATIO}"
_RATE = rf"[0-9]{{1,9}}(\.[0-9]{{1,40}})?\s*%|{_RATIO}"
ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
"""A value that may be of several types: a schema without one."""

LABEL: Schema = {"type": "string", "pattern": f"^{LABEL_PATTERN}$", "maxLength": 63}
HOST: Schema = {"type": "string", "pattern": rf"^{LABEL_PATTERN}(\.{LABEL_PATTERN})*$", "maxLength": 253}
QUERY: Schema = {"type": "string", "pattern": r"\S", "minLength": 1, "maxLength": 4096}
LABEL_NAME: Schema = ruled(
    {"type": "string", "pattern": "^[a-zA-Z_][a-zA-Z0-9_]{0,62}$", "maxLength": 63},
    rule("self != 'le'", "'le' tells buckets apart, not who asked: name another label"),
)
MOMENT: Schema = {"type": "string", "format": "date-time"}
NUMBER: Schema = {"type": "number", "minimum": -1e15, "maximum": 1e15}
RATIO: Schema = {"type": "number", "minimum": 1, "maximum": 100}
WEIGHT: Schema = {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1e6}
BUDGET: Schema = {**ANYTHING, "pattern": "^auto$", "minimum": 0, "exclusiveMinimum": True, "maximum": 1e9}
EDGES: Schema = {**ANYTHING, "pattern": "^auto$", "minItems": 1, "maxItems": 3}


def duration(low: timedelta, high: timedelta) -> Schema:
    message = f"not between {low.total_seconds():g} s and {high.total_seconds():g} s"
    within = f"{length_of('self')} >= {seconds(low)} && {length_of('self')} <= {seconds(high)}"
    return ruled({"type": "string", "pattern": f"^({_DURATION})$", "maxLength": 32}, rule(within, message))


def share(below: str = "<= 1.0", message: str = "not above 0% and at most 100%") -> Schema:
    return _part(_SHARE, 32, f">= 0.000001 && {part_of('self')} {below}", message)


def rate(bounds: str, message: str) -> Schema:
    """`bounds` compares the number with the left one, as in `< 1.0`, and goes on with any other."""
    return _part(_RATE, 64, bounds, message)


def chance(highest: float) -> Schema:
    return rate(f"> 0.0 && {part_of('self')} <= {highest!r}", f"not above 0% and at most {highest * 100:g}%")


def or_auto(schema: Schema) -> Schema:
    """The same, or the word auto."""
    rules = [{**each, "rule": f"self == 'auto' || ({each['rule']})"} for each in schema["x-kubernetes-validations"]]
    pattern = f"^(auto|{schema['pattern'].removeprefix('^').removesuffix('$')})$"
    return {**schema, "pattern": pattern, "x-kubernetes-validations": rules}


def _part(pattern: str, longest: int, bounds: str, message: str) -> Schema:
    schema = {"type": "string", "pattern": f"^({pattern})$", "maxLength": longest}
    return ruled(schema, rule(f"{part_of('self')} {bounds}", message))


RUNG = share("< 1.0", "not above 0% and below 100%: all traffic is what follows the last rung")
BAKE_AT = share("<= 0.95", "above 95%: that leaves stable too little to compare with")
EXTRA = rate("< 1.0", "100% would tolerate everything")
PART = rate(
    f"> 0.0 && {part_of('self')} < 1.0", "not above 0% and below 100%: an objective leaves some requests to fail"
)
