"""Which virtual hosts does a workload's Envoy have for the calls that go out on one port?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mesh.istio.hosts import DOMAIN, covers, is_wildcard, overlap, specificity
from mesh.istio.problem import DocumentKey
from mesh.istio.views_balancing import ConsistentHash
from mesh.istio.views_virtual_service import VirtualService
from mesh.xds.translate.actions import Lane
from mesh.xds.translate.encode import EncodeCache, encode
from mesh.xds.translate.hashing import hashes, of_service
from mesh.xds.translate.places import Places, Service
from mesh.xds.translate.registry import Registry
from mesh.xds.translate.resources import Resource
from mesh.xds.translate.routes import Carrier, default_route, routes
from mesh.xds.translate.scope import EgressScope
from mesh.xds.translate.virtual_hosts import VirtualHost, catch_all, route_configuration

_PLAIN_HTTP = 80


@dataclass(frozen=True, slots=True)
class ShapedRoutes:
    """A RouteConfiguration and the VirtualServices that shaped it."""

    resource: Resource
    documents: frozenset[DocumentKey]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A virtual host before domains are settled. `service` is None for a host that only a VirtualService knows."""

    host: str
    service: Service | None
    routes: tuple[bytes, ...]
    rule: VirtualService | None


def outbound_routes(
    registry: Registry, scope: EgressScope, carrier: Carrier, cache: EncodeCache, *, registry_only: bool
) -> ShapedRoutes:
    """The RouteConfiguration of an egress listener; shared by all workloads that see the same."""
    told_apart = registry.places.looks_at_labels or any(rule.looks_at_source for rule in scope.rules)
    labels = carrier.labels if told_apart else ()
    key = ("outbound", scope, carrier.namespace, labels, registry_only)
    return registry.memo.get(
        key, lambda: _outbound_routes(registry, scope, carrier, cache, registry_only=registry_only)
    )


def _outbound_routes(
    registry: Registry, scope: EgressScope, carrier: Carrier, cache: EncodeCache, *, registry_only: bool
) -> ShapedRoutes:
    drafts = list(_drafts(registry.places, scope, carrier, cache))
    hosts = sorted(_settled(drafts, scope.port, carrier.namespace), key=lambda host: host.name)
    hosts.append(catch_all(registry_only=registry_only, cache=cache))
    documents = frozenset(key for draft in drafts if draft.rule is not None for key in draft.rule.sources)
    return ShapedRoutes(route_configuration(str(scope.port), hosts, cache), documents)


def _drafts(places: Places, scope: EgressScope, carrier: Carrier, cache: EncodeCache) -> Iterator[_Draft]:
    """Hosts with a VirtualService first, the oldest rule first; then the services that are left."""
    services = {service.host: service for service in scope.services}
    left = dict(services)
    owners = _owners(scope)
    for rule in scope.rules:
        lane = Lane(scope.port, hashes=hashes(places, rule, carrier.namespace, carrier.labels))
        made = tuple(encoded.body for encoded in routes(rule, lane, carrier, cache)) if _applies(rule, scope) else ()
        matched, unknown = _hosts(rule, services, owners)
        if not made or not (matched or scope.port == _PLAIN_HTTP):
            continue
        for host in unknown:
            yield _Draft(host, None, made, rule)
        for service in matched:
            left.pop(service.host, None)
            yield _Draft(service.host, service, made, rule)
    for service in left.values():
        found = places.rule(service, carrier.namespace, carrier.labels) if places.hashes else None
        hashing = of_service(found, scope.port)
        yield _Draft(service.host, service, (_default(service.host, scope.port, hashing, cache),), None)


def _default(host: str, port: int, hashing: ConsistentHash | None, cache: EncodeCache) -> bytes:
    return cache.get(("default-route", host, port, hashing), lambda: encode(default_route(host, port, hashing)))


def _applies(rule: VirtualService, scope: EgressScope) -> bool:
    """On any port but 80 a rule counts only when one of its hosts is a service there."""
    if scope.port == _PLAIN_HTTP:
        return True
    exact = {service.host for service in scope.services}
    wild = [host for host in exact if is_wildcard(host)]
    return any(
        host in exact or any(overlap(host, other) for other in (exact if is_wildcard(host) else wild))
        for host in rule.hosts
    )


def _owners(scope: EgressScope) -> dict[str, VirtualService]:
    """Of each service the rule with the most specific host for it; among equals the oldest."""
    claims: dict[str, VirtualService] = {}
    for rule in scope.rules:
        for host in rule.hosts:
            claims.setdefault(host, rule)
    wild = sorted((host for host in claims if is_wildcard(host)), key=specificity)
    owners = {}
    for service in scope.services:
        best = (
            service.host if service.host in claims else next((host for host in wild if covers(host, service.host)), "")
        )
        if best:
            owners[service.host] = claims[best]
    return owners


def _hosts(
    rule: VirtualService, services: Mapping[str, Service], owners: Mapping[str, VirtualService]
) -> tuple[list[Service], list[str]]:
    """The services that a rule speaks of, and its hosts that are no service."""
    matched, unknown = [], []
    for host in sorted(rule.hosts, key=is_wildcard):
        if host in services:
            matched.append(services[host])
        elif not is_wildcard(host) or not (found := [name for name in services if covers(host, name)]):
            unknown.append(host)
        else:
            matched += [services[name] for name in found if owners[name] is rule]
    return matched, unknown


def _settled(drafts: Sequence[_Draft], port: int, namespace: str) -> Iterator[VirtualHost]:
    """Names and domains are taken once; who comes later goes without them, or drops out when nothing is left."""
    known = {draft.host for draft in drafts if draft.service is not None}
    names: set[str] = set()
    taken: set[str] = set()
    for draft in drafts:
        name = f"{draft.host}:{port}"
        if name in names:
            continue
        names.add(name)
        short = _short_names(draft.host, namespace) if draft.service else []
        absolute = [f"{draft.host}."] if draft.service else []
        wished = [draft.host, *absolute, *short, *(draft.service.addresses if draft.service else ())]
        domains = [
            domain for domain in wished if domain.lower() not in taken and not (domain in short and domain in known)
        ]
        taken.update(domain.lower() for domain in domains)
        if domains:
            yield VirtualHost(name, tuple(domains), draft.routes)


def _short_names(host: str, namespace: str) -> list[str]:
    """The names by which a cluster's DNS knows a service; the bare one only in the service's own namespace."""
    qualified = host.removesuffix(f".{DOMAIN}")
    name, dot, owner = qualified.partition(".")
    if qualified == host or not dot or "." in owner:
        return []
    return [*([name] if owner == namespace else []), f"{qualified}.svc", qualified]
