"""Which services can be called, and under which DestinationRule? What a new weight of a route doesn't touch."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mesh.istio.hosts import covers, is_wildcard, specificity
from mesh.istio.views import (
    Endpoint,
    Identity,
    Labels,
    Port,
    ServiceEntry,
    WorkloadEntry,
    selects,
    visible,
)
from mesh.istio.views_destination_rule import DestinationRule, Subset, TrafficPolicy
from mesh.xds.translate.encode import Memo

T = TypeVar("T")
ROOT_NAMESPACE = "istio-system"


@dataclass(frozen=True, slots=True)
class Service:
    """A host that can be called, and where its endpoints are."""

    host: str
    namespace: str
    ports: tuple[Port, ...]
    addresses: tuple[str, ...]
    resolution: str
    endpoints: tuple[Endpoint, ...]
    export_to: tuple[str, ...]

    def port(self, number: int) -> Port | None:
        """The port of this number, or None."""
        return next((port for port in self.ports if port.number == number), None)


@dataclass(frozen=True, slots=True)
class Rule:
    """What all DestinationRules of one host say together. `source` is the first of them."""

    source: Identity
    policy: TrafficPolicy | None
    subsets: tuple[Subset, ...]


@dataclass(frozen=True, eq=False)
class Places:
    """Services, workloads and DestinationRules of one moment. Equal only to itself; `memo` keeps what was derived."""

    entries: tuple[ServiceEntry, ...]
    workloads: tuple[WorkloadEntry, ...]
    rules: tuple[DestinationRule, ...]
    memo: Memo = field(default_factory=Memo)

    @property
    def services(self) -> dict[str, tuple[Service, ...]]:
        """The services by host, hosts in order; a host may be a service in several namespaces."""
        return self.memo.get("services", self._services)

    def _services(self) -> dict[str, tuple[Service, ...]]:
        made = [service for entry in self.entries for service in _services(entry, self.workloads)]
        made.sort(key=lambda service: (service.host, service.namespace))
        return _grouped(made, lambda service: service.host)

    def service(self, host: str, client: str) -> Service | None:
        """The service called `host` that a client in namespace `client` sees: its own namespace's first."""
        seen = [
            service for service in self.services.get(host, ()) if visible(service.export_to, service.namespace, client)
        ]
        return min(seen, key=lambda service: (service.namespace != client, service.namespace), default=None)

    @property
    def looks_at_labels(self) -> bool:
        """Do the rules differ by the labels of who calls?"""
        return self.memo.get("looks-at-labels", lambda: any(rule.selector for rule in self.rules))

    def rule(self, service: Service, client: str, labels: Labels) -> Rule | None:
        """The DestinationRules that apply when a workload of namespace `client` with `labels` calls the service.

        The client's namespace is asked first, then the service's, then the root namespace.
        """
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

    def _most_specific(self, host: str, namespace: str) -> tuple[DestinationRule, ...]:
        by_host = self.memo.get(("rules", namespace), lambda: self._rules_of(namespace))
        if host in by_host:
            return by_host[host]
        patterns = [pattern for pattern in by_host if is_wildcard(pattern) and covers(pattern, host)]
        return by_host[min(patterns, key=specificity)] if patterns else ()

    def _rules_of(self, namespace: str) -> dict[str, tuple[DestinationRule, ...]]:
        return _grouped((rule for rule in self.rules if rule.identity.namespace == namespace), lambda rule: rule.host)


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return {name: tuple(group) for name, group in found.items()}


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


def _services(entry: ServiceEntry, workloads: Sequence[WorkloadEntry]) -> list[Service]:
    namespace = entry.identity.namespace
    endpoints: Iterable[Endpoint] = entry.endpoints
    if entry.selector is not None:
        endpoints = (
            workload.endpoint
            for workload in workloads
            if workload.identity.namespace == namespace and selects(entry.selector, workload.endpoint.labels)
        )
    ordered = sorted(endpoints, key=lambda endpoint: (endpoint.locality, endpoint.address, endpoint.ports))
    return [
        Service(host, namespace, entry.ports, entry.addresses, entry.resolution, tuple(ordered), entry.export_to)
        for host in entry.hosts
    ]
