"""What does a workload's Sidecar let it see? Services and VirtualServices of each of its egress listeners."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mesh.istio.hosts import covers, overlap
from mesh.istio.views import Egress, Port, visible
from mesh.istio.views_virtual_service import VirtualService
from mesh.xds.translate.registry import Registry, Service


@dataclass(frozen=True, slots=True, eq=False)
class EgressScope:
    """What one egress listener reaches: services, each with just the listener's port, and the rules for them by age.

    Invariant: one object for all workloads that see the same, so identity is equality.
    """

    port: Port
    bind: str
    services: tuple[Service, ...]
    rules: tuple[VirtualService, ...]


def egress_scope(registry: Registry, egress: Egress, port: Port, namespace: str) -> EgressScope:
    """The scope of an egress listener on `port` for workloads of `namespace`."""
    return registry.memo.get(
        ("egress", egress, namespace),
        lambda: EgressScope(
            port,
            egress.bind,
            tuple(_services(registry, egress, port, namespace)),
            tuple(rule for rule in registry.mesh_rules() if _imports_rule(egress, rule, namespace)),
        ),
    )


def _services(registry: Registry, egress: Egress, port: Port, namespace: str) -> Iterator[Service]:
    for host in sorted({service.host for service in registry.services}):
        candidates = [service for service in registry.services if service.host == host]
        seen = [service for service in candidates if _imports_service(egress, service, namespace)]
        best = min(seen, key=lambda service: (service.namespace != namespace, service.namespace), default=None)
        if best is not None and (own := best.port(port.number)) is not None:
            yield replace(best, ports=(own,))


def _imports_service(egress: Egress, service: Service, namespace: str) -> bool:
    return visible(service.export_to, service.namespace, namespace) and any(
        owner in ("*", service.namespace) and covers(pattern, service.host) for owner, pattern in egress.hosts
    )


def _imports_rule(egress: Egress, rule: VirtualService, namespace: str) -> bool:
    return visible(rule.export_to, rule.identity.namespace, namespace) and any(
        owner in ("*", rule.identity.namespace) and overlap(pattern, host)
        for owner, pattern in egress.hosts
        for host in rule.hosts
    )


def reachable(registry: Registry, scopes: Iterable[EgressScope], namespace: str) -> tuple[Service, ...]:
    """The services that need clusters: those of the listeners, and the destinations of their rules."""
    found: dict[tuple[str, str], Service] = {}
    for scope in scopes:
        for service in (*scope.services, *_destinations(registry, scope, namespace)):
            key = (service.host, service.namespace)
            known = found.get(key)
            ports = {port.number: port for port in (*(known.ports if known else ()), *service.ports)}
            found[key] = replace(service, ports=tuple(ports[number] for number in sorted(ports)))
    return tuple(found[key] for key in sorted(found))


def _destinations(registry: Registry, scope: EgressScope, namespace: str) -> Iterator[Service]:
    for rule in scope.rules:
        for http in rule.http:
            for entry in http.destinations:
                service = registry.service(entry.destination.host, namespace)
                number = entry.destination.port or scope.port.number
                if service is not None and (port := service.port(number)) is not None:
                    yield replace(service, ports=(port,))
