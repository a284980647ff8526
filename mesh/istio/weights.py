"""Which bytes of a person's VirtualService change for a new split? Only the weights of one route.

`route_view` reads a route, `weight_patch` decides its new weights, `splice` writes them into the text: every byte that
isn't a weight of that route stays, whatever the style of the document. What can't be written without changing bytes
that mean something else as well (aliases, merge keys, shared anchors) is refused.

Rejected: dumping the data again. Every YAML dumper loses comments, quotes, order or numbers of somebody.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mesh.istio.document import Document, read_documents
from mesh.istio.hosts import full_name
from mesh.istio.problem import MissingDestination, RouteNotFound, StalePatch, WeightRefused
from mesh.istio.splice import edited, weight_edits
from mesh.istio.yaml_nodes import Data
from mesh.istio.yaml_scalars import whole_number
from mesh.traffic import RouteRef, TrafficSplit

HANDS_OFF = "tidegate.dev/hands-off"
DEFAULT_RETRIES = 2
TOTALS = (100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class DestinationWeight:
    """One destination of a route. `host` is fully qualified; `weight` is None when the document gives none."""

    host: str
    subset: str
    port: int | None
    weight: int | None


@dataclass(frozen=True, slots=True)
class RouteView:
    """One route as it stands in a document: its destinations in document order.

    `retries` is how often the route repeats a failed try (2 when the document is silent, 0 when switched off).
    `hands_off` is True when the document carries the annotation `tidegate.dev/hands-off: "true"`.
    """

    ref: RouteRef
    index: int
    revision: str
    destinations: tuple[DestinationWeight, ...]
    retries: int
    hands_off: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class WeightPatch:
    """New weights for one route, valid only while its destinations and weights are still `expected`.

    `raises` is True when the canary gets a larger share than it had.
    """

    ref: RouteRef
    index: int
    expected: tuple[DestinationWeight, ...]
    weights: tuple[int, ...]
    raises: bool = False


def route_view(document: Document, ref: RouteRef) -> RouteView:
    """The route that `ref` names, as it stands in the document. Raises RouteNotFound, WeightRefused."""
    index, route = _find_route(document, ref)
    destinations = tuple(_destination(document, ref, entry) for entry in route["route"])
    return RouteView(
        ref=ref,
        index=index,
        revision=document.revision,
        destinations=destinations,
        retries=_retries(route.get("retries")),
        hands_off=_hands_off(document.data["metadata"]),
        file=document.file,
        line=document.place(("spec", "http", index)).line,
    )


def configured_share(view: RouteView, split: TrafficSplit) -> Fraction:
    """The canary's share of what stable and canary get together, as the document stands; 0 when both get nothing."""
    names = [_version_of(view, split, destination) for destination in view.destinations]
    if len(names) == 1:
        return Fraction(names == [split.canary])
    weights = [(name, destination.weight or 0) for name, destination in zip(names, view.destinations, strict=True)]
    canary = sum(weight for name, weight in weights if name == split.canary)
    both = canary + sum(weight for name, weight in weights if name == split.stable)
    return Fraction(canary, both) if both else Fraction(0)


def weight_patch(view: RouteView, split: TrafficSplit) -> WeightPatch | None:
    """New weights for the split, or None when the document already gives it.

    Without other weighted destinations the total is the smallest of TOTALS that is exact; with some, stable and canary
    divide the sum that they have, so that nobody else's share moves.
    Raises: MissingDestination, WeightRefused
    """
    stable, canary = _positions(view, split)
    old = [destination.weight or 0 for destination in view.destinations]
    both = old[stable] + old[canary]
    others = sum(old) - both
    if both and Fraction(old[canary], both) == split.canary_share:
        return None
    new = list(old)
    new[canary] = (
        _part_of_own_sum(view, split, both) if others else _part(split.canary_share, _total(split.canary_share))
    )
    new[stable] = (both if others else _total(split.canary_share)) - new[canary]
    raises = split.canary_share > (Fraction(old[canary], both) if both else 0)
    return None if new == old else WeightPatch(view.ref, view.index, view.destinations, tuple(new), raises)


def splice(document: Document, patch: WeightPatch) -> bytes:
    """The document's text with the patch's weights: nothing else differs, in bytes or in meaning.

    Raises: StalePatch when the route is no longer what the patch saw, WeightRefused
    """
    _refuse_stale(document, patch)
    _refuse_impossible(patch)
    pairs = zip(patch.expected, patch.weights, strict=True)
    changed = {at: new for at, (old, new) in enumerate(pairs) if (old.weight or 0) != new}
    edits = weight_edits(document, ("spec", "http", patch.index, "route"), changed)
    text = edited(document.text.decode(), edits).encode()
    _refuse_side_effects(document, patch, text)
    return text


def replace_document(file: bytes, document: Document, text: bytes) -> bytes:
    """The file's bytes with the document's text replaced. Raises StalePatch when the file no longer holds it."""
    starts = [at for at in _occurrences(file, document) if _stands_alone(file, at, document.text)]
    if document.offset in starts:
        starts = [document.offset]
    if len(starts) != 1:
        raise StalePatch(f"{document.file} no longer holds {document} as it was read", "read the file again")
    return file[: starts[0]] + text + file[starts[0] + len(document.text) :]


def _find_route(document: Document, ref: RouteRef) -> tuple[int, Mapping[str, Data]]:
    if document.key != ("VirtualService", ref.namespace, ref.virtual_service):
        raise RouteNotFound(f"{document} is not VirtualService {ref.namespace}/{ref.virtual_service}")
    routes = _routes(document)
    found = [at for at, route in enumerate(routes) if ref.route is None or route.get("name") == ref.route]
    if len(found) != 1:
        raise _not_one(document, ref, routes, len(found))
    route = routes[found[0]]
    entries = route.get("route")
    if not isinstance(entries, list) or not entries:
        raise RouteNotFound(f"{ref} has no destinations", "only a route with a list of destinations has weights")
    return found[0], route


def _routes(document: Document) -> list[Mapping[str, Data]]:
    spec = document.data.get("spec")
    routes = spec.get("http") if isinstance(spec, dict) else None
    return [route if isinstance(route, dict) else {} for route in routes] if isinstance(routes, list) else []


def _not_one(document: Document, ref: RouteRef, routes: Sequence[Mapping[str, Data]], found: int) -> RouteNotFound:
    names = [
        str(route.get("name") or f"(unnamed, line {document.place(('spec', 'http', at)).line})")
        for at, route in enumerate(routes)
    ]
    if not routes:
        return RouteNotFound(f"{ref.namespace}/{ref.virtual_service} has no HTTP routes")
    hint = "its routes: " + ", ".join(names)
    if found > 1 and ref.route is None:
        return RouteNotFound(f"{ref} has {found} routes, and none is named", hint)
    what = f"is there {found} times" if found else "doesn't exist"
    return RouteNotFound(f"{ref} {what}", hint)


def _destination(document: Document, ref: RouteRef, entry: Data) -> DestinationWeight:
    destination = entry.get("destination") if isinstance(entry, dict) else None
    if not isinstance(destination, dict) or not isinstance(destination.get("host"), str):
        raise WeightRefused(f"{ref} has a destination without a host", f"see {document.file}")
    port = destination.get("port")
    number = port.get("number") if isinstance(port, dict) else None
    return DestinationWeight(
        host=full_name(destination["host"], document.namespace),
        subset=str(destination.get("subset") or ""),
        port=number if isinstance(number, int) else None,
        weight=_weight(ref, entry.get("weight")),
    )


def _weight(ref: RouteRef, value: Data) -> int | None:
    found = whole_number(value)
    if value is not None and found is None:
        raise WeightRefused(f"{ref} has the weight {str(value)[:40]!r}", "a weight is a whole number")
    return found


def _retries(block: Data) -> int:
    if block is None:
        return DEFAULT_RETRIES
    attempts = block.get("attempts") if isinstance(block, dict) else None
    return max(attempts, 0) if isinstance(attempts, int) else 0


def _hands_off(metadata: Mapping[str, Data]) -> bool:
    annotations = metadata.get("annotations")
    return isinstance(annotations, dict) and annotations.get(HANDS_OFF) in ("true", True)


def _version_of(view: RouteView, split: TrafficSplit, destination: DestinationWeight) -> str | None:
    """The subset when the destination is of the split's host."""
    return destination.subset if destination.host == full_name(split.host, view.ref.namespace) else None


def _positions(view: RouteView, split: TrafficSplit) -> tuple[int, int]:
    if split.stable == split.canary:
        raise WeightRefused(f"stable and canary are both {split.stable}", "name two subsets")
    names = [_version_of(view, split, destination) for destination in view.destinations]
    missing = [name for name in (split.stable, split.canary) if name not in names]
    if missing:
        raise _missing(view, split, missing)
    twice = [name for name in (split.stable, split.canary) if names.count(name) > 1]
    if twice:
        raise WeightRefused(f"{view.ref} lists {split.host} {twice[0]} {names.count(twice[0])} times", "list it once")
    return names.index(split.stable), names.index(split.canary)


def _missing(view: RouteView, split: TrafficSplit, names: Sequence[str]) -> MissingDestination:
    lines = "".join(_entry_lines(view, split, name) for name in names)
    message = f"{view.ref} has no destination {split.host} {' and no '.join(names)}"
    return MissingDestination(
        message, f"add to its route list in {view.file}:{view.line}:\n{lines.rstrip()}", lines, tuple(names)
    )


def _entry_lines(view: RouteView, split: TrafficSplit, subset: str) -> str:
    host = full_name(split.host, view.ref.namespace)
    ports = [peer.port for peer in view.destinations if peer.host == host and peer.port is not None]
    port = f"    port: {{number: {ports[0]}}}\n" if ports else ""
    weight = 0 if subset == split.canary else 100
    return f"- destination:\n    host: {split.host}\n    subset: {subset}\n{port}  weight: {weight}\n"


def _total(share: Fraction) -> int:
    return next((total for total in TOTALS if (share * total).denominator == 1), TOTALS[-1])


def _part(share: Fraction, total: int) -> int:
    """The nearest whole part of `total`; one that was neither nothing nor everything doesn't become it."""
    nearest = _nearest(share, total)
    return min(max(nearest, 1), total - 1) if 0 < share < 1 else nearest


def _nearest(share: Fraction, total: int) -> int:
    """Rounds to the nearest, halves towards stable."""
    exact = share * total
    whole = exact.numerator // exact.denominator
    return whole + (exact - whole > Fraction(1, 2))


def _part_of_own_sum(view: RouteView, split: TrafficSplit, both: int) -> int:
    part = _nearest(split.canary_share, both)
    if (part in (0, both) and 0 < split.canary_share < 1) or (not both and split.canary_share):
        message = f"{view.ref}: {split.stable} and {split.canary} have a weight of {both} together, beside others"
        hint = "multiply all weights of the route by 100" if both else "give stable a weight"
        raise WeightRefused(f"{message}; a canary share of {split.canary_share} can't be written with it", hint)
    return part


def _refuse_stale(document: Document, patch: WeightPatch) -> None:
    try:
        view = route_view(document, patch.ref)
    except RouteNotFound as error:
        raise StalePatch(error.message, error.hint) from error
    if (view.index, view.destinations) != (patch.index, patch.expected):
        raise StalePatch(f"{patch.ref} has changed since its weights were read", "read it again")


def _refuse_impossible(patch: WeightPatch) -> None:
    if len(patch.weights) != len(patch.expected):
        raise WeightRefused(f"{patch.ref} has {len(patch.expected)} destinations, not {len(patch.weights)}")
    if min(patch.weights) < 0 or not 0 < sum(patch.weights) < 1 << 31:
        raise WeightRefused(f"{patch.ref} can't have the weights {patch.weights}", "their sum must be above 0")


def _refuse_side_effects(document: Document, patch: WeightPatch, text: bytes) -> None:
    """Reads the new text back: it must say the same but for the weights asked for."""
    after, problems = read_documents(document.file, text)
    if len(after) == 1 and not problems and _without_weights(after[0], patch) == _without_weights(document, patch):
        weights = tuple(destination.weight or 0 for destination in route_view(after[0], patch.ref).destinations)
        if weights == patch.weights:
            return
    raise WeightRefused(f"{patch.ref}: its weights can't be changed in place", "write them as plain numbers")


def _without_weights(document: Document, patch: WeightPatch) -> Data:
    spec = document.data["spec"]
    route = spec["http"][patch.index]
    entries = [{name: value for name, value in entry.items() if name != "weight"} for entry in route["route"]]
    routes = [*spec["http"]]
    routes[patch.index] = {**route, "route": entries}
    return {**document.data, "spec": {**spec, "http": routes}}


def _occurrences(file: bytes, document: Document) -> Iterator[int]:
    at = file.find(document.text)
    while at >= 0:
        yield at
        at = file.find(document.text, at + 1)


def _stands_alone(file: bytes, at: int, text: bytes) -> bool:
    """Does this stretch of the file begin and end where a document does?"""
    behind = file[at + len(text) :]
    begins = at == 0 or text.startswith((b"---", b"%"))
    return begins and (not behind or behind.startswith((b"---", b"%")))
