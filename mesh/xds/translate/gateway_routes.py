"""Which virtual hosts does a gateway have at one address? VirtualServices of one host are merged here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mesh.istio.hosts import overlap
from mesh.istio.views import Gateway, Server, visible
from mesh.istio.views_virtual_service import VirtualService
from mesh.xds.translate.actions import Lane
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.hashing import hashes
from mesh.xds.translate.names import gateway_route
from mesh.xds.translate.outbound_routes import ShapedRoutes
from mesh.xds.translate.places import Places
from mesh.xds.translate.registry import Registry
from mesh.xds.translate.resources import ProxyNode
from mesh.xds.translate.routes import Carrier, EncodedRoute, routes
from mesh.xds.translate.virtual_hosts import VirtualHost, route_configuration


@dataclass(frozen=True, slots=True)
class GatewayServer:
    """A server and the gateway that it belongs to, by name."""

    gateway: str
    server: Server


def gateway_servers(registry: Registry, node: ProxyNode) -> dict[tuple[str, int], list[GatewayServer]]:
    """The servers of a gateway's workload by address; Gateways of every namespace that select it share addresses."""
    found: dict[tuple[str, int], list[GatewayServer]] = {}
    for gateway in registry.gateways:
        if set(gateway.selector) <= set(node.labels):
            for server in gateway.servers:
                at = (server.bind, server.port.number)
                found.setdefault(at, []).append(GatewayServer(full_gateway_name(gateway), server))
    return found


def full_gateway_name(gateway: Gateway) -> str:
    """Namespace and name, as VirtualServices refer to it."""
    return f"{gateway.identity.namespace}/{gateway.identity.name}"


def gateway_routes(
    registry: Registry, node: ProxyNode, servers: Sequence[GatewayServer], cache: EncodeCache
) -> ShapedRoutes:
    """The RouteConfiguration of all servers at one address."""
    port, bind = servers[0].server.port.number, servers[0].server.bind
    merged: dict[str, list[tuple[VirtualService, tuple[EncodedRoute, ...]]]] = {}
    for server in servers:
        for rule, host in _claims(registry, node, server):
            made = _rule_routes(registry, rule, node, server.gateway, port, cache)
            if made:
                merged.setdefault(host, []).append((rule, made))
    hosts = _virtual_hosts(merged, port) or [VirtualHost(f"blackhole:{port}", ("*",), ())]
    documents = frozenset(key for parts in merged.values() for rule, _ in parts for key in rule.sources)
    return ShapedRoutes(route_configuration(gateway_route(port, bind), hosts, cache), documents)


def _claims(registry: Registry, node: ProxyNode, server: GatewayServer) -> Iterator[tuple[VirtualService, str]]:
    """The rules bound to the server's gateway, each with the hosts that both sides name."""
    for rule in registry.virtual_services:
        if server.gateway not in rule.gateways or not visible(rule.export_to, rule.identity.namespace, node.namespace):
            continue
        offered = [host for owner, host in server.server.hosts if owner in ("*", rule.identity.namespace)]
        common = {both for left in offered for right in rule.hosts if (both := overlap(left, right))}
        yield from ((rule, host) for host in sorted(common))


def _rule_routes(
    registry: Registry, rule: VirtualService, node: ProxyNode, gateway: str, port: int, cache: EncodeCache
) -> tuple[EncodedRoute, ...]:
    places, namespace = registry.places, node.namespace
    lane = Lane(port, _only_ports(places, rule, namespace), hashes(places, rule, namespace, node.labels))
    return routes(rule, lane, Carrier(gateway, node.namespace, node.labels), cache)


def _only_ports(places: Places, rule: VirtualService, namespace: str) -> tuple[tuple[str, int], ...]:
    """The one port of each destination that has just one; the rule's own namespace is asked for it first."""
    return places.memo.get(
        ("only-ports", rule.identity.key, rule.revision, namespace),
        lambda: tuple(_lone_ports(places, rule, namespace)),
    )


def _lone_ports(places: Places, rule: VirtualService, namespace: str) -> Iterator[tuple[str, int]]:
    for host in sorted(rule.hosts_reached):
        service = places.service(host, rule.identity.namespace) or places.service(host, namespace)
        if service is not None and len(service.ports) == 1:
            yield host, service.ports[0].number


def _virtual_hosts(
    merged: dict[str, list[tuple[VirtualService, tuple[EncodedRoute, ...]]]], port: int
) -> list[VirtualHost]:
    """Hosts with the same rules share a virtual host, called by the first of them; catch-alls go last in each."""
    by_rules: dict[tuple[int, ...], list[str]] = {}
    for host in sorted(merged):
        by_rules.setdefault(tuple(id(made) for _, made in merged[host]), []).append(host)
    found = []
    for hosts in by_rules.values():
        made = [encoded for _, part in merged[hosts[0]] for encoded in part]
        made.sort(key=lambda encoded: encoded.catch_all)
        found.append(VirtualHost(f"{hosts[0]}:{port}", tuple(hosts), tuple(encoded.body for encoded in made)))
    return sorted(found, key=lambda host: host.name)
