"""Which clusters does a proxy hold? One for each service port and one for each subset of it, used by a route or not.

Every default of Envoy's that differs from Istio's is set: connect timeout, load balancer, circuit breakers that don't
break.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint
from envoy_data_plane.envoy.extensions.network.dns_resolver.cares import v3 as cares
from envoy_data_plane.envoy.extensions.upstreams.http import v3 as upstreams
from envoy_data_plane.envoy.type import v3 as envoy_type

from mesh.istio.duration import SECOND
from mesh.istio.protocol import Protocol
from mesh.istio.views import Labels, Port
from mesh.istio.views_connection_pool import ConnectionPool, TcpKeepalive
from mesh.istio.views_destination_rule import Policy, RetryBudget
from mesh.xds.translate.balance import apply_balance
from mesh.xds.translate.caller import Caller
from mesh.xds.translate.encode import EncodeCache, any_of, encode, make
from mesh.xds.translate.endpoints import at, chosen, localities, preferred
from mesh.xds.translate.metadata import istio_metadata
from mesh.xds.translate.names import (
    BLACK_HOLE,
    PASSTHROUGH,
    config_path,
    inbound_cluster,
    outbound_cluster,
    stat_prefix,
)
from mesh.xds.translate.nearness import Group
from mesh.xds.translate.places import Service
from mesh.xds.translate.policy import port_policy, subset_policy
from mesh.xds.translate.resources import CLUSTER, Resource, resource
from mesh.xds.translate.rules import Rule

CONNECT_TIMEOUT = timedelta(seconds=10)
_UNLIMITED = 2**32 - 1
_DNS_REFRESH = timedelta(seconds=60)
_DNS_JITTER = timedelta(milliseconds=100)
_DNS_QUERIES = 100
"""UDP queries before the resolver changes its socket."""
_PASSTHROUGH_IDLE = timedelta(minutes=5)
_INBOUND_SOURCE = "127.0.0.6"
_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_TYPES = {
    "STATIC": cluster.ClusterDiscoveryType.EDS,
    "DNS": cluster.ClusterDiscoveryType.STRICT_DNS,
    "DNS_ROUND_ROBIN": cluster.ClusterDiscoveryType.LOGICAL_DNS,
}


def service_clusters(
    service: Service, port: Port, rule: Rule | None, caller: Caller, cache: EncodeCache
) -> Iterator[Resource]:
    """The cluster of a service's port and those of its subsets."""
    path = "" if rule is None else config_path("destination-rule", rule.source.namespace, rule.source.name)
    whole = port_policy(None if rule is None else rule.policy, port.number)
    yield from _cluster(_Shape(service, port, whole, "", (), path), caller, cache)
    for subset in rule.subsets if rule is not None else ():
        policy = subset_policy(rule.policy if rule else None, subset, port.number)
        yield from _cluster(_Shape(service, port, policy, subset.name, subset.labels, path), caller, cache)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What one outbound cluster is made of. `path` names the DestinationRule behind it."""

    service: Service
    port: Port
    policy: Policy
    subset: str
    wanted: Labels
    path: str


def _cluster(shape: _Shape, caller: Caller, cache: EncodeCache) -> Iterator[Resource]:
    """Nothing for a DNS cluster without endpoints: istiod leaves it out too."""
    service, port = shape.service, shape.port
    name = outbound_cluster(port.number, shape.subset, service.host)
    groups = (
        () if service.resolution == "STATIC" else preferred(shape.policy, chosen(service, shape.wanted, port), caller)
    )
    if service.resolution != "STATIC" and not groups:
        return
    key = ("cluster", name, service.resolution, service.external, port.protocol, shape.policy, shape.path, groups)
    yield cache.get(key, lambda: resource(CLUSTER, name, encode(_outbound(name, shape, groups))))


def _outbound(name: str, shape: _Shape, groups: tuple[Group, ...]) -> cluster.Cluster:
    made = _pooled(name, _TYPES[shape.service.resolution], shape.port.protocol, shape.policy)
    apply_balance(made, shape.policy)
    made.metadata = _metadata(shape)
    if made.type is cluster.ClusterDiscoveryType.EDS:
        made.eds_cluster_config = make(cluster.ClusterEdsClusterConfig, eds_config=ads(), service_name=name)
    else:
        made.dns_lookup_family = cluster.ClusterDnsLookupFamily.V4_ONLY
        made.dns_jitter = _DNS_JITTER
        made.dns_refresh_rate = _DNS_REFRESH
        made.typed_dns_resolver_config = _resolver()
        made.respect_dns_ttl = True
        made.load_assignment = make(endpoint.ClusterLoadAssignment, cluster_name=name, endpoints=localities(groups))
    return made


def _metadata(shape: _Shape) -> core.Metadata | None:
    """The document behind the cluster; whether the service is outside of the mesh stands at the service as a whole."""
    outside = {"external": True} if shape.service.external and not shape.subset else {}
    subset = {"subset": shape.subset} if shape.subset else {}
    config = {"config": shape.path} if shape.path else {}
    return istio_metadata(**outside, **config, **subset)


def _resolver() -> core.TypedExtensionConfig:
    return make(
        core.TypedExtensionConfig,
        name="envoy.network.dns_resolver.cares",
        typed_config=any_of(make(cares.CaresDnsResolverConfig, udp_max_queries=_DNS_QUERIES)),
    )


def ads() -> core.ConfigSource:
    """The stream that everything comes by, waited for as long as it takes."""
    return make(
        core.ConfigSource,
        ads=make(core.AggregatedConfigSource),
        initial_fetch_timeout=timedelta(0),
        resource_api_version=core.ApiVersion.V3,
    )


def _pooled(name: str, kind: cluster.ClusterDiscoveryType, protocol: Protocol, policy: Policy) -> cluster.Cluster:
    """What clusters in both directions have in common: name, timeouts, limits, protocol."""
    pool = policy.connection_pool or ConnectionPool()
    made = make(
        cluster.Cluster,
        name=name,
        type=kind,
        alt_stat_name=stat_prefix(name),
        connect_timeout=pool.connect_timeout or CONNECT_TIMEOUT,
        circuit_breakers=make(cluster.CircuitBreakers, thresholds=[_thresholds(pool, policy.retry_budget)]),
    )
    if pool.tcp_keepalive is not None:
        made.upstream_connection_options = _keepalive(pool.tcp_keepalive)
    options = _http_options(pool, http2=protocol.is_http2 or pool.h2_upgrade == "UPGRADE")
    if options is not None:
        made.typed_extension_protocol_options = {_HTTP_OPTIONS: any_of(options)}
    return made


def _keepalive(keepalive: TcpKeepalive) -> cluster.UpstreamConnectionOptions:
    probing = make(
        core.TcpKeepalive,
        keepalive_probes=keepalive.probes or None,
        keepalive_time=None if keepalive.time is None else keepalive.time // SECOND,
        keepalive_interval=None if keepalive.interval is None else keepalive.interval // SECOND,
    )
    return make(cluster.UpstreamConnectionOptions, tcp_keepalive=probing)


def _thresholds(pool: ConnectionPool, budget: RetryBudget | None) -> cluster.CircuitBreakersThresholds:
    made = make(
        cluster.CircuitBreakersThresholds,
        max_connections=pool.max_connections or _UNLIMITED,
        max_pending_requests=pool.http1_max_pending_requests or _UNLIMITED,
        max_requests=pool.http2_max_requests or _UNLIMITED,
        max_retries=pool.max_retries or _UNLIMITED,
    )
    if budget is not None:
        made.retry_budget = make(
            cluster.CircuitBreakersThresholdsRetryBudget,
            budget_percent=make(envoy_type.Percent, value=budget.percent),
            budget_interval=budget.interval,
            min_retry_concurrency=budget.minimum,
        )
    return made


def _http_options(pool: ConnectionPool, *, http2: bool) -> upstreams.HttpProtocolOptions | None:
    """None for HTTP/1.1 with Envoy's own limits. Envoy demands a protocol as soon as there are options at all."""
    limited = _is_limited(pool)
    if not (http2 or pool.use_client_protocol or limited):
        return None
    made = make(upstreams.HttpProtocolOptions)
    if limited:
        made.common_http_protocol_options = make(
            core.HttpProtocolOptions,
            idle_timeout=pool.idle_timeout,
            max_connection_duration=pool.max_connection_duration,
            max_requests_per_connection=pool.max_requests_per_connection or None,
        )
    if pool.use_client_protocol:
        made.use_downstream_protocol_config = _either_protocol()
    elif http2:
        made.explicit_http_config = _http2_alone(pool)
    else:
        made.explicit_http_config = make(
            upstreams.HttpProtocolOptionsExplicitHttpConfig, http_protocol_options=make(core.Http1ProtocolOptions)
        )
    return made


def _is_limited(pool: ConnectionPool) -> bool:
    """Does the pool say anything of connections as such? A time of 0 does: it switches a limit of Envoy's off."""
    times = (pool.max_connection_duration, pool.idle_timeout, pool.http2_keepalive)
    counts = (pool.max_requests_per_connection, pool.max_concurrent_streams)
    return any(time is not None for time in times) or any(counts)


def _http2_alone(pool: ConnectionPool) -> upstreams.HttpProtocolOptionsExplicitHttpConfig:
    options = make(core.Http2ProtocolOptions, max_concurrent_streams=pool.max_concurrent_streams or None)
    if pool.http2_keepalive is not None:
        interval, timeout = pool.http2_keepalive
        options.connection_keepalive = make(core.KeepaliveSettings, interval=interval, timeout=timeout)
    return make(upstreams.HttpProtocolOptionsExplicitHttpConfig, http2_protocol_options=options)


def _either_protocol() -> upstreams.HttpProtocolOptionsUseDownstreamHttpConfig:
    return make(
        upstreams.HttpProtocolOptionsUseDownstreamHttpConfig,
        http_protocol_options=make(core.Http1ProtocolOptions),
        http2_protocol_options=make(core.Http2ProtocolOptions),
    )


def inbound(port: Port, place: tuple[str, int], pool: ConnectionPool | None, cache: EncodeCache) -> Resource:
    """The cluster of a workload's own application, at an address and port or at a unix socket."""
    return cache.get(
        ("inbound", port.number, port.protocol, place, pool),
        lambda: resource(CLUSTER, inbound_cluster(port.number), encode(_inbound(port, place, pool))),
    )


def _inbound(port: Port, place: tuple[str, int], pool: ConnectionPool | None) -> cluster.Cluster:
    address, number = place
    made = _pooled(
        inbound_cluster(port.number), cluster.ClusterDiscoveryType.STATIC, port.protocol, Policy(connection_pool=pool)
    )
    made.common_lb_config = make(cluster.ClusterCommonLbConfig)
    made.load_assignment = make(
        endpoint.ClusterLoadAssignment,
        cluster_name=made.name,
        endpoints=[
            make(
                endpoint.LocalityLbEndpoints,
                lb_endpoints=[make(endpoint.LbEndpoint, endpoint=make(endpoint.Endpoint, address=at(address, number)))],
            )
        ],
    )
    if address not in ("127.0.0.1", "::1"):
        source = make(core.SocketAddress, address=_INBOUND_SOURCE, port_value=0)
        made.upstream_bind_config = make(core.BindConfig, source_address=source)
    return made


def black_hole(cache: EncodeCache) -> Resource:
    """The cluster that has no endpoints, for what must go nowhere."""
    return cache.get(BLACK_HOLE, lambda: resource(CLUSTER, BLACK_HOLE, encode(_black_hole())))


def _black_hole() -> cluster.Cluster:
    return make(
        cluster.Cluster,
        name=BLACK_HOLE,
        type=cluster.ClusterDiscoveryType.STATIC,
        alt_stat_name=stat_prefix(BLACK_HOLE),
        connect_timeout=CONNECT_TIMEOUT,
    )


def passthrough(cache: EncodeCache) -> Resource:
    """The cluster of addresses that the mesh doesn't know. Without interception there are none, so it answers 503."""
    return cache.get(PASSTHROUGH, lambda: resource(CLUSTER, PASSTHROUGH, encode(_passthrough())))


def _passthrough() -> cluster.Cluster:
    options = make(
        upstreams.HttpProtocolOptions,
        common_http_protocol_options=make(core.HttpProtocolOptions, idle_timeout=_PASSTHROUGH_IDLE),
        use_downstream_protocol_config=_either_protocol(),
    )
    made = _pooled(PASSTHROUGH, cluster.ClusterDiscoveryType.ORIGINAL_DST, Protocol.HTTP, Policy())
    made.lb_policy = cluster.ClusterLbPolicy.CLUSTER_PROVIDED
    made.typed_extension_protocol_options = {_HTTP_OPTIONS: any_of(options)}
    return made
