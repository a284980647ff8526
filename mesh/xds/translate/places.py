"""Which services can be called, and under which DestinationRule? What a new weight of a route doesn't touch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from mesh.istio.views import (
    Endpoint,
    Labels,
    Port,
    ServiceEntry,
    WorkloadEntry,
    selects,
    visible,
)
from mesh.istio.views_balancing import LoadBalancer
from mesh.istio.views_destination_rule import DestinationRule, Policy
from mesh.xds.translate.encode import Memo
from mesh.xds.translate.rules import Rule, pools

T = TypeVar("T")


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
    external: bool = False

    def port(self, number: int) -> Port | None:
        """The port of this number, or None."""
        return next((port for port in self.ports if port.number == number), None)


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
        return self.memo.get(
            "looks-at-labels",
            lambda: (
                any(rule.selector for rule in self.rules)
                or any(balancer.locality and balancer.locality.failover_priority for balancer in self._balancers())
            ),
        )

    @property
    def looks_at_locality(self) -> bool:
        """Do the rules differ by where who calls is? Outlier detection ranks endpoints by nearness."""
        return self.memo.get(
            "looks-at-locality",
            lambda: (
                any(policy.outlier_detection for policy in self._policies())
                or any(balancer.locality for balancer in self._balancers())
            ),
        )

    @property
    def hashes(self) -> bool:
        """Does any rule choose endpoints by hash? Mostly none does, and then nobody needs to ask rule by rule."""
        return self.memo.get("hashes", lambda: any(balancer.consistent_hash for balancer in self._balancers()))

    def _policies(self) -> Iterator[Policy]:
        for rule in self.rules:
            for policy in (rule.policy, *(subset.policy for subset in rule.subsets)):
                if policy is not None:
                    yield from (policy.policy, *(own for _, own in policy.ports))

    def _balancers(self) -> Iterator[LoadBalancer]:
        return (policy.load_balancer for policy in self._policies() if policy.load_balancer is not None)

    def rule(self, service: Service, client: str, labels: Labels) -> Rule | None:
        """The DestinationRules that apply when a workload of namespace `client` with `labels` calls the service."""
        merged = self.memo.get("pools", lambda: pools(self.rules))
        seen = labels if self.looks_at_labels else ()
        key = ("rule", service.host, service.namespace, client, seen)
        return self.memo.get(key, lambda: merged.applicable(service.host, service.namespace, client, labels))


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return {name: tuple(group) for name, group in found.items()}


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
        Service(
            host,
            namespace,
            entry.ports,
            entry.addresses,
            entry.resolution,
            tuple(ordered),
            entry.export_to,
            entry.external,
        )
        for host in entry.hosts
    ]
