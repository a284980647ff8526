"""Can a person's PromQL be what they say it is: a counter, buckets, a value? Checked offline, before anything asks.

Counters are differenced here, with exact windows and every restart seen. That needs the counters themselves: rate() and
increase() extrapolate over windows that overlap, and a sum over processes hides that one of them began anew.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import promql_parser as promql

from control.spec.promql import rendered, variables_in

MOST_SIGNS = 60
"""The parser takes seconds for some thousand operators, and a person's query has a handful."""
EXAMPLES = {"namespace": "shop", "host": "cart", "service": "cart", "version": "v2", "interval": "5s"}
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`", re.DOTALL)
_SIGNS = re.compile(r"[-+*/%^([<>=!,]|\b(?:and|or|unless)\b")
_ADDING = frozenset({"+", "-", "or"})
_RELABELLING = frozenset({"label_replace", "label_join"})


class Wanted(StrEnum):
    """What a query must bring."""

    COUNTER = "counter"
    BUCKETS = "buckets"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the query can't be what is wanted, and what to do."""

    message: str
    hint: str = ""


def faults(query: str, wanted: Wanted) -> Iterator[Fault]:
    """Everything that is wrong with the query. Example: `rate(hits{v="{{ version }}"}[1m])` is no counter."""
    tree = _parsed(query)
    if isinstance(tree, Fault):
        yield tree
        return
    if "version" not in variables_in(query):
        yield Fault(
            "it does not say whose numbers it wants: both versions would get the same",
            'name the version, such as {version="{{ version }}"}',
        )
    if not _brings_series(tree):
        yield Fault("it brings no series of now", "select a metric, such as cache_misses_total{...}")
    elif wanted is not Wanted.VALUE:
        yield from _hidden_counters(tree)
    if wanted is Wanted.BUCKETS:
        yield from _no_buckets(tree)


def _parsed(query: str) -> Any:
    """The tree, or why there is none."""
    if len(_SIGNS.findall(_STRING.sub('""', query))) > MOST_SIGNS:
        return Fault("it is too long to be checked", "give it a name with a recording rule")
    try:
        return promql.parse(rendered(query, EXAMPLES))
    except ValueError as error:
        message = str(error)
        return Fault(message if "variable" in message or "{{" in message else f"not valid PromQL: {message}")


def _nodes(tree: Any) -> list[Any]:
    found: list[Any] = []
    promql.walk(tree, found.append)
    return found


def _brings_series(tree: Any) -> bool:
    match tree:
        case promql.ParenExpr():
            return _brings_series(tree.expr)
        case promql.Call():
            return bool(tree.func.return_type == promql.ValueType.Vector) and _selects(tree)
        case promql.NumberLiteral() | promql.StringLiteral() | promql.MatrixSelector() | promql.SubqueryExpr():
            return False
        case _:
            return _selects(tree)


def _selects(tree: Any) -> bool:
    return any(isinstance(each, promql.VectorSelector | promql.MatrixSelector) for each in _nodes(tree))


def _hidden_counters(tree: Any) -> Iterator[Fault]:
    """What changes a counter before it can be differenced."""
    seen: set[str] = set()
    for node in _nodes(tree):
        fault = _hiding(node)
        if fault is not None and fault.message not in seen:
            seen.add(fault.message)
            yield fault


def _hiding(node: Any) -> Fault | None:
    match node:
        case promql.Call() if node.func.name not in _RELABELLING:
            return Fault(
                f"{node.func.name}() changes the counter",
                "give the counter itself: it is differenced here, with exact windows",
            )
        case promql.AggregateExpr():
            return Fault(
                f"{node.op}() hides a process that began anew",
                "leave it out: the series are differenced one by one, then added up",
            )
        case promql.BinaryExpr() if str(node.op) not in _ADDING:
            return Fault(f"what `{node.op}` makes is no counter", "give the counter itself; they may be added")
        case promql.VectorSelector() if node.offset is not None or node.at is not None:
            return Fault("it asks for the past", "leave offset and @ out: counters are read as they are now")
        case _:
            return None


def _no_buckets(tree: Any) -> Iterator[Fault]:
    selectors = [node for node in _nodes(tree) if isinstance(node, promql.VectorSelector)]
    if any(_matches(each, lambda matcher: matcher.name == "le") for each in selectors):
        yield Fault("it picks buckets by their edge", "leave le out: all buckets are needed, and `edges` picks")
    names = [name for each in selectors if (name := _name(each))]
    if names and not any("bucket" in name for name in names):
        yield Fault(f"{names[0]} has no label le", f"ask for the buckets of a histogram, such as {names[0]}_bucket")


def _name(selector: Any) -> str:
    named = [matcher.value for matcher in selector.matchers.matchers if matcher.name == "__name__"]
    return str(selector.name or next(iter(named), ""))


def _matches(selector: Any, wanted: Callable[[Any], bool]) -> bool:
    groups = [selector.matchers.matchers, *selector.matchers.or_matchers]
    return any(wanted(matcher) for group in groups for matcher in group)
