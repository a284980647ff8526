"""Which Envoy routes does a VirtualService become for one proxy? Each of them encoded once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from envoy_data_plane.envoy.config.route import v3 as route

from mesh.istio.string_match import MatchKind, StringMatch
from mesh.istio.views import Labels
from mesh.istio.views_balancing import ConsistentHash
from mesh.istio.views_virtual_service import HttpMatch, HttpRoute, VirtualService
from mesh.xds.translate.actions import Lane, apply_action, forward
from mesh.xds.translate.encode import EncodeCache, encode, make
from mesh.xds.translate.match import is_catch_all, route_match, taken_by
from mesh.xds.translate.metadata import istio_metadata
from mesh.xds.translate.names import config_path, outbound_cluster


@dataclass(frozen=True, slots=True)
class Carrier:
    """Who carries the routes: `mesh` or one gateway by name, and the proxy's namespace and labels."""

    gateway: str
    namespace: str
    labels: Labels


@dataclass(frozen=True, slots=True)
class EncodedRoute:
    """One route of a virtual host, encoded. A catch-all hides whatever stands behind it."""

    body: bytes
    catch_all: bool


def routes(rule: VirtualService, lane: Lane, carrier: Carrier, cache: EncodeCache) -> tuple[EncodedRoute, ...]:
    """The routes of a VirtualService in document order, up to the first catch-all."""
    seen = carrier if rule.looks_at_source else replace(carrier, labels=())
    key = ("routes", rule.identity.key, rule.revision, lane, seen)
    return cache.get(key, lambda: _routes(rule, lane, seen, cache))


def _routes(rule: VirtualService, lane: Lane, carrier: Carrier, cache: EncodeCache) -> tuple[EncodedRoute, ...]:
    path = config_path("virtual-service", rule.identity.namespace, rule.identity.name)
    found = []
    for http, match in _carried(rule, lane.port, carrier):
        found.append(_encoded(path, http, match, lane, cache))
        if is_catch_all(match):
            break
    return tuple(found)


def _carried(rule: VirtualService, port: int, carrier: Carrier) -> Iterator[tuple[HttpRoute, HttpMatch | None]]:
    """Each alternative of a route's match is a route of its own."""
    gateways = frozenset({carrier.gateway})
    for http in rule.http:
        for match in http.matches or (None,):
            if taken_by(match, port=port, gateways=gateways, namespace=carrier.namespace, labels=carrier.labels):
                yield http, match


def _encoded(path: str, http: HttpRoute, match: HttpMatch | None, lane: Lane, cache: EncodeCache) -> EncodedRoute:
    key = ("route", path, http, match, lane)
    return cache.get(key, lambda: EncodedRoute(encode(_route(path, http, match, lane)), is_catch_all(match)))


def _route(path: str, http: HttpRoute, match: HttpMatch | None, lane: Lane) -> route.Route:
    made = make(
        route.Route,
        name=f"{http.name}.{match.name}" if match and match.name else http.name,
        match=route_match(match),
        metadata=istio_metadata(config=path),
        stat_prefix=match.stat_prefix if match else "",
    )
    apply_action(made, http, lane)
    made.decorator = make(route.Decorator, operation=_operation(path, http, match, lane))
    return made


def default_route(host: str, port: int, hashing: ConsistentHash | None = None) -> route.Route:
    """The route of a service that no VirtualService speaks of."""
    return make(
        route.Route,
        name="default",
        match=route_match(None),
        route=forward(outbound_cluster(port, "", host), hashing),
        decorator=make(route.Decorator, operation=f"{host}:{port}/*"),
    )


def _operation(path: str, http: HttpRoute, match: HttpMatch | None, lane: Lane) -> str:
    """What traces call the route: its destination when there is one, else the VirtualService."""
    uri = _pattern(match.uri if match else None)
    if len(http.destinations) == 1 and http.redirect is None and http.direct_response is None:
        _, port, _, host = lane.cluster(http.destinations[0].destination).split("|")
        return f"{host}:{port}{uri}"
    return f"{path.rpartition('/')[2]}:{lane.port}{uri}"


def _pattern(uri: StringMatch | None) -> str:
    if uri is None or uri.kind is MatchKind.PRESENT:
        return "/*"
    return f"{uri.value}*" if uri.kind is MatchKind.PREFIX else uri.value
