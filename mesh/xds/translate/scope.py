"""What does a workload's Sidecar let it see? Services and VirtualServices of each of its egress listeners."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mesh.istio.hosts import covers, overlap
from mesh.istio.views import Port, visible
from mesh.istio.views_virtual_service import VirtualService
from mesh.xds.translate.places import Service
from mesh.xds.translate.registry import Registry

Patterns = tuple[tuple[str, str], ...]
ServicePorts = tuple[tuple[str, str, tuple[int, ...]], ...]
"""Host, namespace and port numbers of services, in order."""


@dataclass(frozen=True, slots=True, eq=False)
class EgressScope:
    """What one egress listener reaches: services, each with just the listener's port, and the rules for them by age.

    `targets` are those services and the destinations of the rules: what needs clusters.
    Invariant: one object for all workloads that see the same, so identity is equality.
    """

    port: int
    services: tuple[Service, ...]
    rules: tuple[VirtualService, ...]
    targets: ServicePorts


def egress_scope(registry: Registry, patterns: Patterns, port: Port, namespace: str) -> EgressScope:
    """The scope of an egress listener on `port` with these `hosts` for workloads of `namespace`."""
    key = ("egress", patterns, port.number, namespace)
    return registry.memo.get(key, lambda: _scope(registry, patterns, port.number, namespace))


def _scope(registry: Registry, patterns: Patterns, port: int, namespace: str) -> EgressScope:
    services = registry.places.memo.get(
        ("imported", patterns, port, namespace), lambda: tuple(_services(registry, patterns, port, namespace))
    )
    rules = tuple(rule for rule in registry.mesh_rules if _imports_rule(patterns, rule, namespace))
    needed = [(service.host, service.namespace, port) for service in services]
    needed += _destinations(registry, rules, port, namespace)
    return EgressScope(port, services, rules, service_ports(needed))


def _services(registry: Registry, patterns: Patterns, port: int, namespace: str) -> Iterator[Service]:
    for candidates in registry.places.services.values():
        seen = [service for service in candidates if _imports_service(patterns, service, namespace)]
        best = min(seen, key=lambda service: (service.namespace != namespace, service.namespace), default=None)
        if best is not None and (own := best.port(port)) is not None:
            yield replace(best, ports=(own,))


def _imports_service(patterns: Patterns, service: Service, namespace: str) -> bool:
    return visible(service.export_to, service.namespace, namespace) and any(
        owner in ("*", service.namespace) and covers(pattern, service.host) for owner, pattern in patterns
    )


def _imports_rule(patterns: Patterns, rule: VirtualService, namespace: str) -> bool:
    return visible(rule.export_to, rule.identity.namespace, namespace) and any(
        owner in ("*", rule.identity.namespace) and overlap(pattern, host)
        for owner, pattern in patterns
        for host in rule.hosts
    )


def _destinations(
    registry: Registry, rules: Iterable[VirtualService], port: int, namespace: str
) -> list[tuple[str, str, int]]:
    """What the rules lead to. A listener with a port reaches services at that port only, whatever a rule says."""
    wanted = {host for rule in rules for host in rule.hosts_reached_from(namespace)}
    services = (registry.places.service(host, namespace) for host in wanted)
    return [
        (service.host, service.namespace, port)
        for service in services
        if service is not None and service.port(port) is not None
    ]


def service_ports(needed: Iterable[tuple[str, str, int]]) -> ServicePorts:
    """Services with the ports that are needed of each, in order.

    Example: service_ports([("b", "x", 1), ("a", "x", 2), ("a", "x", 1)]) == (("a", "x", (1, 2)), ("b", "x", (1,)))
    """
    found: dict[tuple[str, str], set[int]] = {}
    for host, namespace, port in needed:
        found.setdefault((host, namespace), set()).add(port)
    return tuple((*key, tuple(sorted(found[key]))) for key in sorted(found))


def together(scopes: Iterable[EgressScope]) -> ServicePorts:
    """What all of these listeners need."""
    return service_ports(
        (host, namespace, port) for scope in scopes for host, namespace, ports in scope.targets for port in ports
    )
