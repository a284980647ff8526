"""What does istiod tell one proxy? A client of its discovery service that takes everything and says thanks."""

import importlib
import queue
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import grpc
from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint
from envoy_data_plane.envoy.config.listener import v3 as listener
from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.service.discovery import v3 as discovery
from envoy_data_plane.google.protobuf import Struct

from mesh.xds.translate import CLUSTER, ENDPOINT, LISTENER, ROUTE
from mesh.xds.wire import read_response
from tests.conformance.corpus import Proxy

METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
WITHIN_S = 30
_INSIDE_ANY = (
    "config.cluster.v3",
    "extensions.clusters.dynamic_forward_proxy.v3",
    "extensions.filters.http.cors.v3",
    "extensions.filters.http.fault.v3",
    "extensions.access_loggers.file.v3",
    "extensions.access_loggers.stream.v3",
    "extensions.filters.http.grpc_stats.v3",
    "extensions.filters.http.router.v3",
    "extensions.filters.listener.http_inspector.v3",
    "extensions.filters.listener.tls_inspector.v3",
    "extensions.filters.network.http_connection_manager.v3",
    "extensions.filters.network.tcp_proxy.v3",
    "extensions.network.dns_resolver.cares.v3",
    "extensions.request_id.uuid.v3",
    "extensions.retry.host.previous_hosts.v3",
    "extensions.retry.priority.previous_priorities.v3",
    "extensions.transport_sockets.proxy_protocol.v3",
    "extensions.transport_sockets.raw_buffer.v3",
    "extensions.transport_sockets.tls.v3",
    "extensions.upstreams.http.v3",
)
for _package in _INSIDE_ANY:
    importlib.import_module(f"envoy_data_plane.envoy.{_package}")
_MESSAGES: dict[str, Any] = {
    CLUSTER: cluster.Cluster,
    ENDPOINT: endpoint.ClusterLoadAssignment,
    LISTENER: listener.Listener,
    ROUTE: route.RouteConfiguration,
}

Told = dict[str, dict[str, Any]]
"""Resources in JSON form, by type and name."""


@lru_cache(maxsize=4096)
def read(type_url: str, body: bytes) -> dict[str, Any]:
    """A resource in JSON form."""
    found: dict[str, Any] = _MESSAGES[type_url].parse(body).to_dict()
    return found


class Stream:
    """One proxy's conversation with istiod: a question, its answer, the next question."""

    def __init__(self, channel: grpc.Channel, proxy: Proxy) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        method = channel.stream_stream(METHOD)
        self._node: core.Node | None = node(proxy)
        self._answers: Any = method(iter(self._requests.get, None), timeout=WITHIN_S)

    def ask(self, type_url: str, names: Sequence[str] = ()) -> dict[str, Any]:
        """The resources of a type by name, in JSON form; what was read before is not read again."""
        request = discovery.DiscoveryRequest(node=self._node, type_url=type_url, resource_names=list(names))
        self._node = None
        self._requests.put(bytes(request))
        while (answer := read_response(next(self._answers))).type_url != type_url:
            pass
        found = [read(type_url, body) for body in answer.bodies]
        return {item.get("name") or item["clusterName"]: item for item in found}

    def close(self) -> None:
        self._requests.put(None)
        self._answers.cancel()


def told(channel: grpc.Channel, proxy: Proxy) -> Told:
    """Everything that istiod has for a proxy, asked in Envoy's order."""
    stream = Stream(channel, proxy)
    try:
        clusters = stream.ask(CLUSTER)
        by_eds = [name for name, each in clusters.items() if each.get("type") == "EDS"]
        endpoints = stream.ask(ENDPOINT, by_eds) if by_eds else {}
        listeners = stream.ask(LISTENER)
        names = sorted({name for each in listeners.values() for name in route_names(each)})
        routes = stream.ask(ROUTE, names) if names else {}
    finally:
        stream.close()
    return {CLUSTER: clusters, ENDPOINT: endpoints, LISTENER: listeners, ROUTE: routes}


def route_names(value: Any) -> Iterator[str]:
    """The RouteConfigurations that a listener asks for."""
    if isinstance(value, dict):
        if "routeConfigName" in value:
            yield value["routeConfigName"]
        for inner in value.values():
            yield from route_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from route_names(inner)


def node(proxy: Proxy) -> core.Node:
    """The proxy as Istio's agents introduce theirs."""
    who = f"{proxy.kind}~{proxy.address}~{proxy.name}.{proxy.namespace}~{proxy.namespace}.svc.cluster.local"
    metadata = {
        "NAMESPACE": proxy.namespace,
        "LABELS": dict(proxy.labels),
        "INTERCEPTION_MODE": "NONE",
        "CLUSTER_ID": "Kubernetes",
    }
    region, zone, sub_zone = (*proxy.locality.split("/"), "", "", "")[:3]
    place = core.Locality(region=region, zone=zone, sub_zone=sub_zone) if proxy.locality else None
    return core.Node(id=who, cluster=proxy.name, metadata=Struct.from_dict(metadata), locality=place)
