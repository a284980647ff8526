"""Where does a proxy listen, and how?"""

from typing import Any

import pytest

from tests.support.xlate_documents import CLIENT, EDGE, client, edge, resources, service
from tests.support.xlate_envoy import as_json

INGRESS = {"port": {"number": 9000, "protocol": "GRPC", "name": "in"}, "bind": "127.8.0.1", "captureMode": "NONE"}


def listener(name: str, *documents: Any, proxy: str = CLIENT) -> Any:
    return as_json(resources(list(documents), proxy).listeners[name])


def manager(found: Any) -> Any:
    (chain,) = found["filterChains"]
    (only,) = chain["filters"]
    assert only["name"] == "envoy.filters.network.http_connection_manager"
    return only["typedConfig"]


OUT = ("127.8.0.1_50051", [*client(), service("shop")], CLIENT)
IN = ("127.8.0.1_9000", client(ingress=[INGRESS]), CLIENT)
GATE = ("127.8.0.2_8080", [edge("*"), service("shop")], EDGE)


@pytest.mark.parametrize(
    ("at", "direction", "prefix"),
    [
        pytest.param(OUT, "OUTBOUND", "outbound_127.8.0.1_50051;", id="calls that go out"),
        pytest.param(IN, "INBOUND", "inbound_127.8.0.1_9000;", id="calls that come in"),
        pytest.param(GATE, "OUTBOUND", "outbound_127.8.0.2_8080;", id="a gateway"),
    ],
)
def test_what_all_have_in_common(at: Any, direction: str, prefix: str) -> None:
    found = listener(at[0], *at[1], proxy=at[2])
    http = manager(found)
    address = at[0].split("_")
    assert found["address"]["socketAddress"] == {"address": address[0], "portValue": int(address[1])}
    assert (found["trafficDirection"], http["statPrefix"]) == (direction, prefix)
    assert (http["streamIdleTimeout"], http["normalizePath"]) == ("0s", True)
    names = [each["name"] for each in http["httpFilters"]]
    assert names == [f"envoy.filters.http.{name}" for name in ("grpc_stats", "fault", "cors", "router")]
    assert http["httpFilters"][0]["typedConfig"]["emitFilterState"] is True
    assert http["httpFilters"][0]["typedConfig"]["statsForAllMethods"] is False


@pytest.mark.parametrize(
    ("at", "routes", "remote", "server"),
    [
        pytest.param(OUT, "50051", False, None, id="calls that go out"),
        pytest.param(GATE, "http.8080.127.8.0.2", True, "istio-envoy", id="a gateway trusts no address from outside"),
    ],
)
def test_routes_come_by_ads(at: Any, routes: str, remote: bool, server: str | None) -> None:
    http = manager(listener(at[0], *at[1], proxy=at[2]))
    assert http["rds"]["routeConfigName"] == routes
    assert http["rds"]["configSource"] == {"ads": {}, "initialFetchTimeout": "0s", "resourceApiVersion": "V3"}
    assert (http["useRemoteAddress"], http.get("serverName")) == (remote, server)


def inbound_route(protocol: str) -> Any:
    ingress = INGRESS | {"port": {"number": 9000, "protocol": protocol, "name": "in"}}
    http = manager(listener("127.8.0.1_9000", *client(ingress=[ingress])))
    return http, http["routeConfig"]


def test_the_route_to_the_application_counts_no_tries() -> None:
    http, found = inbound_route("GRPC")
    (host,) = found["virtualHosts"]
    assert (found["name"], found["validateClusters"]) == ("inbound|9000||", False)
    assert (host["name"], host["domains"]) == ("inbound|http|9000", ["*"])
    assert "includeRequestAttemptCount" not in host
    (route,) = host["routes"]
    assert route["name"] == "default"
    assert route["decorator"] == {"operation": "client.default:9000/*"}
    assert route["route"] == {
        "cluster": "inbound|9000||",
        "timeout": "0s",
        "maxStreamDuration": {"maxStreamDuration": "0s", "grpcTimeoutHeaderMax": "0s"},
    }
    assert http["useRemoteAddress"] is False


@pytest.mark.parametrize(
    ("protocol", "repeated", "http2"),
    [
        pytest.param("GRPC", False, True, id="gRPC: never"),
        pytest.param("GRPC-WEB", False, True, id="gRPC for browsers: never"),
        pytest.param("HTTP", True, False, id="HTTP"),
        pytest.param("HTTP2", True, True, id="HTTP/2"),
    ],
)
def test_inbound_tries(protocol: str, repeated: bool, http2: bool) -> None:
    http, found = inbound_route(protocol)
    policy = found["virtualHosts"][0]["routes"][0]["route"].get("retryPolicy")
    assert policy == ({"retryOn": "reset-before-request", "numRetries": 2} if repeated else None)
    assert ("http2ProtocolOptions" in http) == http2


def test_plaintext_only() -> None:
    (chain,) = listener("127.8.0.1_9000", *client(ingress=[INGRESS]))["filterChains"]
    assert chain["filterChainMatch"] == {"destinationPort": 9000, "transportProtocol": "raw_buffer"}
    assert "transportSocket" not in chain


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        pytest.param({"ingress": [INGRESS]}, {"127.8.0.1_9000", "127.8.0.1_50051"}, id="in and out"),
        pytest.param(
            {"ingress": [{"port": INGRESS["port"]}]}, {"127.8.0.1_9000", "127.8.0.1_50051"}, id="in at its own address"
        ),
        pytest.param({"egress": [{"hosts": ["~/*"]}]}, set(), id="nothing goes out"),
        pytest.param(
            {"egress": [{"port": {"number": 50051, "protocol": "GRPC"}, "hosts": ["./*"]}]},
            {"127.0.0.1_50051"},
            id="out from localhost",
        ),
        pytest.param(
            {"egress": [{"port": {"number": 1, "protocol": "GRPC"}, "hosts": ["./*"]}]},
            set(),
            id="a port without services",
        ),
    ],
)
def test_which_listeners_there_are(spec: Any, names: set[str]) -> None:
    assert set(resources([*client(**spec), service("shop")]).listeners) == names
