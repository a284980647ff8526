"""Which clusters and endpoints does a proxy need for what it calls? The same for all that call the same."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mesh.xds.translate.caller import Caller
from mesh.xds.translate.clusters import service_clusters
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.endpoints import load_assignments
from mesh.xds.translate.places import Places, Service
from mesh.xds.translate.resources import Resource
from mesh.xds.translate.scope import ServicePorts


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Clusters, and the endpoints of those that ask for them."""

    clusters: tuple[Resource, ...]
    endpoints: tuple[Resource, ...]


def upstreams(places: Places, targets: ServicePorts, caller: Caller, cache: EncodeCache) -> Upstreams:
    """What a caller needs to call `targets`. Who differs in nothing that the rules look at shares it."""
    told_apart_by = Caller(
        caller.namespace,
        caller.labels if places.looks_at_labels else (),
        caller.locality if places.looks_at_locality else "",
    )
    key = ("upstreams", targets, told_apart_by)
    return places.memo.get(key, lambda: _upstreams(places, targets, told_apart_by, cache))


def _upstreams(places: Places, targets: ServicePorts, caller: Caller, cache: EncodeCache) -> Upstreams:
    clusters: list[Resource] = []
    endpoints: list[Resource] = []
    for service in called(places, targets):
        rule = places.rule(service, caller.namespace, caller.labels)
        for port in service.ports:
            clusters += service_clusters(service, port, rule, caller, cache)
            endpoints += load_assignments(service, port, rule, caller, cache)
    return Upstreams(tuple(clusters), tuple(endpoints))


def called(places: Places, targets: ServicePorts) -> Iterator[Service]:
    """The services behind `targets`, each with just the ports that are called."""
    for host, namespace, ports in targets:
        for service in places.services[host]:
            if service.namespace == namespace:
                yield replace(service, ports=tuple(port for port in service.ports if port.number in ports))
