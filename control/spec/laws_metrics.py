"""Which metrics can't be judged, or not beside each other? Which must be watched, given what the release changes?"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from control.spec.door_metrics import BUILT_IN_NAMES
from control.spec.door_values import parse_extra, parse_ratio
from control.spec.metric import BUILT_IN, PROOF, TOLERANCE_OF_ONES_OWN, BuiltInName, Margin, Unit
from control.spec.mistake import Mistake
from control.spec.promql_faults import Wanted, faults
from control.spec.quantity import parse_edge, parse_number, rate_text
from control.spec.raw import at, items, readable, readables
from control.spec.release import release_mistakes
from control.spec.text import Path

QUERIES = {
    "ratio": (("bad", Wanted.COUNTER), ("total", Wanted.COUNTER)),
    "histogram": (("buckets", Wanted.BUCKETS),),
    "gauge": (("value", Wanted.VALUE),),
}
OF_RATES = ("direction", "tolerance", "proof", "weight")


def metric_mistakes(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    metrics = [(index, each) for index, each in enumerate(items(spec, "metrics")) if isinstance(each, Mapping)]
    yield from _names(metrics)
    yield from _nothing_compared(metrics)
    for index, metric in metrics:
        path: Path = ("spec", "metrics", index)
        if not _is_gauge(metric):
            yield from _margins(metric, path)
        yield from _edges(metric.get("edges"), (*path, "edges"), parse_edge)
        yield from _query(metric, path)
    watched = [str(each.get("name")) for _, each in metrics] if isinstance(spec.get("metrics"), list) else None
    yield from release_mistakes(items(spec, "changes"), BUILT_IN_NAMES if watched is None else watched)


def _names(metrics: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Mistake]:
    seen: set[str] = set()
    for index, metric in metrics:
        name, path = metric.get("name"), ("spec", "metrics", index, "name")
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Mistake(path, f"there are two metrics named {name!r}", "each needs a name of its own")
        elif name in BUILT_IN_NAMES and "prometheus" in metric:
            yield Mistake(path, f"{name!r} is built in", "give your own metric another name, or leave prometheus out")
        seen.add(name)


def _nothing_compared(metrics: list[tuple[int, Mapping[str, Any]]]) -> Iterator[Mistake]:
    if metrics and all(_is_gauge(metric) for _, metric in metrics):
        yield Mistake(
            ("spec", "metrics"),
            "nothing here compares the two versions: a gauge proves nothing",
            "add one that does, such as {name: outcomes}",
        )


def _is_gauge(metric: Mapping[str, Any]) -> bool:
    return at(metric, "prometheus").get("kind") == "gauge"


def _margins(metric: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    """What is proven must be wider than what is tolerated, or nothing tolerable could ever be proven."""
    tolerance = _margin(at(metric, "tolerance"), _usual(metric)[0])
    proof = _margin(at(metric, "proof"), _usual(metric)[1])
    if tolerance is None or proof is None:
        return
    place = (*path, "proof" if "proof" in metric else "tolerance")
    if proof.ratio < tolerance.ratio or proof.extra < tolerance.extra:
        yield Mistake(
            place,
            f"the proof margin ({margin_text(proof)}) is narrower than the tolerance ({margin_text(tolerance)})",
            "widen proof, or tolerate less",
        )
    elif proof.ratio == 1 and proof.extra == 0:
        yield Mistake(place, "a margin of nothing can't be proven", "give proof a ratio above 1, or an extra above 0%")


def _usual(metric: Mapping[str, Any]) -> tuple[Margin, Margin]:
    if metric.get("name") in BUILT_IN_NAMES:
        usual = BUILT_IN[BuiltInName(metric["name"])]
        return usual.tolerance, usual.proof
    return TOLERANCE_OF_ONES_OWN, PROOF


def _margin(data: Mapping[str, Any], usual: Margin) -> Margin | None:
    ratio = usual.ratio if data.get("ratio") is None else readable(parse_ratio, data["ratio"])
    extra = usual.extra if data.get("extra") is None else readable(parse_extra, data["extra"])
    return None if ratio is None or extra is None else Margin(ratio, extra)


def margin_text(margin: Margin) -> str:
    """Example: 1.1 x stable + 0.05%."""
    return f"{margin.ratio:g} x stable + {rate_text(margin.extra)}"


def _edges(edges: object, path: Path, parse: Any) -> Iterator[Mistake]:
    for (_, before), (index, edge) in pairwise(readables(parse, edges)):
        if edge <= before:
            yield Mistake((*path, index), "it is not above the edge before it", "write edges in rising order")


def _query(metric: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    query, inside = at(metric, "prometheus"), (*path, "prometheus")
    kind = query.get("kind")
    for field, wanted in QUERIES.get(kind, ()) if isinstance(kind, str) else ():
        if isinstance(text := query.get(field), str):
            yield from (Mistake((*inside, field), each.message, each.hint) for each in faults(text, wanted))
    match kind:
        case "histogram":
            yield from _edges_of_histogram(query, (*inside, "edges"))
        case "gauge":
            yield from _limits(query, inside)
            yield from _of_rates(metric, path)
        case _:
            pass


def _edges_of_histogram(query: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    plain = query.get("unit") == Unit.NONE
    for index, edge in enumerate(items(query, "edges")):
        if plain == isinstance(edge, str):
            hint = "unit: none is for what is no time: write plain numbers" if plain else "write it as 100ms or 2s"
            yield Mistake((*path, index), f"{edge!r} does not fit the unit", hint)
    yield from _edges(query.get("edges"), path, parse_number if plain else parse_edge)


def _limits(query: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    if query.get("min") is None and query.get("max") is None:
        yield Mistake(path, "a gauge without min and max allows everything", "say what it may be at least or most")
    low, high = (readable(parse_number, query.get(name)) for name in ("min", "max"))
    if low is not None and high is not None and low > high:
        yield Mistake((*path, "max"), f"max {high:g} is below min {low:g}", "no value could be right")


def _of_rates(metric: Mapping[str, Any], path: Path) -> Iterator[Mistake]:
    for name in OF_RATES:
        if name in metric:
            yield Mistake((*path, name, ""), "a gauge is not compared with stable, and has none", "leave it out")
