"""Which clusters does a proxy hold, and under which policy?"""

from typing import Any

import pytest

from tests.support.xlate_documents import CLIENT, EDGE, client, cluster_of, edge, full, make, resources, rule, service
from tests.support.xlate_envoy import as_json

UNLIMITED = 4294967295
DEFAULT = f"outbound|50051||{full('shop')}"
V1 = f"outbound|50051|v1|{full('shop')}"
OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
H2 = {"explicitHttpConfig": {"http2ProtocolOptions": {}}}


def options(cluster: Any) -> Any:
    found = dict(cluster.get("typedExtensionProtocolOptions", {}).get(OPTIONS, {}))
    found.pop("@type", None)
    return found


def limits(cluster: Any) -> Any:
    (only,) = cluster["circuitBreakers"]["thresholds"]
    return only


def pooled(**pool: Any) -> Any:
    return rule("shop", trafficPolicy={"connectionPool": pool})


def test_defaults_are_istios_not_envoys() -> None:
    found = cluster_of(DEFAULT, service("shop"))
    assert found["connectTimeout"] == "10s"
    assert found["lbPolicy"] == "LEAST_REQUEST"
    assert limits(found) == {
        "maxConnections": UNLIMITED,
        "maxPendingRequests": UNLIMITED,
        "maxRequests": UNLIMITED,
        "maxRetries": UNLIMITED,
    }
    assert "outlierDetection" not in found
    assert found["commonLbConfig"] == {"healthyPanicThreshold": {}}


def test_names_and_where_endpoints_come_from() -> None:
    found = cluster_of(V1, service("shop"), rule("shop"))
    assert found["altStatName"] == f"{V1};"
    assert found["type"] == "EDS"
    assert found["edsClusterConfig"] == {
        "edsConfig": {"ads": {}, "initialFetchTimeout": "0s", "resourceApiVersion": "V3"},
        "serviceName": V1,
    }
    path = "/apis/networking.istio.io/v1/namespaces/default/destination-rule/shop"
    assert found["metadata"]["filterMetadata"]["istio"] == {"config": path, "subset": "v1"}


def test_every_subset_has_a_cluster_for_every_port_used_or_not() -> None:
    ports = [{"number": number, "name": f"p{number}", "protocol": "GRPC"} for number in (1, 2)]
    found = resources([edge("*"), service("shop", ports=ports), rule("shop")], EDGE)
    clusters = [name for name in found.clusters if name.startswith("outbound")]
    assert clusters == sorted(
        f"outbound|{port}|{subset}|{full('shop')}" for port in (1, 2) for subset in ("", "v1", "v2")
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        pytest.param("sidecar", {"BlackHoleCluster", "PassthroughCluster"}, id="a workload"),
        pytest.param("router", {"BlackHoleCluster"}, id="a gateway"),
    ],
)
def test_clusters_that_are_always_there(kind: str, expected: set[str]) -> None:
    found = resources([*client(), edge("*")], CLIENT if kind == "sidecar" else EDGE).clusters
    assert set(found) == expected


def test_unknown_addresses_lead_nowhere_without_interception() -> None:
    found = cluster_of("PassthroughCluster")
    assert (found["type"], found["lbPolicy"]) == ("ORIGINAL_DST", "CLUSTER_PROVIDED")
    assert options(found)["commonHttpProtocolOptions"] == {"idleTimeout": "300s"}
    assert limits(found)["maxRetries"] == UNLIMITED


@pytest.mark.parametrize(
    ("protocol", "pool", "expected"),
    [
        pytest.param("GRPC", {}, H2, id="gRPC"),
        pytest.param("grpc", {}, H2, id="in small letters"),
        pytest.param("HTTP2", {}, H2, id="HTTP/2"),
        pytest.param("GRPC-WEB", {}, H2, id="gRPC for browsers"),
        pytest.param("HTTP", {}, {}, id="HTTP/1.1"),
        pytest.param("HTTP", {"http": {"h2UpgradePolicy": "UPGRADE"}}, H2, id="upgraded"),
        pytest.param("HTTP", {"http": {"h2UpgradePolicy": "DO_NOT_UPGRADE"}}, {}, id="not upgraded"),
        pytest.param(
            "HTTP",
            {"http": {"useClientProtocol": True}},
            {"useDownstreamProtocolConfig": {"httpProtocolOptions": {}, "http2ProtocolOptions": {}}},
            id="as the client speaks",
        ),
        pytest.param(
            "HTTP",
            {"http": {"idleTimeout": "1s"}},
            {"commonHttpProtocolOptions": {"idleTimeout": "1s"}, "explicitHttpConfig": {"httpProtocolOptions": {}}},
            id="limits of HTTP/1.1",
        ),
        pytest.param(
            "GRPC",
            {"http": {"maxConcurrentStreams": 7}},
            {
                "commonHttpProtocolOptions": {},
                "explicitHttpConfig": {"http2ProtocolOptions": {"maxConcurrentStreams": 7}},
            },
            id="streams",
        ),
        pytest.param(
            "GRPC",
            {"http": {"maxRequestsPerConnection": 9}, "tcp": {"maxConnectionDuration": "60s"}},
            {"commonHttpProtocolOptions": {"maxRequestsPerConnection": 9, "maxConnectionDuration": "60s"}, **H2},
            id="connections that end",
        ),
        pytest.param(
            "GRPC",
            {"tcp": {"idleTimeout": "2s"}},
            {"commonHttpProtocolOptions": {"idleTimeout": "2s"}, **H2},
            id="idle by tcp",
        ),
        pytest.param(
            "GRPC",
            {"tcp": {"idleTimeout": "2s"}, "http": {"idleTimeout": "3s"}},
            {"commonHttpProtocolOptions": {"idleTimeout": "3s"}, **H2},
            id="http before tcp",
        ),
    ],
)
def test_protocols(protocol: str, pool: Any, expected: Any) -> None:
    assert options(cluster_of(DEFAULT, service("shop", protocol=protocol), pooled(**pool))) == expected


@pytest.mark.parametrize(
    ("pool", "changed"),
    [
        pytest.param({"tcp": {"maxConnections": 5}}, {"maxConnections": 5}, id="connections"),
        pytest.param({"http": {"http1MaxPendingRequests": 5}}, {"maxPendingRequests": 5}, id="pending"),
        pytest.param({"http": {"http2MaxRequests": 5}}, {"maxRequests": 5}, id="requests"),
        pytest.param({"http": {"maxRetries": 5}}, {"maxRetries": 5}, id="retries"),
        pytest.param({"http": {"maxRetries": 0}}, {}, id="0 is no limit"),
        pytest.param({}, {}, id="an empty block"),
    ],
)
def test_limits(pool: Any, changed: Any) -> None:
    base = limits(cluster_of(DEFAULT, service("shop")))
    assert limits(cluster_of(DEFAULT, service("shop"), pooled(**pool))) == base | changed


def test_connect_timeout() -> None:
    assert cluster_of(DEFAULT, service("shop"), pooled(tcp={"connectTimeout": "30ms"}))["connectTimeout"] == "0.030s"


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param({}, {"budgetPercent": {"value": 20.0}, "minRetryConcurrency": 3}, id="defaults"),
        pytest.param(
            {"percent": 5, "minRetryConcurrency": 9},
            {"budgetPercent": {"value": 5.0}, "minRetryConcurrency": 9},
            id="given",
        ),
    ],
)
def test_retry_budget(budget: Any, expected: Any) -> None:
    assert (
        limits(cluster_of(DEFAULT, service("shop"), rule("shop", trafficPolicy={"retryBudget": budget})))["retryBudget"]
        == expected
    )


SLOW = {
    "slowStartConfig": {
        "slowStartWindow": "30s",
        "aggression": {"defaultValue": 1.0, "runtimeKey": "("},
        "minWeightPercent": {"value": 10.0},
    }
}


@pytest.mark.parametrize(
    ("balancer", "expected"),
    [
        pytest.param({"simple": "ROUND_ROBIN"}, {}, id="round robin: Envoy's zero"),
        pytest.param({"simple": "RANDOM"}, {"lbPolicy": "RANDOM"}, id="random"),
        pytest.param({"simple": "LEAST_REQUEST"}, {"lbPolicy": "LEAST_REQUEST"}, id="least request"),
        pytest.param({"simple": "LEAST_CONN"}, {"lbPolicy": "LEAST_REQUEST"}, id="its old name"),
        pytest.param({"simple": "UNSPECIFIED"}, {"lbPolicy": "LEAST_REQUEST"}, id="unspecified"),
        pytest.param({}, {"lbPolicy": "LEAST_REQUEST"}, id="empty"),
        pytest.param(
            {"warmup": {"duration": "30s"}}, {"lbPolicy": "LEAST_REQUEST", "leastRequestLbConfig": SLOW}, id="warm up"
        ),
        pytest.param(
            {"warmupDurationSecs": "30s"},
            {"lbPolicy": "LEAST_REQUEST", "leastRequestLbConfig": {"slowStartConfig": {"slowStartWindow": "30s"}}},
            id="warm up, the old way",
        ),
        pytest.param(
            {"simple": "ROUND_ROBIN", "warmup": {"duration": "30s"}},
            {"roundRobinLbConfig": SLOW},
            id="warm up in turns",
        ),
    ],
)
def test_balancers(balancer: Any, expected: Any) -> None:
    found = cluster_of(DEFAULT, service("shop"), rule("shop", trafficPolicy={"loadBalancer": balancer}))
    names = ("lbPolicy", "leastRequestLbConfig", "roundRobinLbConfig")
    assert {name: found[name] for name in names if name in found} == expected


def retries(count: int) -> dict[str, Any]:
    return {"connectionPool": {"http": {"maxRetries": count}}}


RANDOM = {"loadBalancer": {"simple": "RANDOM"}}


@pytest.mark.parametrize(
    ("policy", "subset", "expected"),
    [
        pytest.param({}, None, (UNLIMITED, "LEAST_REQUEST"), id="nothing said"),
        pytest.param(retries(1) | RANDOM, None, (1, "RANDOM"), id="the destination's"),
        pytest.param(retries(1) | RANDOM, retries(2), (2, "RANDOM"), id="the subset's over it, block by block"),
        pytest.param(retries(1), RANDOM, (1, "RANDOM"), id="another block of the subset's"),
        pytest.param(
            retries(1) | RANDOM | {"portLevelSettings": [{"port": {"number": 50051}} | retries(3)]},
            None,
            (3, "LEAST_REQUEST"),
            id="a port replaces: the balancer is the default again",
        ),
        pytest.param(
            retries(1) | {"portLevelSettings": [{"port": {"number": 9}} | retries(3)]},
            None,
            (1, "LEAST_REQUEST"),
            id="another port changes nothing",
        ),
        pytest.param(
            {"portLevelSettings": [{"port": {"number": 50051}} | retries(3)]},
            RANDOM,
            (3, "RANDOM"),
            id="the subset's over the port's",
        ),
        pytest.param(
            retries(1) | RANDOM,
            {"portLevelSettings": [{"port": {"number": 50051}} | retries(4)]},
            (4, "LEAST_REQUEST"),
            id="a subset's port replaces everything",
        ),
        pytest.param(
            retries(1),
            {"portLevelSettings": [{"port": {"number": 9}} | retries(4)]} | RANDOM,
            (1, "RANDOM"),
            id="a subset's other port doesn't",
        ),
    ],
)
def test_layers_of_policy(policy: Any, subset: Any, expected: Any) -> None:
    v1 = {"name": "v1"} | ({} if subset is None else {"trafficPolicy": subset})
    found = cluster_of(V1, service("shop"), rule("shop", trafficPolicy=policy, subsets=[v1]))
    assert (limits(found)["maxRetries"], found["lbPolicy"]) == expected


@pytest.mark.parametrize(
    ("resolution", "kind"), [pytest.param("DNS", "STRICT_DNS"), pytest.param("DNS_ROUND_ROBIN", "LOGICAL_DNS")]
)
def test_services_found_by_dns(resolution: str, kind: str) -> None:
    documents = [service("shop", resolution=resolution, endpoints=[{"address": "shop.example.com"}])]
    found = cluster_of(DEFAULT, *documents)
    assert (found["type"], found["dnsLookupFamily"], found["respectDnsTtl"]) == (kind, "V4_ONLY", True)
    (locality,) = found["loadAssignment"]["endpoints"]
    (only,) = locality["lbEndpoints"]
    assert only["endpoint"]["address"]["socketAddress"] == {"address": "shop.example.com", "portValue": 50051}
    assert resources([*client(), *documents]).endpoints == {}


def test_a_dns_service_without_endpoints_is_found_by_its_own_name() -> None:
    external = service("x", hosts=["api.example.com"], resolution="DNS", endpoints=[], location="MESH_EXTERNAL")
    found = cluster_of("outbound|50051||api.example.com", external)
    (locality,) = found["loadAssignment"]["endpoints"]
    assert locality["lbEndpoints"][0]["endpoint"]["address"]["socketAddress"]["address"] == "api.example.com"


def test_a_dns_subset_without_endpoints_has_no_cluster() -> None:
    documents = [
        service("shop", resolution="DNS", endpoints=[{"address": "a.example.com", "labels": {"version": "v1"}}])
    ]
    found = resources([*client(), *documents, rule("shop")]).clusters
    assert {name for name in found if name.startswith("outbound")} == {DEFAULT, V1}


INGRESS = {"port": {"number": 50051, "protocol": "GRPC", "name": "in"}, "bind": "127.8.0.1"}


@pytest.mark.parametrize(
    ("endpoint", "address", "source"),
    [
        pytest.param(
            {}, {"socketAddress": {"address": "127.0.0.1", "portValue": 50051}}, None, id="the same port by default"
        ),
        pytest.param(
            {"defaultEndpoint": "127.0.0.1:7"},
            {"socketAddress": {"address": "127.0.0.1", "portValue": 7}},
            None,
            id="localhost",
        ),
        pytest.param(
            {"defaultEndpoint": "[::1]:7"},
            {"socketAddress": {"address": "::1", "portValue": 7}},
            None,
            id="localhost by IPv6",
        ),
        pytest.param(
            {"defaultEndpoint": "0.0.0.0:7"},
            {"socketAddress": {"address": "127.8.0.1", "portValue": 7}},
            "127.0.0.6",
            id="its own address",
        ),
        pytest.param(
            {"defaultEndpoint": "unix:///run/a.sock"},
            {"pipe": {"path": "/run/a.sock"}},
            "127.0.0.6",
            id="a unix socket",
        ),
    ],
)
def test_the_way_to_the_application(endpoint: Any, address: Any, source: str | None) -> None:
    documents = client(ingress=[INGRESS | endpoint])
    found = as_json(resources(documents).clusters["inbound|50051||"])
    (locality,) = found["loadAssignment"]["endpoints"]
    assert locality["lbEndpoints"] == [{"endpoint": {"address": address}}]
    assert found.get("upstreamBindConfig", {}).get("sourceAddress", {}).get("address") == source
    assert (found.get("type", "STATIC"), found["altStatName"]) == ("STATIC", "inbound|50051||;")
    assert options(found) == H2
    assert limits(found)["maxRetries"] == UNLIMITED


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        pytest.param(["./*"], 5, id="the rule for its own service, which it sees"),
        pytest.param(["elsewhere/*"], UNLIMITED, id="not when its Sidecar doesn't show it"),
    ],
)
def test_the_pool_of_a_workloads_own_service(hosts: list[str], expected: int) -> None:
    shop = service("shop", endpoints=[{"address": "127.8.0.1"}])
    documents = [*client(ingress=[INGRESS], hosts=hosts), shop, service("other"), pooled(tcp={"maxConnections": 5})]
    assert limits(as_json(resources(documents).clusters["inbound|50051||"]))["maxConnections"] == expected


def test_a_workload_of_no_service_has_no_pool() -> None:
    documents = [*client(ingress=[INGRESS]), service("shop"), make("DestinationRule", "any", {"host": "*"})]
    assert limits(as_json(resources(documents).clusters["inbound|50051||"]))["maxConnections"] == UNLIMITED
