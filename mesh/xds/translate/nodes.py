"""What does one Envoy hold? Clusters, endpoints, listeners and routes, put together for a gateway or for a workload."""

from collections.abc import Iterable, Iterator, Sequence

from mesh.istio.problem import DocumentKey
from mesh.istio.views import Ingress, Sidecar, visible
from mesh.istio.views_connection_pool import ConnectionPool
from mesh.istio.views_virtual_service import MESH
from mesh.xds.translate.clusters import black_hole, inbound, passthrough
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.endpoints import UNIX
from mesh.xds.translate.gateway_routes import gateway_routes, gateway_servers
from mesh.xds.translate.listeners import gateway_listener, inbound_listener, outbound_listener
from mesh.xds.translate.outbound_routes import ShapedRoutes, outbound_routes
from mesh.xds.translate.places import Places
from mesh.xds.translate.policy import port_policy
from mesh.xds.translate.proxies import sidecar_of, workload_of
from mesh.xds.translate.registry import Registry
from mesh.xds.translate.resources import NodeResources, ProxyNode, Resource
from mesh.xds.translate.routes import Carrier
from mesh.xds.translate.scope import EgressScope, ServicePorts, egress_scope, service_ports, together
from mesh.xds.translate.upstreams import Upstreams, called, upstreams


def router(registry: Registry, node: ProxyNode, cache: EncodeCache) -> NodeResources:
    """A gateway's resources: it can reach every service that it may see."""
    shaped, listeners = [], []
    for (bind, port), servers in sorted(gateway_servers(registry, node).items()):
        routes = gateway_routes(registry, node, servers, cache)
        shaped.append(routes)
        listeners.append(gateway_listener(bind, port, routes.resource.name, cache))
    called = upstreams(registry.places, _everything(registry.places, node.namespace), node.caller, cache)
    return _together(called, [black_hole(cache)], listeners, shaped)


def _everything(places: Places, namespace: str) -> ServicePorts:
    return places.memo.get(
        ("everything", namespace),
        lambda: service_ports(
            (service.host, service.namespace, port.number)
            for services in places.services.values()
            for service in services
            if visible(service.export_to, service.namespace, namespace)
            for port in service.ports
        ),
    )


def sidecar(registry: Registry, node: ProxyNode, cache: EncodeCache) -> NodeResources:
    """The resources of a workload's Envoy: what its Sidecar declares, and nothing else."""
    workload = workload_of(registry, node)
    document = None if workload is None else sidecar_of(registry, workload)
    if document is None:
        return NodeResources({}, {}, {}, {}, {})
    outbound = [
        (egress.bind, egress_scope(registry, egress.hosts, egress.port, node.namespace))
        for egress in document.egress
        if egress.port is not None
    ]
    targets = together(scope for _, scope in outbound)
    own = [black_hole(cache), passthrough(cache), *_inbound(registry.places, node, document, targets, cache)]
    return _together(
        upstreams(registry.places, targets, node.caller, cache),
        own,
        [*_outbound_listeners(outbound, cache), *_inbound_listeners(document, node, cache)],
        _outbound_routes(registry, node, document, [scope for _, scope in outbound], cache),
    )


def _outbound_listeners(outbound: Sequence[tuple[str, EgressScope]], cache: EncodeCache) -> Iterator[Resource]:
    """istiod opens a listener for the services on it; without any there is none."""
    return (outbound_listener(bind, scope.port, cache) for bind, scope in outbound if scope.services)


def _outbound_routes(
    registry: Registry, node: ProxyNode, document: Sidecar, scopes: Sequence[EgressScope], cache: EncodeCache
) -> list[ShapedRoutes]:
    carried_by = Carrier(MESH, node.namespace, node.labels)
    return [
        outbound_routes(registry, scope, carried_by, cache, registry_only=document.registry_only)
        for scope in scopes
        if scope.services
    ]


def _inbound_listeners(document: Sidecar, node: ProxyNode, cache: EncodeCache) -> Iterator[Resource]:
    return (
        inbound_listener(ingress.bind or node.address, ingress.port, document.identity, cache)
        for ingress in document.ingress
    )


def _inbound(
    places: Places, node: ProxyNode, document: Sidecar, targets: ServicePorts, cache: EncodeCache
) -> Iterator[Resource]:
    for ingress in document.ingress:
        pool = ingress.pool or document.inbound_pool or _own_pool(places, node, ingress, targets)
        yield inbound(ingress.port, application(ingress, node), pool, cache)


def application(ingress: Ingress, node: ProxyNode) -> tuple[str, int]:
    """Where the application listens: address and port, or a unix socket; 0.0.0.0 is the workload's own address."""
    place = ingress.default_endpoint
    if place.startswith(UNIX):
        return place, 0
    host, _, port = place.rpartition(":")
    return (node.address if host == "0.0.0.0" else host.strip("[]")), int(port)  # noqa: S104


def _own_pool(places: Places, node: ProxyNode, ingress: Ingress, targets: ServicePorts) -> ConnectionPool | None:
    """The connection pool that the rules of the workload's own service ask for, when its Sidecar sees that service."""
    for service in called(places, targets):
        serves = any(endpoint.address == node.address for endpoint in service.endpoints)
        for port in service.ports:
            if serves and port.target == ingress.port.number:
                rule = places.rule(service, node.namespace, node.labels)
                return port_policy(rule.policy if rule else None, port.number).connection_pool
    return None


def _together(
    reached: Upstreams, own: Iterable[Resource], listeners: Iterable[Resource], shaped: Sequence[ShapedRoutes]
) -> NodeResources:
    return NodeResources(
        clusters=_named([*reached.clusters, *own]),
        endpoints=_named(reached.endpoints),
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
