"""How does a cluster choose among its endpoints? Load balancer, panic, outlier detection, locality."""

from envoy_data_plane.envoy.config.cluster import v3 as cluster
from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.type import v3 as envoy_type

from mesh.istio.views_balancing import ConsistentHash, LoadBalancer, LocalitySetting, OutlierDetection, Warmup
from mesh.istio.views_destination_rule import Policy
from mesh.xds.translate.encode import make

DEFAULT_RING = 1024
_ALWAYS = 100
_BALANCERS = {
    "ROUND_ROBIN": cluster.ClusterLbPolicy.ROUND_ROBIN,
    "RANDOM": cluster.ClusterLbPolicy.RANDOM,
}
_WARMUP_KEY = "("
"""What istiod gives as runtime key: Envoy wants one, and nobody sets it."""


def apply_balance(made: cluster.Cluster, policy: Policy) -> None:
    """Gives the cluster everything that decides which endpoint gets a request."""
    balancer, outlier = policy.load_balancer or LoadBalancer(), policy.outlier_detection
    made.common_lb_config = _common(balancer.locality, outlier)
    if outlier is not None:
        made.outlier_detection = _outlier_detection(outlier)
    _simple(made, balancer)
    if balancer.consistent_hash is not None:
        _hashed(made, balancer.consistent_hash)


def _common(locality: LocalitySetting | None, outlier: OutlierDetection | None) -> cluster.ClusterCommonLbConfig:
    """Istio never panics by itself; localities weigh only where the rules weigh them."""
    least = float(outlier.min_health_percent) if outlier is not None else 0.0
    made = make(cluster.ClusterCommonLbConfig, healthy_panic_threshold=make(envoy_type.Percent, value=least))
    if locality is not None and locality.enabled and _weighs(locality, fails_over=outlier is not None):
        made.locality_weighted_lb_config = make(cluster.ClusterCommonLbConfigLocalityWeightedLbConfig)
    return made


def _weighs(locality: LocalitySetting, *, fails_over: bool) -> bool:
    if locality.distribute is not None:
        return True
    return fails_over and (locality.failover is not None or locality.failover_priority is not None)


def _simple(made: cluster.Cluster, balancer: LoadBalancer) -> None:
    made.lb_policy = _BALANCERS.get(balancer.simple, cluster.ClusterLbPolicy.LEAST_REQUEST)
    if balancer.warmup is None:
        return
    slow_start = _slow_start(balancer.warmup)
    if made.lb_policy is cluster.ClusterLbPolicy.ROUND_ROBIN:
        made.round_robin_lb_config = make(cluster.ClusterRoundRobinLbConfig, slow_start_config=slow_start)
    elif made.lb_policy is cluster.ClusterLbPolicy.LEAST_REQUEST:
        made.least_request_lb_config = make(cluster.ClusterLeastRequestLbConfig, slow_start_config=slow_start)


def _slow_start(warmup: Warmup) -> cluster.ClusterSlowStartConfig:
    made = make(cluster.ClusterSlowStartConfig, slow_start_window=warmup.duration)
    if warmup.aggression is not None:
        made.aggression = make(core.RuntimeDouble, default_value=warmup.aggression, runtime_key=_WARMUP_KEY)
    if warmup.minimum_percent is not None:
        made.min_weight_percent = make(envoy_type.Percent, value=warmup.minimum_percent)
    return made


def _hashed(made: cluster.Cluster, hashing: ConsistentHash) -> None:
    """Maglev before a ring; a ring of no named size has Envoy's, one of no named kind the old default."""
    made.round_robin_lb_config = made.least_request_lb_config = None
    if hashing.maglev is not None:
        made.lb_policy = cluster.ClusterLbPolicy.MAGLEV
        if hashing.maglev:
            made.maglev_lb_config = make(cluster.ClusterMaglevLbConfig, table_size=hashing.maglev)
        return
    made.lb_policy = cluster.ClusterLbPolicy.RING_HASH
    size = hashing.ring if hashing.ring is not None else hashing.minimum_ring_size or DEFAULT_RING
    if size:
        made.ring_hash_lb_config = make(cluster.ClusterRingHashLbConfig, minimum_ring_size=size)


def _outlier_detection(outlier: OutlierDetection) -> cluster.OutlierDetection:
    """Success rates never eject; a count of 0 switches its kind of error off."""
    made = make(
        cluster.OutlierDetection,
        enforcing_success_rate=0,
        interval=outlier.interval,
        base_ejection_time=outlier.base_ejection_time,
        max_ejection_percent=outlier.max_ejection_percent or None,
    )
    if outlier.consecutive_5xx is not None:
        made.consecutive_5xx = outlier.consecutive_5xx
        made.enforcing_consecutive_5xx = _ALWAYS if outlier.consecutive_5xx else 0
    if outlier.consecutive_gateway is not None:
        made.consecutive_gateway_failure = outlier.consecutive_gateway
        made.enforcing_consecutive_gateway_failure = _ALWAYS if outlier.consecutive_gateway else 0
    if outlier.split_local:
        _local_origin(made, outlier.consecutive_local)
    return made


def _local_origin(made: cluster.OutlierDetection, consecutive: int) -> None:
    made.split_external_local_origin_errors = True
    made.enforcing_local_origin_success_rate = 0
    if consecutive:
        made.consecutive_local_origin_failure = consecutive
        made.enforcing_consecutive_local_origin_failure = _ALWAYS
