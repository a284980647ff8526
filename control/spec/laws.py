"""Which values are each possible, but not together?

These laws look at the raw document and skip what is malformed, so that they report beside the door, not after it.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from control.spec.laws_metrics import metric_mistakes
from control.spec.laws_strategy import strategy_mistakes
from control.spec.mistake import Mistake
from control.spec.quantity import duration_text, parse_duration, parse_moment
from control.spec.raw import at, items, readable
from control.spec.shift import Source

OURS = ("name", "namespace", "labels", "annotations")
KUBERNETES = {
    *("uid", "resourceVersion", "generation", "generateName", "creationTimestamp", "deletionTimestamp"),
    *("deletionGracePeriodSeconds", "managedFields", "ownerReferences", "finalizers", "selfLink"),
}
"""What Kubernetes itself adds to metadata."""
ALIKE = 0.75


def mistakes(document: Mapping[str, Any]) -> Iterator[Mistake]:
    spec = at(document, "spec")
    yield from _misspelt_metadata(at(document, "metadata"))
    yield from _same_version(spec)
    yield from _repeated_routes(items(at(spec, "target"), "routes"))
    yield from strategy_mistakes(spec)
    yield from metric_mistakes(spec)
    yield from _blind_between_looks(spec)
    yield from _baseline(spec)


def _misspelt_metadata(metadata: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is unknown there is somebody else's, unless it is nearly a name that people write."""
    for key in metadata:
        if key in OURS or key in KUBERNETES:
            continue
        if close := get_close_matches(str(key), OURS, n=1, cutoff=ALIKE):
            yield Mistake(("metadata", str(key), ""), "no such field", f"did you mean {close[0]}?")


def _same_version(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    if spec.get("stable") is not None and spec.get("stable") == spec.get("canary"):
        yield Mistake(
            ("spec", "canary"),
            f"stable and canary are both {spec['canary']!r}",
            "a shift goes from one subset to another",
        )


def _repeated_routes(routes: list[Any]) -> Iterator[Mistake]:
    seen: set[str] = set()
    for index, route in enumerate(routes):
        text = json.dumps(route, sort_keys=True, default=str)
        if text in seen:
            yield Mistake(("spec", "target", "routes", index), "this route is named twice", "")
        seen.add(text)


def _blind_between_looks(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    blind = readable(parse_duration, spec.get("blindFor"))
    poll = readable(parse_duration, spec.get("poll", "5s"))
    if blind is not None and poll is not None and blind < 2 * poll:
        yield Mistake(
            ("spec", "blindFor"),
            f"{duration_text(blind)} is less than two looks, {duration_text(poll)} apart",
            f"give it {duration_text(2 * poll)} or more, or look more often (poll)",
        )


def _baseline(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    baseline = at(spec, "baseline")
    start, end = (readable(parse_moment, baseline.get(name)) for name in ("from", "to"))
    if start is not None and end is not None and end <= start:
        yield Mistake(("spec", "baseline", "to"), "it ends before it begins", "`from` is the earlier moment")
    if spec.get("baseline") is not None and spec.get("source", "mesh") == Source.MESH:
        yield Mistake(
            ("spec", "baseline"), "the proxies of the mesh remember nothing", "the past needs source: prometheus"
        )
