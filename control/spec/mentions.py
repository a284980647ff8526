"""What of the mesh does a text name: which routes, which versions? As far as it can be read, beside its mistakes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import ValidationError

from control.spec.door import RouteDoor
from control.spec.quantity import parse_host, parse_label
from control.spec.raw import at, readable, shares
from control.spec.shift import full_host
from control.spec.text import Path
from mesh.traffic import RouteRef, TrafficSplit


@dataclass(frozen=True, slots=True)
class Mention:
    """A route that the text names, and its path in the text."""

    ref: RouteRef
    path: Path


@dataclass(frozen=True, slots=True)
class Mentions:
    """What is malformed is left out; `splits` (a step each) is empty when host, stable or canary is."""

    routes: tuple[Mention, ...] = ()
    splits: tuple[TrafficSplit, ...] = ()


def mentions(document: object) -> Mentions:
    """What the plain data of a TrafficShift names, whatever else is wrong with it."""
    if not isinstance(document, Mapping):
        return Mentions()
    spec = at(document, "spec")
    namespace = readable(parse_label, at(document, "metadata").get("namespace", "default"))
    return Mentions(tuple(_routes(at(spec, "target").get("routes"), namespace)), tuple(_splits(spec, namespace)))


def _routes(routes: object, namespace: str | None) -> Iterator[Mention]:
    for index, each in enumerate(routes if isinstance(routes, list) else []):
        try:
            door = RouteDoor.model_validate(each)
        except ValidationError:
            continue
        home = door.namespace or namespace
        if home is not None:
            yield Mention(RouteRef(home, door.virtual_service, door.route), ("spec", "target", "routes", index))


def _splits(spec: Mapping[str, Any], namespace: str | None) -> Iterator[TrafficSplit]:
    host = readable(parse_host, at(spec, "target").get("host"))
    stable, canary = (readable(parse_label, spec.get(name)) for name in ("stable", "canary"))
    if host is None or namespace is None or stable is None or canary is None or stable == canary:
        return
    for share in sorted({*shares(at(spec, "strategy")), Fraction(1)}):
        yield TrafficSplit(full_host(host, namespace), stable, canary, share)
