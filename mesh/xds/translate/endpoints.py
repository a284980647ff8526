"""Which endpoints does a cluster have? Those of the service that carry the subset's labels; maybe none."""

from collections.abc import Iterable, Iterator

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint

from mesh.istio.hosts import is_wildcard
from mesh.istio.views import Endpoint, Labels, Port, selects
from mesh.istio.views_destination_rule import Policy
from mesh.xds.translate.caller import Caller
from mesh.xds.translate.encode import EncodeCache, encode, make
from mesh.xds.translate.names import outbound_cluster
from mesh.xds.translate.nearness import Group, PlaceToServe, arranged, grouped, where
from mesh.xds.translate.places import Service
from mesh.xds.translate.policy import port_policy, subset_policy
from mesh.xds.translate.resources import ENDPOINT, Resource, resource
from mesh.xds.translate.rules import Rule

UNIX = "unix://"


def chosen(service: Service, wanted: Labels, port: Port) -> tuple[PlaceToServe, ...]:
    """The endpoints of a service's port that carry the labels. A DNS service without any is found by its own name."""
    endpoints = service.endpoints
    if not endpoints and service.resolution != "STATIC" and not is_wildcard(service.host):
        endpoints = (Endpoint(service.host, (), (), 1, ""),)
    return tuple(
        PlaceToServe(found.address, _port_of(found, port), found.weight, found.locality, found.labels)
        for found in endpoints
        if selects(wanted, found.labels)
    )


def _port_of(found: Endpoint, port: Port) -> int:
    return 0 if found.address.startswith(UNIX) else dict(found.ports).get(port.name, port.target)


def preferred(policy: Policy, places: Iterable[PlaceToServe], caller: Caller) -> tuple[Group, ...]:
    """The endpoints in the order in which a caller under this policy prefers them."""
    setting = None if policy.load_balancer is None else policy.load_balancer.locality
    groups = grouped(places)
    return arranged(groups, setting, caller, fails_over=policy.outlier_detection is not None)


def load_assignments(
    service: Service, port: Port, rule: Rule | None, caller: Caller, cache: EncodeCache
) -> Iterator[Resource]:
    """The endpoints of a port's EDS clusters; an empty list rather than none, or Envoy waits for ever."""
    if service.resolution != "STATIC":
        return
    whole = None if rule is None else rule.policy
    none: tuple[str, Labels, Policy] = ("", (), port_policy(whole, port.number))
    subsets = rule.subsets if rule is not None else ()
    named = [(subset.name, subset.labels, subset_policy(whole, subset, port.number)) for subset in subsets]
    for name, wanted, policy in (none, *named):
        groups = preferred(policy, chosen(service, wanted, port), caller)
        yield _load_assignment(outbound_cluster(port.number, name, service.host), groups, cache)


def _load_assignment(name: str, groups: tuple[Group, ...], cache: EncodeCache) -> Resource:
    return cache.get(("endpoints", name, groups), lambda: resource(ENDPOINT, name, encode(_assignment(name, groups))))


def _assignment(name: str, groups: tuple[Group, ...]) -> endpoint.ClusterLoadAssignment:
    return make(endpoint.ClusterLoadAssignment, cluster_name=name, endpoints=localities(groups))


def localities(groups: Iterable[Group]) -> list[endpoint.LocalityLbEndpoints]:
    """The groups as Envoy takes them."""
    return [
        make(
            endpoint.LocalityLbEndpoints,
            locality=_locality(group.locality),
            lb_endpoints=[_lb_endpoint(place) for place in group.places],
            load_balancing_weight=group.weight,
            priority=group.priority,
        )
        for group in groups
    ]


def _locality(name: str) -> core.Locality:
    place = where(name)
    return make(core.Locality, region=place.region, zone=place.zone, sub_zone=place.sub_zone)


def _lb_endpoint(place: PlaceToServe) -> endpoint.LbEndpoint:
    return make(
        endpoint.LbEndpoint,
        endpoint=make(endpoint.Endpoint, address=at(place.address, place.port)),
        load_balancing_weight=place.weight,
    )


def at(address: str, port: int) -> core.Address:
    """An address as Envoy takes it: `unix:///path` is a pipe."""
    if address.startswith(UNIX):
        return make(core.Address, pipe=make(core.Pipe, path=address.removeprefix(UNIX)))
    return make(core.Address, socket_address=make(core.SocketAddress, address=address, port_value=port))
