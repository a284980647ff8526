"""Which laws of a TrafficShift can an API server keep by itself? Those that CEL can say, by the place that they rule.

The rest (PromQL, edges beside their unit, what the mesh has) is for the door, which judges every shift once more.
"""

from collections.abc import Iterable
from typing import Any

from control.spec.cel import given, length_of, part_of, rising, rule
from control.spec.door_metrics import BUILT_IN_NAMES
from control.spec.laws_metrics import OF_RATES
from control.spec.metric import BUILT_IN, PROOF, TOLERANCE_OF_ONES_OWN, BuiltInName, Margin
from control.spec.strategy import EvidenceStrategy

Rules = tuple[dict[str, str], ...]
_USUAL = EvidenceStrategy()
_BY_STEPS = "(has(self.kind) && self.kind == 'steps')"
_OF_EVIDENCE = ("rungs", "bake", "first", "capacity")
_GAUGE = "(has(self.prometheus) && self.prometheus.kind == 'gauge')"


def _none(fields: Iterable[str]) -> str:
    return " && ".join(f"!has(self.{field})" for field in fields)


def _built_in() -> str:
    return f"self.name in [{', '.join(repr(name) for name in BUILT_IN_NAMES)}]"


def _usual(which: str, otherwise: Margin) -> str:
    """What a margin's extra is when nothing is given, which depends on the metric's name."""
    usual = {name.value: getattr(metric, which).extra for name, metric in BUILT_IN.items()}
    cases = (f"self.name == '{name}' ? {extra!r} : " for name, extra in usual.items() if extra != otherwise.extra)
    return f"({''.join(cases)}{otherwise.extra!r})"


def _extra(which: str, otherwise: Margin) -> str:
    return given(f"self.{which}.extra", part_of(f"self.{which}.extra"), _usual(which, otherwise))


def _ratio(which: str, otherwise: Margin) -> str:
    return given(f"self.{which}.ratio", f"self.{which}.ratio", repr(otherwise.ratio))


_TOLERANCE = (_ratio("tolerance", TOLERANCE_OF_ONES_OWN), _extra("tolerance", TOLERANCE_OF_ONES_OWN))
_PROOF = (_ratio("proof", PROOF), _extra("proof", PROOF))
_POLL = given("self.poll", length_of("self.poll"), "5.0")
_BAKE = given("self.strategy.bake.__for__", length_of("self.strategy.bake.__for__"), "600.0")
_FIRST = part_of("self.first")
_IS_FIRST = "(has(self.first) && self.first != 'auto')"
_LOWEST = f"({_IS_FIRST} ? {_FIRST} : {given('self.rungs', part_of('self.rungs[0]'), '0.001')})"
_HIGHEST = given("self.rungs", f"self.rungs.map(each, {part_of('each')}).max()", "0.5")
_BAKED_AT = given("self.bake.at", part_of("self.bake.at"), "0.2")
_NO_BAKE = given("self.bake.__for__", f"{length_of('self.bake.__for__')} == 0.0", "false")

SPEC: Rules = (
    rule("self.stable != self.canary", "stable and canary are the same: a shift goes from one subset to another"),
    rule(
        f"!has(self.blindFor) || {length_of('self.blindFor')} >= {_POLL} + {_POLL}",
        "blindFor is less than two looks: give it twice the time of poll, or look more often",
    ),
    rule(
        "!has(self.baseline) || (has(self.source) && self.source == 'prometheus')",
        "baseline: the proxies of the mesh remember nothing; the past needs source: prometheus",
    ),
    rule(
        "!has(self.changes) || size(self.changes) == 0 || !has(self.metrics) || (self.metrics.exists(each, "
        "each.name == 'latency') && self.metrics.exists(each, each.name == 'attempts'))",
        "what changes time-outs or retries must watch latency and attempts: failures alone would look better",
    ),
    rule(
        "!has(self.deadline) || (has(self.strategy) && has(self.strategy.kind) && self.strategy.kind == 'steps') || "
        f"{_BAKE} == 0.0 || {length_of('self.deadline')} > {_BAKE}",
        "the deadline is over before the bake is: give it more time, or bake for less (strategy.bake.for)",
    ),
)

STRATEGY: Rules = (
    rule(f"has(self.steps) == {_BY_STEPS}", "steps are for kind: steps, which needs them"),
    rule(f"{_BY_STEPS} || ({_none(('hold', 'minRequests'))})", "hold and minRequests are for kind: steps"),
    rule(f"!{_BY_STEPS} || ({_none(_OF_EVIDENCE)})", f"{', '.join(_OF_EVIDENCE)} are for kind: evidence"),
    rule(f"!{_IS_FIRST} || {_FIRST} <= {_HIGHEST}", "first is above the highest rung: begin lower, or add a rung"),
    rule(
        f"{_BY_STEPS} || {_NO_BAKE} || {_LOWEST} <= {_BAKED_AT}",
        "the canary begins above the share that it is to bake at: begin lower, bake higher (bake.at), or leave the "
        "bake out (bake.for: 0s)",
    ),
)

RISING: Rules = (rule(rising("self"), "each share must be larger than the one before"),)
STEPS: Rules = (
    *RISING,
    rule(f"{part_of('self[size(self) - 1]')} == 1.0", "the last step must be 100%"),
)

METRICS: Rules = (
    rule(
        "self.exists(each, !has(each.prometheus) || each.prometheus.kind != 'gauge')",
        "nothing here compares the two versions: a gauge proves nothing; add one that does, such as {name: outcomes}",
    ),
)

METRIC: Rules = (
    rule(
        f"has(self.prometheus) != ({_built_in()})",
        f"a metric is built in ({', '.join(BUILT_IN_NAMES)}), or has a name of your own and prometheus",
    ),
    rule("!has(self.direction) || has(self.prometheus)", "direction is for metrics of your own"),
    rule(f"!{_GAUGE} || ({_none(OF_RATES)})", f"a gauge is not compared with stable: it has no {', '.join(OF_RATES)}"),
    rule(
        f"{_GAUGE} || ({_PROOF[0]} >= {_TOLERANCE[0]} && {_PROOF[1]} >= {_TOLERANCE[1]})",
        "the proof margin is narrower than the tolerance: widen proof, or tolerate less",
    ),
    rule(
        f"{_GAUGE} || {_PROOF[0]} > 1.0 || {_PROOF[1]} > 0.0",
        "a margin of nothing can't be proven: give proof a ratio above 1, or an extra above 0%",
    ),
)

_FIELDS = {"ratio": ("bad", "total"), "histogram": ("buckets", "unit"), "gauge": ("value", "min", "max")}
_OF_KIND = {**_FIELDS, "gauge": (*_FIELDS["gauge"], "__for__", "onBreach")}
_NEEDED = {"ratio": ("bad", "total"), "histogram": ("buckets",), "gauge": ("value",)}


def _kind(kind: str) -> Rules:
    others = [field for other, fields in _OF_KIND.items() if other != kind for field in fields]
    others += ["by"] if kind == "gauge" else []
    needed = " && ".join(f"has(self.{field})" for field in _NEEDED[kind])
    return (
        rule(f"self.kind != '{kind}' || ({needed})", f"a {kind} needs {' and '.join(_NEEDED[kind])}"),
        rule(f"self.kind != '{kind}' || ({_none(others)})", f"a {kind} has no {', '.join(others).replace('__', '')}"),
    )


QUERY: Rules = (
    *(each for kind in _OF_KIND for each in _kind(kind)),
    rule(
        "self.kind != 'gauge' || has(self.min) || has(self.max)",
        "a gauge without min and max allows everything: say what it may be at least or most",
    ),
    rule("!(has(self.min) && has(self.max)) || self.min <= self.max", "max is below min: no value could be right"),
)

ROUTES: Rules = (rule("self.all(one, self.exists_one(other, one == other))", "a route is named twice"),)
BASELINE: Rules = (rule("self.from < self.to", "it ends before it begins: `from` is the earlier moment"),)

RULES: dict[str, Rules] = {
    "": SPEC,
    "strategy": STRATEGY,
    "strategy.rungs": RISING,
    "strategy.steps": STEPS,
    "metrics": METRICS,
    "metrics[]": METRIC,
    "metrics[].prometheus": QUERY,
    "target.routes": ROUTES,
    "baseline": BASELINE,
}
"""By path below spec; `[]` stands for the members of a list."""


def _only_with(field: str, name: str, value: str) -> dict[str, Any]:
    """What CEL can't say of a field that may be of several types, a schema can."""
    return {"anyOf": [{"not": {"required": [field]}}, {"properties": {name: {"enum": [value]}}}]}


MORE: dict[str, dict[str, Any]] = {
    "metrics": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    "metrics[]": _only_with("edges", "name", BuiltInName.LATENCY.value),
    "metrics[].prometheus": _only_with("edges", "kind", "histogram"),
}
"""More of the schema, by path."""
