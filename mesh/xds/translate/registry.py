"""What does the mesh as a whole know? Services with their endpoints and the rules for them, found by name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mesh.istio import views, views_destination_rule, views_virtual_service
from mesh.istio.document import Document
from mesh.istio.hosts import covers, specificity
from mesh.istio.views import Endpoint, Gateway, Labels, Port, ServiceEntry, Sidecar, WorkloadEntry, selects, visible
from mesh.istio.views_destination_rule import DestinationRule, Subset, TrafficPolicy
from mesh.istio.views_virtual_service import MESH, VirtualService
from mesh.xds.translate.encode import EncodeCache, Memo

ROOT_NAMESPACE = "istio-system"

_MAKERS: "dict[str, Callable[[Document], View]]" = {
    "Gateway": views.gateway,
    "ServiceEntry": views.service_entry,
    "WorkloadEntry": views.workload_entry,
    "Sidecar": views.sidecar,
    "PeerAuthentication": views.peer_authentication,
    "VirtualService": views_virtual_service.virtual_service,
    "DestinationRule": views_destination_rule.destination_rule,
}
View = Gateway | ServiceEntry | WorkloadEntry | Sidecar | views.PeerAuthentication | VirtualService | DestinationRule


@dataclass(frozen=True, slots=True)
class Service:
    """A host that can be called, and where its endpoints are."""

    host: str
    namespace: str
    ports: tuple[Port, ...]
    addresses: tuple[str, ...]
    resolution: str
    external: bool
    endpoints: tuple[Endpoint, ...]
    export_to: tuple[str, ...]

    def port(self, number: int) -> Port | None:
        """The port of this number, or None."""
        return next((port for port in self.ports if port.number == number), None)


@dataclass(frozen=True, slots=True)
class Rule:
    """What all DestinationRules of one host say together. `source` is the path of the first one, for metadata."""

    source: views.Identity
    policy: TrafficPolicy | None
    subsets: tuple[Subset, ...]


@dataclass(frozen=True, eq=False)
class Registry:
    """The documents of one moment, indexed. Equal only to itself; `memo` keeps what was derived from it."""

    services: tuple[Service, ...]
    entries: tuple[ServiceEntry, ...]
    virtual_services: tuple[VirtualService, ...]
    rules: tuple[DestinationRule, ...]
    gateways: tuple[Gateway, ...]
    sidecars: tuple[Sidecar, ...]
    workloads: tuple[WorkloadEntry, ...]
    memo: Memo = field(default_factory=Memo)

    def service(self, host: str, client: str) -> Service | None:
        """The service called `host` that a client in namespace `client` sees: its own namespace's first."""
        found = self.memo.get("by-host", self._by_host).get(host, ())
        seen = [service for service in found if visible(service.export_to, service.namespace, client)]
        return min(seen, key=lambda service: (service.namespace != client, service.namespace), default=None)

    def _by_host(self) -> dict[str, list[Service]]:
        by_host: dict[str, list[Service]] = {}
        for service in self.services:
            by_host.setdefault(service.host, []).append(service)
        return by_host

    def mesh_rules(self) -> tuple[VirtualService, ...]:
        """VirtualServices for calls inside the mesh, the oldest first."""
        return self.memo.get(
            "mesh-rules", lambda: tuple(rule for rule in self.virtual_services if MESH in rule.gateways)
        )

    def rule(self, service: Service, client: str, labels: Labels) -> Rule | None:
        """The DestinationRules that apply when a workload of namespace `client` with `labels` calls the service.

        The client's namespace is asked first, then the service's, then the root namespace.
        """
        return self.memo.get(
            ("rule", service.host, service.namespace, client, labels), lambda: self._rule(service, client, labels)
        )

    def _rule(self, service: Service, client: str, labels: Labels) -> Rule | None:
        if client != ROOT_NAMESPACE and (own := self._most_specific(service.host, client)):
            return _merged([rule for rule in own if selects(rule.selector, labels)])
        for owner in dict.fromkeys((service.namespace, ROOT_NAMESPACE)):
            found = [
                rule
                for rule in self._most_specific(service.host, owner)
                if not rule.selector and visible(rule.export_to, owner, client)
            ]
            if found:
                return _merged(found)
        return None

    def _most_specific(self, host: str, namespace: str) -> list[DestinationRule]:
        by_namespace = self.memo.get("rules-by-namespace", self._rules_by_namespace)
        found = [rule for rule in by_namespace.get(namespace, ()) if covers(rule.host, host)]
        best = min((specificity(rule.host) for rule in found), default=None)
        return [rule for rule in found if specificity(rule.host) == best]

    def _rules_by_namespace(self) -> dict[str, list[DestinationRule]]:
        by_namespace: dict[str, list[DestinationRule]] = {}
        for rule in self.rules:
            by_namespace.setdefault(rule.identity.namespace, []).append(rule)
        return by_namespace


def _merged(rules: Sequence[DestinationRule]) -> Rule | None:
    """Subsets of all, the first of a name kept; the first traffic policy. Another selector or exportTo stands apart."""
    if not rules:
        return None
    first = min(rules, key=lambda rule: not rule.selector)
    same = [rule for rule in rules if (rule.export_to, rule.selector) == (first.export_to, first.selector)]
    subsets: dict[str, Subset] = {}
    for rule in same:
        for subset in rule.subsets:
            subsets.setdefault(subset.name, subset)
    policy = next((rule.policy for rule in same if rule.policy is not None), None)
    return Rule(first.identity, policy, tuple(subsets.values()))


def registry(documents: Sequence[Document], cache: EncodeCache) -> Registry:
    """The documents, indexed; the same registry for the same documents in any order."""
    key = frozenset((document.kind, document.namespace, document.name, document.revision) for document in documents)
    return cache.moments.get(key, lambda: _registry(documents, cache))


def _registry(documents: Iterable[Document], cache: EncodeCache) -> Registry:
    found = [view(document, cache) for document in documents if document.kind in _MAKERS]
    found.sort(key=lambda item: item.identity.age)
    workloads = tuple(item for item in found if isinstance(item, WorkloadEntry))
    entries = tuple(item for item in found if isinstance(item, ServiceEntry))
    services = [service for entry in entries for service in _services(entry, workloads)]
    return Registry(
        tuple(sorted(services, key=lambda service: (service.host, service.namespace))),
        entries,
        tuple(item for item in found if isinstance(item, VirtualService)),
        tuple(item for item in found if isinstance(item, DestinationRule)),
        tuple(item for item in found if isinstance(item, Gateway)),
        tuple(item for item in found if isinstance(item, Sidecar)),
        workloads,
    )


def view(document: Document, cache: EncodeCache) -> View:
    """The view of a document, made once a revision."""
    key = ("view", document.kind, document.namespace, document.name, document.revision)
    return cache.get(key, lambda: _MAKERS[document.kind](document))


def _services(entry: ServiceEntry, workloads: Sequence[WorkloadEntry]) -> list[Service]:
    namespace = entry.identity.namespace
    endpoints = entry.endpoints
    if entry.selector is not None:
        endpoints = tuple(
            workload.endpoint
            for workload in workloads
            if workload.identity.namespace == namespace and selects(entry.selector, workload.endpoint.labels)
        )
    return [
        Service(
            host,
            namespace,
            entry.ports,
            entry.addresses,
            entry.resolution,
            entry.external,
            tuple(sorted(endpoints, key=lambda endpoint: (endpoint.locality, endpoint.address, endpoint.ports))),
            entry.export_to,
        )
        for host in entry.hosts
    ]
