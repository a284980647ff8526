"""Decodes translated resources, and asks a real Envoy whether it takes them."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envoy_data_plane.envoy.config.bootstrap import v3 as bootstrap
from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint
from envoy_data_plane.envoy.config.listener import v3 as listener
from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.extensions.filters.http.router import v3 as router
from envoy_data_plane.envoy.extensions.filters.network.http_connection_manager import v3 as manager
from envoy_data_plane.google.protobuf import Any as AnyMessage

from mesh.xds.translate import CLUSTER, ENDPOINT, LISTENER, ROUTE, NodeResources, Resource

MESSAGES: dict[str, Any] = {
    CLUSTER: cluster.Cluster,
    ENDPOINT: endpoint.ClusterLoadAssignment,
    LISTENER: listener.Listener,
    ROUTE: route.RouteConfiguration,
}
ENVOY = Path(sys.executable).parent / "envoy"


def message(resource: Resource) -> Any:
    """The resource as a message again."""
    return MESSAGES[resource.type_url].parse(resource.body)


def as_json(resource: Resource) -> dict[str, Any]:
    """The resource in protobuf's JSON form, messages within Any opened."""
    found: dict[str, Any] = message(resource).to_dict()
    return found


async def envoy_objections(resources: NodeResources, folder: Path) -> str:
    """What Envoy says against the resources; empty when it takes all of them."""
    path = folder / "bootstrap.pb"
    path.write_bytes(bytes(_bootstrap(resources)))
    process = await asyncio.create_subprocess_exec(
        ENVOY, "--mode", "validate", "-c", str(path), "-l", "warn",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    return "" if process.returncode == 0 else output.decode()


def _bootstrap(resources: NodeResources) -> bootstrap.Bootstrap:
    clusters = [message(item) for item in resources.clusters.values()]
    listeners = [message(item) for item in resources.listeners.values()]
    listeners += [_probe(message(item), 20000 + index) for index, item in enumerate(resources.routes.values())]
    return bootstrap.Bootstrap(
        node=core.Node(id="test", cluster="test"),
        static_resources=bootstrap.BootstrapStaticResources(clusters=[_ads_cluster(), *clusters], listeners=listeners),
        dynamic_resources=bootstrap.BootstrapDynamicResources(
            ads_config=core.ApiConfigSource(
                api_type=core.ApiConfigSourceApiType.GRPC,
                transport_api_version=core.ApiVersion.V3,
                grpc_services=[core.GrpcService(envoy_grpc=core.GrpcServiceEnvoyGrpc(cluster_name="ads"))],
            )
        ),
    )


def _ads_cluster() -> cluster.Cluster:
    return cluster.Cluster(
        name="ads",
        type=cluster.ClusterDiscoveryType.STATIC,
        http2_protocol_options=core.Http2ProtocolOptions(),
        load_assignment=endpoint.ClusterLoadAssignment(
            cluster_name="ads", endpoints=[endpoint.LocalityLbEndpoints(lb_endpoints=[_place()])]
        ),
    )


def _place() -> endpoint.LbEndpoint:
    where = core.Address(socket_address=core.SocketAddress(address="127.0.0.1", port_value=1))
    return endpoint.LbEndpoint(endpoint=endpoint.Endpoint(address=where))


def _probe(routes: route.RouteConfiguration, port: int) -> listener.Listener:
    """A listener that carries the routes inline, because validation fetches nothing."""
    http = manager.HttpConnectionManager(
        stat_prefix="probe",
        route_config=routes,
        http_filters=[
            manager.HttpFilter(name="envoy.filters.http.router", typed_config=AnyMessage.pack(router.Router()))
        ],
    )
    return listener.Listener(
        name=f"probe-{port}",
        address=core.Address(socket_address=core.SocketAddress(address="127.0.0.1", port_value=port)),
        filter_chains=[listener.FilterChain(filters=[_filter(http)])],
    )


def _filter(http: manager.HttpConnectionManager) -> listener.Filter:
    return listener.Filter(name="envoy.filters.network.http_connection_manager", typed_config=AnyMessage.pack(http))


def dumps(resources: Iterable[Resource]) -> dict[str, dict[str, Any]]:
    """Resources in JSON form by name."""
    return {item.name: as_json(item) for item in resources}
