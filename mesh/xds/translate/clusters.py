"""Which clusters does a proxy hold? One for each service port and one for each subset of it, used by a route or not.

Every default of Envoy's that differs from Istio's is set: connect timeout, load balancer, circuit breakers that don't
break.
"""

from collections.abc import Iterator
from datetime import timedelta

from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.endpoint import v3 as endpoint
from envoy_data_plane.envoy.extensions.upstreams.http import v3 as upstreams
from envoy_data_plane.envoy.type import v3 as envoy_type

from mesh.istio.protocol import Protocol
from mesh.istio.views import Labels, Port
from mesh.istio.views_destination_rule import ConnectionPool, LoadBalancer, Policy, RetryBudget
from mesh.xds.translate.encode import EncodeCache, any_of, encode, make
from mesh.xds.translate.endpoints import PlaceToServe, at, chosen, localities
from mesh.xds.translate.names import (
    BLACK_HOLE,
    PASSTHROUGH,
    config_path,
    inbound_cluster,
    outbound_cluster,
    stat_prefix,
)
from mesh.xds.translate.places import Rule, Service
from mesh.xds.translate.policy import port_policy, subset_policy
from mesh.xds.translate.resources import CLUSTER, Resource, resource
from mesh.xds.translate.routes import config_metadata

CONNECT_TIMEOUT = timedelta(seconds=10)
_UNLIMITED = 2**32 - 1
_DNS_REFRESH = timedelta(seconds=60)
_PASSTHROUGH_IDLE = timedelta(minutes=5)
_INBOUND_SOURCE = "127.0.0.6"
_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
_TYPES = {
    "STATIC": cluster.ClusterDiscoveryType.EDS,
    "DNS": cluster.ClusterDiscoveryType.STRICT_DNS,
    "DNS_ROUND_ROBIN": cluster.ClusterDiscoveryType.LOGICAL_DNS,
}
_BALANCERS = {
    "ROUND_ROBIN": cluster.ClusterLbPolicy.ROUND_ROBIN,
    "RANDOM": cluster.ClusterLbPolicy.RANDOM,
}


def service_clusters(service: Service, port: Port, rule: Rule | None, cache: EncodeCache) -> Iterator[Resource]:
    """The cluster of a service's port and those of its subsets."""
    path = "" if rule is None else config_path("destination-rule", rule.source.namespace, rule.source.name)
    whole = port_policy(None if rule is None else rule.policy, port.number)
    yield from _cluster(service, port, whole, ("", ()), path, cache)
    for subset in rule.subsets if rule is not None else ():
        policy = subset_policy(rule.policy if rule else None, subset, port.number)
        yield from _cluster(service, port, policy, (subset.name, subset.labels), path, cache)


def _cluster(
    service: Service, port: Port, policy: Policy, subset: tuple[str, Labels], path: str, cache: EncodeCache
) -> Iterator[Resource]:
    """Nothing for a DNS cluster without endpoints: istiod leaves it out too."""
    name = outbound_cluster(port.number, subset[0], service.host)
    places = () if service.resolution == "STATIC" else chosen(service, subset[1], port)
    if service.resolution != "STATIC" and not places:
        return
    key = ("cluster", name, service.resolution, port.protocol, policy, path, places)
    yield cache.get(
        key,
        lambda: resource(
            CLUSTER, name, encode(_outbound(name, service.resolution, port, policy, subset[0], path, places))
        ),
    )


def _outbound(
    name: str, resolution: str, port: Port, policy: Policy, subset: str, path: str, places: tuple[PlaceToServe, ...]
) -> cluster.Cluster:
    made = _pooled(name, _TYPES[resolution], port.protocol, policy)
    made.common_lb_config = make(cluster.ClusterCommonLbConfig)
    _balance(made, policy.load_balancer or LoadBalancer())
    if path:
        made.metadata = config_metadata(path, **({"subset": subset} if subset else {}))
    if made.type is cluster.ClusterDiscoveryType.EDS:
        made.eds_cluster_config = make(cluster.ClusterEdsClusterConfig, eds_config=ads(), service_name=name)
    else:
        made.dns_lookup_family = cluster.ClusterDnsLookupFamily.V4_ONLY
        made.dns_refresh_rate = _DNS_REFRESH
        made.respect_dns_ttl = True
        made.load_assignment = make(endpoint.ClusterLoadAssignment, cluster_name=name, endpoints=localities(places))
    return made


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
    options = _http_options(pool, http2=protocol.is_http2 or pool.h2_upgrade == "UPGRADE")
    if options is not None:
        made.typed_extension_protocol_options = {_HTTP_OPTIONS: any_of(options)}
    return made


def _thresholds(pool: ConnectionPool, budget: RetryBudget | None) -> cluster.CircuitBreakersThresholds:
    made = make(
        cluster.CircuitBreakersThresholds,
        max_connections=pool.max_connections or _UNLIMITED,
        max_pending_requests=pool.http1_max_pending_requests or _UNLIMITED,
        max_requests=pool.http2_max_requests or _UNLIMITED,
        max_retries=pool.max_retries or _UNLIMITED,
        track_remaining=True,
    )
    if budget is not None:
        made.retry_budget = make(
            cluster.CircuitBreakersThresholdsRetryBudget,
            budget_percent=make(envoy_type.Percent, value=budget.percent),
            min_retry_concurrency=budget.minimum,
        )
    return made


def _http_options(pool: ConnectionPool, *, http2: bool) -> upstreams.HttpProtocolOptions | None:
    """None for HTTP/1.1 with Envoy's own limits. Envoy demands a protocol as soon as there are options at all."""
    limits = (
        pool.max_connection_duration,
        pool.idle_timeout,
        pool.max_requests_per_connection,
        pool.max_concurrent_streams,
    )
    if not (http2 or pool.use_client_protocol or any(limits)):
        return None
    made = make(upstreams.HttpProtocolOptions)
    if any(limits):
        made.common_http_protocol_options = make(
            core.HttpProtocolOptions,
            idle_timeout=pool.idle_timeout,
            max_connection_duration=pool.max_connection_duration,
            max_requests_per_connection=pool.max_requests_per_connection or None,
        )
    if pool.use_client_protocol:
        made.use_downstream_protocol_config = _either_protocol()
    elif http2:
        h2 = make(core.Http2ProtocolOptions, max_concurrent_streams=pool.max_concurrent_streams or None)
        made.explicit_http_config = make(upstreams.HttpProtocolOptionsExplicitHttpConfig, http2_protocol_options=h2)
    else:
        made.explicit_http_config = make(
            upstreams.HttpProtocolOptionsExplicitHttpConfig, http_protocol_options=make(core.Http1ProtocolOptions)
        )
    return made


def _either_protocol() -> upstreams.HttpProtocolOptionsUseDownstreamHttpConfig:
    return make(
        upstreams.HttpProtocolOptionsUseDownstreamHttpConfig,
        http_protocol_options=make(core.Http1ProtocolOptions),
        http2_protocol_options=make(core.Http2ProtocolOptions),
    )


def _balance(made: cluster.Cluster, balancer: LoadBalancer) -> None:
    made.lb_policy = _BALANCERS.get(balancer.simple, cluster.ClusterLbPolicy.LEAST_REQUEST)
    if balancer.warmup is None:
        return
    slow_start = make(
        cluster.ClusterSlowStartConfig,
        slow_start_window=balancer.warmup,
        aggression=make(core.RuntimeDouble, default_value=balancer.warmup_aggression, runtime_key="warmup.aggression"),
        min_weight_percent=make(envoy_type.Percent, value=balancer.warmup_minimum_percent),
    )
    if made.lb_policy is cluster.ClusterLbPolicy.ROUND_ROBIN:
        made.round_robin_lb_config = make(cluster.ClusterRoundRobinLbConfig, slow_start_config=slow_start)
    elif made.lb_policy is cluster.ClusterLbPolicy.LEAST_REQUEST:
        made.least_request_lb_config = make(cluster.ClusterLeastRequestLbConfig, slow_start_config=slow_start)


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
    if address not in ("127.0.0.1", "::1") and number:
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
