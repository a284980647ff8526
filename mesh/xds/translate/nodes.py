"""What does one Envoy hold? Clusters, endpoints, listeners and routes, put together for a gateway or for a workload."""

from collections.abc import Iterable, Iterator, Sequence

from mesh.istio.problem import DocumentKey
from mesh.istio.views import Ingress, Sidecar, visible
from mesh.istio.views_destination_rule import ConnectionPool
from mesh.xds.translate.clusters import black_hole, inbound, outbound_clusters, passthrough
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.endpoints import UNIX, load_assignments
from mesh.xds.translate.gateway_routes import gateway_routes, gateway_servers
from mesh.xds.translate.listeners import gateway_listener, inbound_listener, outbound_listener
from mesh.xds.translate.outbound_routes import ShapedRoutes, carrier, outbound_routes
from mesh.xds.translate.policy import port_policy
from mesh.xds.translate.proxies import sidecar_of, workload_of
from mesh.xds.translate.registry import Registry, Service
from mesh.xds.translate.resources import NodeResources, ProxyNode, Resource
from mesh.xds.translate.scope import EgressScope, egress_scope, reachable


def router(registry: Registry, node: ProxyNode, cache: EncodeCache) -> NodeResources:
    """A gateway's resources: it can reach every service that it may see."""
    services = [item for item in registry.services if visible(item.export_to, item.namespace, node.namespace)]
    shaped, listeners = [], []
    for (bind, port), servers in sorted(gateway_servers(registry, node).items()):
        routes = gateway_routes(registry, node, servers, cache)
        shaped.append(routes)
        listeners.append(gateway_listener(bind, port, routes.resource.name, cache))
    return _together(registry, node, services, [black_hole(cache)], listeners, shaped, cache)


def sidecar(registry: Registry, node: ProxyNode, cache: EncodeCache) -> NodeResources:
    """The resources of a workload's Envoy: what its Sidecar declares, and nothing else."""
    workload = workload_of(registry, node)
    document = None if workload is None else sidecar_of(registry, workload)
    if document is None:
        return NodeResources({}, {}, {}, {}, {})
    scopes = [
        egress_scope(registry, egress, egress.port, node.namespace)
        for egress in document.egress
        if egress.port is not None
    ]
    services = reachable(registry, scopes, node.namespace)
    shaped = [
        outbound_routes(
            registry, scope, carrier(node.namespace, node.labels), cache, registry_only=document.registry_only
        )
        for scope in _open(scopes)
    ]
    listeners = [outbound_listener(scope.bind, scope.port.number, cache) for scope in _open(scopes)]
    owner = f"{document.identity.name}.{document.identity.namespace}"
    listeners += [
        inbound_listener(ingress.bind or node.address, ingress.port, owner, cache) for ingress in document.ingress
    ]
    clusters = [black_hole(cache), passthrough(cache), *_inbound(registry, node, document, services, cache)]
    return _together(registry, node, services, clusters, listeners, shaped, cache)


def _open(scopes: Sequence[EgressScope]) -> Iterator[EgressScope]:
    """istiod opens a listener for the services on it; without any there is none."""
    return (scope for scope in scopes if scope.services)


def _inbound(
    registry: Registry, node: ProxyNode, document: Sidecar, seen: Sequence[Service], cache: EncodeCache
) -> Iterator[Resource]:
    for ingress in document.ingress:
        pool = _own_pool(registry, node, ingress, seen)
        yield inbound(ingress.port, application(ingress, node), pool, cache)


def application(ingress: Ingress, node: ProxyNode) -> tuple[str, int]:
    """Where the application listens; 0.0.0.0 stands for the workload's own address."""
    place = ingress.default_endpoint
    if place.startswith(UNIX):
        return place, 0
    host, _, port = place.rpartition(":")
    return {"0.0.0.0": node.address, "": node.address}.get(host, host.strip("[]")), int(port)  # noqa: S104


def _own_pool(registry: Registry, node: ProxyNode, ingress: Ingress, seen: Sequence[Service]) -> ConnectionPool | None:
    """The connection pool that the rules of the workload's own service ask for, when its Sidecar sees that service."""
    for service in seen:
        serves = any(endpoint.address == node.address for endpoint in service.endpoints)
        for port in service.ports:
            if serves and port.target == ingress.port.number:
                rule = registry.rule(service, node.namespace, node.labels)
                return port_policy(rule.policy if rule else None, port.number).connection_pool
    return None


def _together(
    registry: Registry,
    node: ProxyNode,
    services: Sequence[Service],
    clusters: Iterable[Resource],
    listeners: Iterable[Resource],
    shaped: Sequence[ShapedRoutes],
    cache: EncodeCache,
) -> NodeResources:
    called = (registry, services, node.namespace, node.labels, cache)
    return NodeResources(
        clusters=_named([*outbound_clusters(*called), *clusters]),
        endpoints=_named(load_assignments(*called)),
        listeners=_named(listeners),
        routes=_named(routes.resource for routes in shaped),
        documents=_documents(shaped),
    )


def _named(resources: Iterable[Resource]) -> dict[str, Resource]:
    """By name, sorted; the first of a name is kept."""
    found: dict[str, Resource] = {}
    for item in resources:
        found.setdefault(item.name, item)
    return dict(sorted(found.items()))


def _documents(shaped: Sequence[ShapedRoutes]) -> dict[DocumentKey, frozenset[str]]:
    found: dict[DocumentKey, set[str]] = {}
    for routes in shaped:
        for key in routes.documents:
            found.setdefault(key, set()).add(routes.resource.name)
    return {key: frozenset(names) for key, names in sorted(found.items())}
