"""What does a VirtualService of the cluster say of a route, and which patch gives it new weights? Pure.

The patch proves, before it writes, that the route is still what was seen: its name, its destinations, its weights. It
does not ask for a resource version: somebody who writes annotations again and again must not keep a canary's traffic
from going back. Where the canary gets *more*, the document's generation is asked for too, so that a controller that
slept through its successor's decisions can never raise a weight on what it knew once.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from control.adapters.kubernetes.api import Json
from control.errors import Rejected
from mesh.istio.document import Document, read_documents
from mesh.istio.weights import DestinationWeight, RouteView, WeightPatch, route_view
from mesh.traffic import RouteRef

UNREAD = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink")


@dataclass(frozen=True, slots=True)
class Held:
    """A document of the cluster: as data with places, and the numbers that the API server gives it.

    `generation` grows with every change of its spec. `spec` is the raw one, for patches.
    """

    document: Document | None
    spec: Json
    generation: int
    trouble: str = ""


def held(item: Json) -> Held:
    """What we keep of an object of Istio's."""
    metadata = {name: value for name, value in item["metadata"].items() if name not in UNREAD}
    metadata["annotations"] = {
        name: value for name, value in metadata.get("annotations", {}).items() if name.startswith("tidegate.dev/")
    }
    shown = {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, "spec": item.get("spec", {})}
    name = f"{item['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
    documents, problems = read_documents(name, json.dumps(shown, ensure_ascii=False).encode())
    found = documents[0] if len(documents) == 1 else None
    trouble = "" if found else "; ".join(problem.message for problem in problems)
    return Held(found, item.get("spec", {}), int(item["metadata"].get("generation", 0)), trouble)


def view(found: Held, ref: RouteRef) -> RouteView:
    """The route that `ref` names. Its revision is the document's generation. Raises DocumentError, Rejected."""
    if found.document is None:
        raise Rejected(f"{ref} can't be read: {found.trouble}")
    return replace(route_view(found.document, ref), revision=str(found.generation))


def operations(found: Held, patch: WeightPatch) -> list[Json]:
    """The JSON Patch of a weight patch that was made from this document."""
    route = f"/spec/http/{patch.index}"
    raw: Sequence[Any] = found.spec["http"][patch.index]["route"]
    tests: list[Json] = []
    if patch.raises:
        tests.append({"op": "test", "path": "/metadata/generation", "value": found.generation})
    if patch.ref.route is not None:
        tests.append({"op": "test", "path": f"{route}/name", "value": patch.ref.route})
    writes: list[Json] = []
    for at, (seen, weight) in enumerate(zip(patch.expected, patch.weights, strict=True)):
        place = f"{route}/route/{at}"
        tests.extend(_unchanged(place, seen, raw[at]))
        if (seen.weight or 0) != weight:
            writes.append({"op": "add", "path": f"{place}/weight", "value": weight})
    return [*tests, *writes]


def _unchanged(place: str, seen: DestinationWeight, raw: Json) -> list[Json]:
    """Tests of a destination and its weight. An absent weight has no place of its own: the entry is tested for it."""
    if seen.weight is None:
        return [{"op": "test", "path": place, "value": raw}]
    destination = {"op": "test", "path": f"{place}/destination", "value": raw["destination"]}
    return [destination, {"op": "test", "path": f"{place}/weight", "value": raw["weight"]}]
