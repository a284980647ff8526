"""Which endpoints does a cluster have? Those of the service that carry the subset's labels; maybe none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint

from mesh.istio.hosts import is_wildcard
from mesh.istio.views import Endpoint, Labels, Port, selects
from mesh.xds.translate.encode import EncodeCache, encode, make
from mesh.xds.translate.names import outbound_cluster
from mesh.xds.translate.places import Rule, Service
from mesh.xds.translate.resources import ENDPOINT, Resource, resource

UNIX = "unix://"


@dataclass(frozen=True, slots=True)
class PlaceToServe:
    """An endpoint of one cluster. The port of a unix socket is 0."""

    address: str
    port: int
    weight: int
    locality: str


def chosen(service: Service, wanted: Labels, port: Port) -> tuple[PlaceToServe, ...]:
    """The endpoints of a service's port that carry the labels. A DNS service without any is found by its own name."""
    endpoints = service.endpoints
    if not endpoints and service.resolution != "STATIC" and not is_wildcard(service.host):
        endpoints = (Endpoint(service.host, (), (), 1, ""),)
    return tuple(
        PlaceToServe(found.address, _port_of(found, port), found.weight, found.locality)
        for found in endpoints
        if selects(wanted, found.labels)
    )


def _port_of(found: Endpoint, port: Port) -> int:
    return 0 if found.address.startswith(UNIX) else dict(found.ports).get(port.name, port.target)


def load_assignments(service: Service, port: Port, rule: Rule | None, cache: EncodeCache) -> Iterator[Resource]:
    """The endpoints of a port's EDS clusters; an empty list rather than none, or Envoy waits for ever."""
    if service.resolution != "STATIC":
        return
    subsets = [("", ()), *((subset.name, subset.labels) for subset in (rule.subsets if rule else ()))]
    for name, wanted in subsets:
        yield _load_assignment(outbound_cluster(port.number, name, service.host), chosen(service, wanted, port), cache)


def _load_assignment(name: str, places: tuple[PlaceToServe, ...], cache: EncodeCache) -> Resource:
    return cache.get(("endpoints", name, places), lambda: resource(ENDPOINT, name, encode(_assignment(name, places))))


def _assignment(name: str, places: tuple[PlaceToServe, ...]) -> endpoint.ClusterLoadAssignment:
    return make(endpoint.ClusterLoadAssignment, cluster_name=name, endpoints=localities(places))


def localities(places: Sequence[PlaceToServe]) -> list[endpoint.LocalityLbEndpoints]:
    """Endpoints by locality, each locality as heavy as its endpoints together."""
    made = []
    for name, group in groupby(places, key=lambda place: place.locality):
        members = list(group)
        made.append(
            make(
                endpoint.LocalityLbEndpoints,
                locality=_locality(name),
                lb_endpoints=[_lb_endpoint(place) for place in members],
                load_balancing_weight=sum(place.weight for place in members),
            )
        )
    return made


def _locality(name: str) -> core.Locality:
    region, zone, sub_zone = (*name.split("/"), "", "", "")[:3]
    return make(core.Locality, region=region, zone=zone, sub_zone=sub_zone)


def _lb_endpoint(place: PlaceToServe) -> endpoint.LbEndpoint:
    return make(
        endpoint.LbEndpoint,
        endpoint=make(endpoint.Endpoint, address=at(place.address, place.port)),
        health_status=core.HealthStatus.HEALTHY,
        load_balancing_weight=place.weight,
    )


def at(address: str, port: int) -> core.Address:
    """An address as Envoy takes it: `unix:///path` is a pipe."""
    if address.startswith(UNIX):
        return make(core.Address, pipe=make(core.Pipe, path=address.removeprefix(UNIX)))
    return make(core.Address, socket_address=make(core.SocketAddress, address=address, port_value=port))
