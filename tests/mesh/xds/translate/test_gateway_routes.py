"""Which virtual hosts does a gateway have?"""

from typing import Any

import pytest

from tests.support.xlate_documents import (
    EDGE,
    edge,
    make,
    resources,
    routes,
    service,
    to,
    virtual_hosts,
    virtual_service,
)

LEAD = [{"name": "lead", "route": [to("shop")]}]


def bound(name: str, *hosts: str, http: Any = LEAD, gateways: Any = ("edge",), **more: Any) -> Any:
    return virtual_service(name, http, hosts=list(hosts), gateways=list(gateways), **more)


def names(found: Any) -> list[str]:
    return [route["name"] for route in found["routes"]]


def test_the_configuration_is_called_after_port_and_address() -> None:
    found = routes([edge("*"), service("shop"), bound("a", "a.example.com")], EDGE)
    assert found["name"] == "http.8080.127.8.0.2"
    assert (found["validateClusters"], found["ignorePortInHostMatching"]) == (False, True)


def test_a_gateway_has_no_catch_all_and_counts_the_tries() -> None:
    hosts = virtual_hosts([edge("*"), service("shop"), bound("a", "a.example.com")], EDGE)
    assert list(hosts) == ["a.example.com:8080"]
    assert hosts["a.example.com:8080"]["includeRequestAttemptCount"]


def test_without_a_rule_every_request_is_answered_with_404() -> None:
    hosts = virtual_hosts([edge("*"), service("shop")], EDGE)
    assert hosts["blackhole:8080"]["domains"] == ["*"]
    assert "routes" not in hosts["blackhole:8080"]


@pytest.mark.parametrize(
    ("offered", "asked", "domains"),
    [
        pytest.param(["*"], ["a.example.com"], ["a.example.com"], id="any host offered"),
        pytest.param(["a.example.com"], ["a.example.com"], ["a.example.com"], id="the same host"),
        pytest.param(["A.example.com"], ["a.EXAMPLE.com"], ["a.example.com"], id="in any case"),
        pytest.param(["*.example.com"], ["a.example.com"], ["a.example.com"], id="offered by wildcard"),
        pytest.param(["a.example.com"], ["*.example.com"], ["a.example.com"], id="asked by wildcard"),
        pytest.param(["*.example.com"], ["*"], ["*.example.com"], id="two wildcards"),
        pytest.param(["./a.example.com"], ["a.example.com"], ["a.example.com"], id="for the own namespace"),
        pytest.param(["default/a.example.com"], ["a.example.com"], ["a.example.com"], id="for the rule's namespace"),
        pytest.param(["*/a.example.com"], ["a.example.com"], ["a.example.com"], id="for every namespace"),
        pytest.param(["other/a.example.com"], ["a.example.com"], None, id="for another namespace"),
        pytest.param(["b.example.com"], ["a.example.com"], None, id="another host"),
        pytest.param(["example.com"], ["*.example.com"], None, id="a wildcard is not its own parent"),
        pytest.param(
            ["a.example.com", "b.example.com"], ["b.example.com", "c.example.com"], ["b.example.com"], id="some of each"
        ),
    ],
)
def test_hosts_of_both_sides(offered: list[str], asked: list[str], domains: list[str] | None) -> None:
    hosts = virtual_hosts([edge(*offered), service("shop"), bound("a", *asked)], EDGE)
    assert [host["domains"] for host in hosts.values()] == [domains or ["*"]]
    assert ("blackhole:8080" in hosts) == (domains is None)


@pytest.mark.parametrize(
    ("spec", "applies"),
    [
        pytest.param({"gateways": ["edge"]}, True, id="by name"),
        pytest.param({"gateways": ["default/edge"]}, True, id="by namespace and name"),
        pytest.param({"gateways": ["mesh", "edge"]}, True, id="beside the mesh"),
        pytest.param({"gateways": ["mesh"], "hosts": ["a.example.com"]}, False, id="the mesh only"),
        pytest.param({"gateways": ["other/edge"]}, False, id="a namesake"),
        pytest.param({"namespace": "other"}, False, id="by name from another namespace"),
        pytest.param({"namespace": "other", "gateways": ["default/edge"]}, True, id="in full from another namespace"),
        pytest.param({"namespace": "other", "gateways": ["default/edge"], "exportTo": ["."]}, False, id="not exported"),
        pytest.param(
            {"http": [{"match": [{"gateways": ["mesh"]}], "route": [to("shop")]}]}, False, id="no route for it"
        ),
        pytest.param({"http": [{"match": [{"gateways": ["edge"]}], "route": [to("shop")]}]}, True, id="a route for it"),
        pytest.param(
            {"http": [{"match": [{"sourceLabels": {"istio": "edge"}}], "route": [to("shop")]}]},
            True,
            id="a route for its labels",
        ),
        pytest.param({"http": [{"match": [{"port": 8080}], "route": [to("shop")]}]}, True, id="a route for its port"),
    ],
)
def test_which_rules_apply(spec: Any, applies: bool) -> None:
    documents = [edge("*"), service("shop"), bound("a", *spec.pop("hosts", ["a.example.com"]), **spec)]
    found = resources(documents, EDGE)
    assert ("a.example.com:8080" in virtual_hosts(documents, EDGE)) == applies
    key = ("VirtualService", spec.get("namespace", "default"), "a")
    assert found.documents == ({key: frozenset({"http.8080.127.8.0.2"})} if applies else {})


def test_rules_of_one_host_are_merged_catch_alls_last() -> None:
    special = [{"name": "special", "match": [{"uri": {"prefix": "/s"}}], "route": [to("shop")]}]
    documents = [edge("*"), service("shop"), bound("a", "a.example.com"), bound("b", "a.example.com", http=special)]
    assert names(virtual_hosts(documents, EDGE)["a.example.com:8080"]) == ["special", "lead"]


def test_hosts_with_the_same_routes_share_a_virtual_host() -> None:
    documents = [edge("*"), service("shop"), bound("a", "b.example.com", "a.example.com"), bound("z", "z.example.com")]
    hosts = virtual_hosts(documents, EDGE)
    assert {name: host["domains"] for name, host in hosts.items()} == {
        "a.example.com:8080": ["a.example.com", "b.example.com"],
        "z.example.com:8080": ["z.example.com"],
    }


def test_gateways_at_one_address_share_a_configuration() -> None:
    documents = [edge("a.example.com"), edge("b.example.com", name="more"), service("shop")]
    documents += [bound("a", "*.example.com"), bound("b", "b.example.com", gateways=["more"])]
    hosts = virtual_hosts(documents, EDGE)
    assert list(hosts) == ["a.example.com:8080", "b.example.com:8080"]


def test_servers_at_other_addresses_have_their_own() -> None:
    server = {"port": {"number": 8080, "protocol": "HTTP2", "name": "in"}, "hosts": ["*"]}
    servers = [server | {"bind": "127.8.0.2"}, server | {"bind": "127.8.0.3"}]
    gateway = make("Gateway", "edge", {"selector": {"istio": "edge"}, "servers": servers})
    found = resources([gateway, service("shop"), bound("a", "a.example.com")], EDGE)
    assert list(found.routes) == ["http.8080.127.8.0.2", "http.8080.127.8.0.3"]
    assert list(found.listeners) == ["127.8.0.2_8080", "127.8.0.3_8080"]


def test_the_port_of_a_destination_is_looked_up_from_the_rules_namespace() -> None:
    """Another namespace's service of that name has another port and isn't asked."""
    rule = bound("a", "a.example.com", namespace="other", gateways=["default/edge"])
    documents = [edge("*"), service("shop", port=1111), service("shop", namespace="other", port=2222), rule]
    (only,) = virtual_hosts(documents, EDGE)["a.example.com:8080"]["routes"]
    assert only["route"]["cluster"] == "outbound|2222||shop.other.svc.cluster.local"
