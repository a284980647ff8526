"""What do a folder's documents say together, for somebody who looks for mistakes?

A Scene is read off the documents' data without trusting its types: whatever is not shaped as it should be is passed
over here, because the support table refuses it with its place. Rules of lint look at nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from mesh.istio.document import Document
from mesh.istio.hosts import covers, full_name
from mesh.istio.yaml_nodes import Data, Path
from mesh.istio.yaml_scalars import whole_number

MESH = "mesh"
ROUTE_ACTIONS = ("route", "redirect", "directResponse")


def mapping(value: Data) -> Mapping[str, Data]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Data) -> Sequence[Data]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def words(value: Data) -> tuple[str, ...]:
    """The texts of a list."""
    return tuple(item for item in sequence(value) if isinstance(item, str))


def word(value: Data) -> str:
    """The value if it is text, else an empty one."""
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Target:
    """One destination of a route: where it stands, what it names. `host` is fully qualified, empty when not given.

    `path` is the entry's, `place` that of its host and subset.
    """

    document: Document
    path: Path
    place: Path
    host: str
    subset: str
    port: int | None
    weight: int | None


@dataclass(frozen=True, slots=True)
class Route:
    """One HTTP route of a VirtualService."""

    document: Document
    index: int
    data: Mapping[str, Data] = field(repr=False)

    @property
    def path(self) -> tuple[str | int, ...]:
        return ("spec", "http", self.index)

    @property
    def title(self) -> str:
        name = self.data.get("name")
        return f"route {name}" if name else f"route {self.index + 1}"

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(action for action in ROUTE_ACTIONS if self.data.get(action) is not None)

    @property
    def targets(self) -> tuple[Target, ...]:
        entries = enumerate(sequence(self.data.get("route")))
        return tuple(self._target(at, mapping(entry)) for at, entry in entries)

    @property
    def copies(self) -> tuple[Target, ...]:
        """Where copies of its requests go."""
        single = self.data.get("mirror")
        found = [self._named(mapping(single), (*self.path, "mirror"))] if isinstance(single, dict) else []
        several = enumerate(sequence(self.data.get("mirrors")))
        found += [
            self._named(mapping(mapping(each).get("destination")), (*self.path, "mirrors", at, "destination"))
            for at, each in several
        ]
        return tuple(found)

    def _target(self, at: int, entry: Mapping[str, Data]) -> Target:
        path = (*self.path, "route", at)
        weight = whole_number(entry.get("weight"))
        return replace(self._named(mapping(entry.get("destination")), (*path, "destination")), path=path, weight=weight)

    def _named(self, destination: Mapping[str, Data], place: Path) -> Target:
        host = word(destination.get("host"))
        return Target(
            document=self.document,
            path=place,
            place=place,
            host=full_name(host, self.document.namespace) if host else "",
            subset=word(destination.get("subset")),
            port=whole_number(mapping(destination.get("port")).get("number")),
            weight=None,
        )


@dataclass(frozen=True, slots=True)
class Service:
    """A host that a ServiceEntry declares, its ports by number, the labels of its endpoints (None: not known here)."""

    host: str
    ports: Mapping[int, Mapping[str, Data]]
    endpoints: tuple[Mapping[str, Data], ...] | None


@dataclass(frozen=True, slots=True)
class Subset:
    """One subset of a DestinationRule."""

    document: Document
    index: int
    name: str
    labels: Mapping[str, Data]

    @property
    def path(self) -> Path:
        return ("spec", "subsets", self.index)


def spec_of(document: Document) -> Mapping[str, Data]:
    """The document's spec, empty when it has none."""
    return mapping(document.data.get("spec"))


class Scene:
    """The documents by what they are about."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = tuple(documents)

    def of_kind(self, kind: str) -> tuple[Document, ...]:
        return tuple(document for document in self.documents if document.kind == kind)

    @cached_property
    def virtual_services(self) -> tuple[Document, ...]:
        return self.of_kind("VirtualService")

    @cached_property
    def destination_rules(self) -> tuple[Document, ...]:
        return self.of_kind("DestinationRule")

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        return tuple(route for document in self.virtual_services for route in routes_of(document))

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """All destinations that name a host."""
        return tuple(target for route in self.routes for target in route.targets if target.host)

    @cached_property
    def reached(self) -> tuple[Target, ...]:
        """Those and the destinations of copies."""
        copies = (copy for route in self.routes for copy in route.copies if copy.host)
        return (*self.targets, *copies)

    @cached_property
    def services(self) -> Mapping[str, Service]:
        """By host, in lower case."""
        found: dict[str, Service] = {}
        for document in self.of_kind("ServiceEntry"):
            for service in self._services_of(document):
                found.setdefault(service.host, service)
        return found

    @cached_property
    def gateways(self) -> Mapping[str, Document]:
        """By namespace/name."""
        return {f"{document.namespace}/{document.name}": document for document in self.of_kind("Gateway")}

    @cached_property
    def subsets(self) -> tuple[Subset, ...]:
        return tuple(subset for document in self.destination_rules for subset in subsets_of(document))

    def service(self, host: str) -> Service | None:
        """The service of a host; a wildcard one only when none has the very name."""
        exact = self.services.get(host)
        return exact or next((found for pattern, found in self.services.items() if covers(pattern, host)), None)

    def subsets_for(self, host: str) -> tuple[Subset, ...]:
        """The subsets that any DestinationRule declares for a host."""
        return tuple(subset for subset in self.subsets if covers(rule_host(subset.document), host))

    def _services_of(self, document: Document) -> Iterator[Service]:
        spec = spec_of(document)
        ports = [mapping(port) for port in sequence(spec.get("ports"))]
        numbered = {found: port for port in ports if (found := whole_number(port.get("number"))) is not None}
        endpoints = self._endpoints(document.namespace, spec)
        for host in words(spec.get("hosts")):
            yield Service(host.lower(), numbered, endpoints)

    def _endpoints(self, namespace: str, spec: Mapping[str, Data]) -> tuple[Mapping[str, Data], ...] | None:
        if spec.get("workloadSelector") is not None:
            wanted = mapping(mapping(spec["workloadSelector"]).get("labels"))
            candidates = [
                mapping(spec_of(entry).get("labels"))
                for entry in self.of_kind("WorkloadEntry")
                if entry.namespace == namespace
            ]
            return tuple(labels for labels in candidates if selects(wanted, labels))
        if spec.get("resolution") == "STATIC" or spec.get("endpoints"):
            return tuple(mapping(mapping(entry).get("labels")) for entry in sequence(spec.get("endpoints")))
        return None


def routes_of(document: Document) -> tuple[Route, ...]:
    """The HTTP routes of a VirtualService that are mappings."""
    routes = enumerate(sequence(spec_of(document).get("http")))
    return tuple(Route(document, at, route) for at, route in routes if isinstance(route, dict))


def subsets_of(document: Document) -> tuple[Subset, ...]:
    """The subsets that a DestinationRule declares."""
    entries = [mapping(entry) for entry in sequence(spec_of(document).get("subsets"))]
    return tuple(
        Subset(document, at, word(entry.get("name")), mapping(entry.get("labels"))) for at, entry in enumerate(entries)
    )


def rule_host(document: Document) -> str:
    """The fully qualified host of a DestinationRule, empty when it gives none."""
    host = word(spec_of(document).get("host"))
    return full_name(host, document.namespace) if host else ""


def hosts_of(document: Document) -> tuple[str, ...]:
    """The fully qualified hosts of a VirtualService."""
    return tuple(full_name(host, document.namespace) for host in words(spec_of(document).get("hosts")))


def gateways_of(document: Document) -> tuple[str, ...]:
    """What a VirtualService is bound to: `mesh`, or gateways as namespace/name."""
    names = words(spec_of(document).get("gateways")) or (MESH,)
    return tuple(name if name == MESH or "/" in name else f"{document.namespace}/{name}" for name in names)


def selects(wanted: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Does a workload with these labels have all the wanted ones?"""
    return all(labels.get(name) == value for name, value in wanted.items())
