"""What does a route do with a request?"""

from typing import Any

import pytest

from tests.support.xlate_documents import (
    EDGE,
    client,
    edge,
    full,
    route_of,
    service,
    to,
    virtual_hosts,
    virtual_service,
)


def cluster(subset: str = "", host: str = "shop", port: int = 50051) -> str:
    return f"outbound|{port}|{subset}|{full(host)}"


def weights(found: Any) -> Any:
    clusters = found["route"]["weightedClusters"]["clusters"]
    return [(entry["name"].split("|")[2], entry["weight"]) for entry in clusters]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        pytest.param([90, 10], [("v1", 90), ("v2", 10)], id="both"),
        pytest.param([100, 0], [("v1", 100)], id="a lone survivor is still weighted"),
        pytest.param([0, 1], [("v2", 1)], id="the other survivor"),
        pytest.param([1, 2], [("v1", 1), ("v2", 2)], id="the sum needn't be 100"),
        pytest.param([999_999, 1], [("v1", 999_999), ("v2", 1)], id="a millionth"),
        pytest.param([None, 5], [("v2", 5)], id="no weight is 0"),
    ],
)
def test_weights(split: list[int | None], expected: Any) -> None:
    found = route_of(route=[to("shop", version, weight) for version, weight in zip(("v1", "v2"), split, strict=True)])
    assert weights(found) == expected


@pytest.mark.parametrize("weight", [None, 0, 7, 100])
def test_a_single_destination_is_a_plain_cluster_whatever_its_weight(weight: int | None) -> None:
    found = route_of(route=[to("shop", "v1", weight)])
    assert found["route"]["cluster"] == cluster("v1")
    assert "weightedClusters" not in found["route"]


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        pytest.param({"host": "shop"}, cluster(), id="short name"),
        pytest.param({"host": "SHOP"}, cluster(), id="in any case"),
        pytest.param(
            {"host": full("other", "elsewhere")}, "outbound|50051||other.elsewhere.svc.cluster.local", id="full name"
        ),
        pytest.param({"host": "shop", "port": {"number": 9}}, cluster(port=9), id="own port"),
        pytest.param({"host": "shop", "subset": "v9"}, cluster("v9"), id="a subset that nobody declared"),
    ],
)
def test_clusters_by_name(destination: Any, expected: str) -> None:
    assert route_of(route=[{"destination": destination}])["route"]["cluster"] == expected


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        pytest.param([50051], 50051, id="the service's only port"),
        pytest.param([50051, 9000], 8080, id="of several: the listener's"),
    ],
)
def test_a_gateway_finds_the_port(ports: list[int], expected: int) -> None:
    listed = [{"number": port, "name": f"p{port}", "protocol": "GRPC"} for port in ports]
    rule = virtual_service("edge", [{"route": [to("shop")]}], hosts=["a.example.com"], gateways=["edge"])
    documents = [edge("*"), service("shop", ports=listed), rule]
    (only,) = virtual_hosts(documents, EDGE)["a.example.com:8080"]["routes"]
    assert only["route"]["cluster"] == cluster(port=expected)


@pytest.mark.parametrize(
    ("http", "timeout"),
    [
        pytest.param({}, "0s", id="none: Istio's default, not Envoy's 15s"),
        pytest.param({"timeout": "1.5s"}, "1.500s", id="given"),
        pytest.param({"timeout": "1h30m"}, "5400s", id="in Go's syntax"),
    ],
)
def test_timeouts(http: Any, timeout: str) -> None:
    action = route_of(**http)["route"]
    assert (action["timeout"], action["maxGrpcTimeout"]) == (timeout, timeout)


@pytest.mark.parametrize(
    ("rewrite", "expected"),
    [
        pytest.param({"uri": "/new"}, {"prefixRewrite": "/new"}, id="uri"),
        pytest.param(
            {"uriRegexRewrite": {"match": "^/a(.*)", "rewrite": "/b\\1"}},
            {"regexRewrite": {"pattern": {"regex": "^/a(.*)"}, "substitution": "/b\\1"}},
            id="by regex",
        ),
        pytest.param({"authority": "a"}, {"hostRewriteLiteral": "a"}, id="authority alone leaves the path"),
        pytest.param({"uri": "/n", "authority": "a"}, {"prefixRewrite": "/n", "hostRewriteLiteral": "a"}, id="both"),
    ],
)
def test_rewrites(rewrite: Any, expected: Any) -> None:
    action = route_of(rewrite=rewrite)["route"]
    names = ("prefixRewrite", "regexRewrite", "hostRewriteLiteral")
    assert {name: action[name] for name in names if name in action} == expected


@pytest.mark.parametrize(
    ("redirect", "expected"),
    [
        pytest.param({"uri": "/x"}, {"pathRedirect": "/x"}, id="path; 301 is the default"),
        pytest.param({"uri": "/x", "authority": "b"}, {"pathRedirect": "/x", "hostRedirect": "b"}, id="host"),
        pytest.param({"uri": "/x", "redirectCode": 302}, {"pathRedirect": "/x", "responseCode": "FOUND"}, id="302"),
        pytest.param({"uri": "/x", "redirectCode": 303}, {"pathRedirect": "/x", "responseCode": "SEE_OTHER"}, id="303"),
        pytest.param(
            {"uri": "/x", "redirectCode": 307}, {"pathRedirect": "/x", "responseCode": "TEMPORARY_REDIRECT"}, id="307"
        ),
        pytest.param(
            {"uri": "/x", "redirectCode": 308}, {"pathRedirect": "/x", "responseCode": "PERMANENT_REDIRECT"}, id="308"
        ),
        pytest.param({"uri": "/x", "scheme": "https"}, {"pathRedirect": "/x", "schemeRedirect": "https"}, id="scheme"),
        pytest.param({"uri": "/x", "port": 81}, {"pathRedirect": "/x", "portRedirect": 81}, id="port"),
        pytest.param({"uri": "/x", "port": 80}, {"pathRedirect": "/x"}, id="80 goes without saying"),
        pytest.param(
            {"uri": "/x", "port": 443, "scheme": "https"},
            {"pathRedirect": "/x", "schemeRedirect": "https"},
            id="so does 443",
        ),
        pytest.param({"uri": "/x", "port": 443}, {"pathRedirect": "/x", "portRedirect": 443}, id="not for http"),
        pytest.param(
            {"uri": "/x", "derivePort": "FROM_REQUEST_PORT"},
            {"pathRedirect": "/x", "portRedirect": 50051},
            id="the listener's port",
        ),
        pytest.param(
            {"uri": "/x", "derivePort": "FROM_PROTOCOL_DEFAULT"}, {"pathRedirect": "/x"}, id="the protocol's port"
        ),
    ],
)
def test_redirects(redirect: Any, expected: Any) -> None:
    found = route_of(redirect=redirect)
    assert found["redirect"] == expected
    assert "route" not in found


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param({"status": 503}, {"status": 503}, id="status alone"),
        pytest.param(
            {"status": 200, "body": {"string": "hi"}}, {"status": 200, "body": {"inlineString": "hi"}}, id="body"
        ),
        pytest.param(
            {"status": 200, "body": {"string": ""}}, {"status": 200, "body": {"inlineString": ""}}, id="empty body"
        ),
    ],
)
def test_direct_responses(answer: Any, expected: Any) -> None:
    assert route_of(directResponse=answer)["directResponse"] == expected


@pytest.mark.parametrize(
    ("http", "operation"),
    [
        pytest.param({}, f"{full('shop')}:50051/*", id="one destination"),
        pytest.param({"match": [{"uri": {"exact": "/a"}}]}, f"{full('shop')}:50051/a", id="exact path"),
        pytest.param({"match": [{"uri": {"prefix": "/a"}}]}, f"{full('shop')}:50051/a*", id="prefix"),
        pytest.param({"match": [{"uri": {"regex": "/a.+"}}]}, f"{full('shop')}:50051/a.+", id="regex"),
        pytest.param({"route": [to("shop", "v1", 1), to("shop", "v2", 1)]}, "shop:50051/*", id="several destinations"),
        pytest.param({"redirect": {"uri": "/x"}}, "shop:50051/*", id="none"),
    ],
)
def test_what_traces_call_it(http: Any, operation: str) -> None:
    found = route_of(**http)
    assert found["decorator"] == {"operation": operation}
    path = found["metadata"]["filterMetadata"]["istio"]["config"]
    assert path == "/apis/networking.istio.io/v1/namespaces/default/virtual-service/shop"


def test_the_default_route_repeats_and_never_times_out() -> None:
    (only,) = virtual_hosts([*client(), service("shop")])[f"{full('shop')}:50051"]["routes"]
    assert only["name"] == "default"
    assert only["route"]["timeout"] == "0s"
    assert only["route"]["retryPolicy"]["numRetries"] == 2
