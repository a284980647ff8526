"""Where does a proxy listen, and what does it do with a connection? Gateways, calls into a workload and out of it."""

from collections.abc import Callable, Hashable
from datetime import timedelta

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.listener import v3 as listener
from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.extensions.filters.http.cors import v3 as cors
from envoy_data_plane.envoy.extensions.filters.http.fault import v3 as fault
from envoy_data_plane.envoy.extensions.filters.http.grpc_stats import v3 as grpc_stats
from envoy_data_plane.envoy.extensions.filters.http.router import v3 as router
from envoy_data_plane.envoy.extensions.filters.network.http_connection_manager import v3 as manager

from mesh.istio.views import Identity, Port
from mesh.xds.translate.actions import NO_TIMEOUT
from mesh.xds.translate.clusters import ads
from mesh.xds.translate.encode import EncodeCache, any_of, encode, make
from mesh.xds.translate.endpoints import at
from mesh.xds.translate.filters import CORS, FAULT
from mesh.xds.translate.metadata import istio_metadata
from mesh.xds.translate.names import config_path, inbound_cluster, stat_prefix
from mesh.xds.translate.names import listener as listener_name
from mesh.xds.translate.resources import LISTENER, Resource, resource
from mesh.xds.translate.retries import inbound_retry_policy

_SERVER_NAME = "istio-envoy"
_MANAGER = "envoy.filters.network.http_connection_manager"
_ACCEPT_AT_ONCE = 1
_CONNECTED_WITHIN = timedelta(seconds=15)


def outbound_listener(bind: str, port: int, cache: EncodeCache) -> Resource:
    """The listener of calls that go out on a port; its routes have the port's number for a name."""
    return _listener(bind, port, lambda: _outbound(bind, port), ("outbound-listener", bind, port), cache)


def gateway_listener(bind: str, port: int, routes: str, cache: EncodeCache) -> Resource:
    """The listener of a gateway's servers at one address."""
    return _listener(bind, port, lambda: _gateway(bind, port, routes), ("gateway-listener", bind, port, routes), cache)


def inbound_listener(bind: str, port: Port, owner: Identity, cache: EncodeCache) -> Resource:
    """The listener of calls that come in to a workload, as the Sidecar document `owner` asks for it."""
    key = ("inbound-listener", bind, port, owner.namespace, owner.name)
    return _listener(bind, port.number, lambda: _inbound(bind, port, owner), key, cache)


def _listener(
    bind: str, port: int, make: Callable[[], listener.Listener], key: Hashable, cache: EncodeCache
) -> Resource:
    name = listener_name(bind, port)
    return cache.get(key, lambda: resource(LISTENER, name, encode(make())))


def _outbound(bind: str, port: int) -> listener.Listener:
    made = _bare(bind, port, core.TrafficDirection.OUTBOUND)
    _wait_for_nothing(made)
    http = _manager(f"outbound_{made.name}")
    http.rds = _rds(str(port))
    made.filter_chains = [_chain(http)]
    return made


def _gateway(bind: str, port: int, routes: str) -> listener.Listener:
    made = _bare(bind, port, core.TrafficDirection.OUTBOUND)
    http = _manager(f"outbound_{made.name}")
    http.rds = _rds(routes)
    http.use_remote_address = True
    http.server_name = _SERVER_NAME
    http.http_protocol_options = make(core.Http1ProtocolOptions)
    http.forward_client_cert_details = manager.HttpConnectionManagerForwardClientCertDetails.SANITIZE_SET
    http.set_current_client_cert_details = make(
        manager.HttpConnectionManagerSetCurrentClientCertDetails, subject=True, cert=True, dns=True, uri=True
    )
    made.filter_chains = [_chain(http)]
    return made


def _inbound(bind: str, port: Port, owner: Identity) -> listener.Listener:
    made = _bare(bind, port.number, core.TrafficDirection.INBOUND)
    _wait_for_nothing(made)
    http = _manager(f"inbound_{made.name}")
    http.server_name = _SERVER_NAME
    http.forward_client_cert_details = manager.HttpConnectionManagerForwardClientCertDetails.APPEND_FORWARD
    http.set_current_client_cert_details = make(
        manager.HttpConnectionManagerSetCurrentClientCertDetails, subject=True, dns=True, uri=True
    )
    http.route_config = _inbound_routes(port, f"{owner.name}.{owner.namespace}")
    if port.protocol.is_http2:
        http.http2_protocol_options = make(core.Http2ProtocolOptions)
    plaintext = make(listener.FilterChainMatch, destination_port=port.number, transport_protocol="raw_buffer")
    chain = make(listener.FilterChain, name=made.name, filter_chain_match=plaintext, filters=[_filter(http)])
    chain.metadata = istio_metadata(config=config_path("sidecar", owner.namespace, owner.name))
    made.filter_chains = [chain]
    return made


def _inbound_routes(port: Port, owner: str) -> route.RouteConfiguration:
    """One route to the application. No count of tries here: the caller's Envoy has written it, and it must survive."""
    name = inbound_cluster(port.number)
    action = make(
        route.RouteAction,
        cluster=name,
        timeout=NO_TIMEOUT,
        max_stream_duration=make(
            route.RouteActionMaxStreamDuration, max_stream_duration=NO_TIMEOUT, grpc_timeout_header_max=NO_TIMEOUT
        ),
    )
    if not port.protocol.is_grpc:
        action.retry_policy = inbound_retry_policy()
    only = make(
        route.Route,
        name="default",
        match=make(route.RouteMatch, prefix="/"),
        route=action,
        decorator=make(route.Decorator, operation=f"{owner}:{port.number}/*"),
    )
    host = make(route.VirtualHost, name=f"inbound|http|{port.number}", domains=["*"], routes=[only])
    return make(route.RouteConfiguration, name=name, virtual_hosts=[host], validate_clusters=False)


def _wait_for_nothing(made: listener.Listener) -> None:
    """No look at a connection's first bytes holds it up."""
    made.listener_filters_timeout = NO_TIMEOUT
    made.continue_on_listener_filters_timeout = True


def _bare(bind: str, port: int, direction: core.TrafficDirection) -> listener.Listener:
    return make(
        listener.Listener,
        name=listener_name(bind, port),
        address=at(bind, port),
        traffic_direction=direction,
        max_connections_to_accept_per_socket_event=_ACCEPT_AT_ONCE,
    )


def _rds(name: str) -> manager.Rds:
    return make(manager.Rds, config_source=ads(), route_config_name=name)


def _manager(name: str) -> manager.HttpConnectionManager:
    return make(
        manager.HttpConnectionManager,
        stat_prefix=stat_prefix(name),
        use_remote_address=False,
        normalize_path=True,
        stream_idle_timeout=NO_TIMEOUT,
        path_with_escaped_slashes_action=manager.HttpConnectionManagerPathWithEscapedSlashesAction.KEEP_UNCHANGED,
        proxy_100_continue=True,
        upgrade_configs=[make(manager.HttpConnectionManagerUpgradeConfig, upgrade_type="websocket")],
        http_filters=_http_filters(),
    )


def _http_filters() -> list[manager.HttpFilter]:
    """Faults and CORS do nothing by themselves: routes say what."""
    filters = {
        "envoy.filters.http.grpc_stats": any_of(_grpc_stats()),
        FAULT: any_of(make(fault.HttpFault)),
        CORS: any_of(make(cors.Cors)),
        "envoy.filters.http.router": any_of(make(router.Router)),
    }
    return [make(manager.HttpFilter, name=name, typed_config=config) for name, config in filters.items()]


def _grpc_stats() -> grpc_stats.FilterConfig:
    """Final gRPC status by cluster: a failed call is HTTP 200, so nothing else tells."""
    return make(grpc_stats.FilterConfig, emit_filter_state=True, stats_for_all_methods=False)


def _chain(http: manager.HttpConnectionManager) -> listener.FilterChain:
    return make(listener.FilterChain, filters=[_filter(http)], transport_socket_connect_timeout=_CONNECTED_WITHIN)


def _filter(http: manager.HttpConnectionManager) -> listener.Filter:
    return make(listener.Filter, name=_MANAGER, typed_config=any_of(http))
