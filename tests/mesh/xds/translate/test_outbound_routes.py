"""Which virtual hosts does a workload's Envoy have?"""

from typing import Any

import pytest

from tests.support.xlate_documents import (
    CLIENT,
    client,
    full,
    make,
    resources,
    routes,
    rule,
    service,
    to,
    virtual_hosts,
    virtual_service,
)

SHOP = f"{full('shop')}:50051"
SHORT = [full("shop"), f"{full('shop')}.", "shop", "shop.default.svc", "shop.default"]


def led_by(host: Any) -> str:
    """Which VirtualService a virtual host comes from; "" for none."""
    path: str = host["routes"][0].get("metadata", {}).get("filterMetadata", {}).get("istio", {}).get("config", "")
    return path.rpartition("/")[2]


def test_constants() -> None:
    found = routes([*client(), service("shop")])
    found.pop("virtualHosts")
    assert found == {
        "name": "50051",
        "validateClusters": False,
        "maxDirectResponseBodySizeBytes": 1048576,
        "ignorePortInHostMatching": True,
    }


def test_every_virtual_host_counts_the_tries() -> None:
    hosts = virtual_hosts(
        [*client(), service("shop"), service("other"), virtual_service("shop", [{"route": [to("shop")]}])]
    )
    assert len(hosts) == 3
    assert all(host["includeRequestAttemptCount"] for host in hosts.values())
    assert not any("includeAttemptCountInResponse" in host for host in hosts.values())


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        pytest.param("default", SHORT, id="own namespace: the bare name too"),
        pytest.param(
            "elsewhere", [full("shop"), f"{full('shop')}.", "shop.default.svc", "shop.default"], id="another namespace"
        ),
    ],
)
def test_domains(of: str, expected: list[str]) -> None:
    documents = [*client(hosts=["*/*"], namespace=of), service("shop")]
    assert virtual_hosts(documents, f"client.{of}")[SHOP]["domains"] == expected


@pytest.mark.parametrize(
    ("host", "domains"),
    [
        pytest.param("api.example.com", ["api.example.com", "api.example.com."], id="a name outside the cluster"),
        pytest.param(
            "a.b.default.svc.cluster.local",
            ["a.b.default.svc.cluster.local", "a.b.default.svc.cluster.local."],
            id="too many parts",
        ),
        pytest.param("*.example.com", ["*.example.com", "*.example.com."], id="a wildcard"),
    ],
)
def test_domains_of_other_names(host: str, domains: list[str]) -> None:
    assert virtual_hosts([*client(), service("shop", hosts=[host])])[f"{host}:50051"]["domains"] == domains


def test_addresses_are_domains_too() -> None:
    documents = [*client(), service("shop", addresses=["127.7.0.1"])]
    assert virtual_hosts(documents)[SHOP]["domains"] == [*SHORT, "127.7.0.1"]


@pytest.mark.parametrize(
    ("mode", "name", "action"),
    [
        pytest.param(None, "allow_any", "route", id="passed on by default"),
        pytest.param("ALLOW_ANY", "allow_any", "route", id="passed on"),
        pytest.param("REGISTRY_ONLY", "block_all", "directResponse", id="blocked"),
    ],
)
def test_what_the_mesh_does_not_know(mode: str | None, name: str, action: str) -> None:
    policy = {} if mode is None else {"outboundTrafficPolicy": {"mode": mode}}
    last = list(virtual_hosts([*client(**policy), service("shop"), service("zoo")]).values())[-1]
    assert (last["name"], last["domains"], list(last["routes"][0])[2]) == (name, ["*"], action)
    expected: Any = {"cluster": "PassthroughCluster", "timeout": "0s", "maxGrpcTimeout": "0s"}
    assert last["routes"][0][action] == (expected if action == "route" else {"status": 502})


LEAD = [{"route": [to("shop")]}]


@pytest.mark.parametrize(
    ("spec", "applies"),
    [
        pytest.param({}, True, id="by its short name"),
        pytest.param({"hosts": [full("shop")]}, True, id="by its full name"),
        pytest.param({"hosts": ["SHOP"]}, True, id="in capitals"),
        pytest.param({"hosts": ["*.default.svc.cluster.local"]}, True, id="by a wildcard"),
        pytest.param({"hosts": ["other", "shop"]}, True, id="among others"),
        pytest.param({"gateways": ["mesh"]}, True, id="mesh said aloud"),
        pytest.param({"gateways": ["edge", "mesh"]}, True, id="mesh and a gateway"),
        pytest.param({"gateways": ["edge"], "hosts": [full("shop")]}, False, id="a gateway only"),
        pytest.param({"hosts": ["nobody"]}, False, id="another host"),
        pytest.param({"hosts": ["*.example.com"]}, False, id="another wildcard"),
        pytest.param({"namespace": "elsewhere", "hosts": ["shop"]}, False, id="a short name of another namespace"),
        pytest.param(
            {"namespace": "elsewhere", "hosts": [full("shop")]}, True, id="a full name from another namespace"
        ),
        pytest.param({"namespace": "elsewhere", "hosts": [full("shop")], "exportTo": ["."]}, False, id="not exported"),
        pytest.param(
            {"namespace": "elsewhere", "hosts": [full("shop")], "exportTo": ["default"]}, True, id="exported here"
        ),
    ],
)
def test_which_rules_apply(spec: Any, applies: bool) -> None:
    documents = [*client(hosts=["*/*"]), service("shop"), virtual_service("shop", LEAD, **spec)]
    hosts = virtual_hosts(documents)
    assert led_by(hosts[SHOP]) == ("shop" if applies else "")
    assert set(resources(documents).documents) == (
        {("VirtualService", spec.get("namespace", "default"), "shop")} if applies else set()
    )


def test_a_host_that_is_no_service_has_a_virtual_host_beside_one_that_is() -> None:
    hosts = virtual_hosts(
        [*client(), service("shop"), virtual_service("shop", LEAD, hosts=["shop", "shop.example.com"])]
    )
    assert hosts["shop.example.com:50051"]["domains"] == ["shop.example.com"]
    assert hosts["shop.example.com:50051"]["routes"] == hosts[SHOP]["routes"]


@pytest.mark.parametrize(
    ("port", "there"), [pytest.param(80, True, id="port 80"), pytest.param(50051, False, id="any other")]
)
def test_a_host_that_nobody_knows(port: int, there: bool) -> None:
    elsewhere = virtual_service("lone", [{"route": [to("shop")]}], hosts=["lone.example.com"])
    documents = [*client(port=port), service("shop", port=port), elsewhere]
    assert (f"lone.example.com:{port}" in virtual_hosts(documents)) == there


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        pytest.param({"hosts": ["shop"]}, {"hosts": ["shop"]}, "a", id="the same host: the name decides"),
        pytest.param(
            {"hosts": ["shop"], "created": "2026-02-02T00:00:00Z"},
            {"hosts": ["shop"], "created": "2026-01-01T00:00:00Z"},
            "b",
            id="the older one",
        ),
        pytest.param({"hosts": ["*.default.svc.cluster.local"]}, {"hosts": ["shop"]}, "b", id="exact before wildcard"),
        pytest.param(
            {"hosts": ["*.svc.cluster.local"]},
            {"hosts": ["*.default.svc.cluster.local"]},
            "b",
            id="the longer wildcard",
        ),
    ],
)
def test_two_rules_for_one_host(first: Any, second: Any, winner: str) -> None:
    documents = [*client(), service("shop"), virtual_service("a", LEAD, **first), virtual_service("b", LEAD, **second)]
    assert led_by(virtual_hosts(documents)[SHOP]) == winner


def test_a_domain_is_taken_once() -> None:
    """`shop.default` as a service of its own keeps its name, the other one goes without the short form."""
    documents = [*client(), service("shop"), service("x", hosts=["shop.default"])]
    hosts = virtual_hosts(documents)
    assert hosts["shop.default:50051"]["domains"] == ["shop.default", "shop.default."]
    assert "shop.default" not in hosts[SHOP]["domains"]


def test_a_virtual_host_without_a_domain_left_drops_out() -> None:
    taken = virtual_service("a", LEAD, hosts=["shop", "Other.example.com"])
    late = virtual_service("b", LEAD, hosts=["other", "other.example.com"])
    hosts = virtual_hosts([*client(), service("shop"), service("other"), taken, late])
    assert led_by(hosts["other.example.com:50051"]) == "a"
    assert led_by(hosts[f"{full('other')}:50051"]) == "b"


def test_virtual_hosts_are_sorted_and_the_rest_comes_last() -> None:
    names = list(virtual_hosts([*client(), service("zoo"), service("shop"), service("alpha")]))
    assert names == [*sorted(names[:-1]), "allow_any"]


@pytest.mark.parametrize(
    ("hosts", "seen"),
    [
        pytest.param(["./*"], {"shop", "other"}, id="own namespace"),
        pytest.param(["*/*"], {"shop", "other", "far"}, id="everything"),
        pytest.param(["elsewhere/*"], {"far"}, id="another namespace"),
        pytest.param([f"./{full('shop')}"], {"shop"}, id="one host"),
        pytest.param([f"*/{full('shop')}", f"elsewhere/{full('far', 'elsewhere')}"], {"shop", "far"}, id="two hosts"),
        pytest.param(["./*.elsewhere.svc.cluster.local"], set(), id="nothing"),
    ],
)
def test_what_the_sidecar_lets_a_workload_see(hosts: list[str], seen: set[str]) -> None:
    documents = [*client(hosts=hosts), service("shop"), service("other"), service("far", namespace="elsewhere")]
    found = resources(documents)
    assert {name.split("|")[3].split(".")[0] for name in found.clusters if name.startswith("outbound")} == seen
    assert bool(found.listeners) == bool(found.routes) == bool(seen)


def test_a_rules_destinations_get_clusters_though_the_sidecar_does_not_name_them() -> None:
    lead = virtual_service(
        "shop", [{"route": [to("shop", weight=1), to(full("far", "elsewhere"), weight=1), to("nobody", weight=1)]}]
    )
    documents = [*client(hosts=["./*"]), service("shop"), service("far", namespace="elsewhere"), lead]
    assert f"outbound|50051||{full('far', 'elsewhere')}" in resources(documents).clusters
    assert list(virtual_hosts(documents)) == [SHOP, "allow_any"]


def test_a_service_of_another_port_is_not_on_this_listener() -> None:
    documents = [*client(), service("shop"), service("other", port=9000)]
    assert list(virtual_hosts(documents)) == [SHOP, "allow_any"]


def test_a_namesake_in_the_own_namespace_comes_first() -> None:
    shared = {"hosts": ["shared.example.com"]}
    documents = [*client(hosts=["*/*"]), service("a", namespace="another", **shared), service("z", **shared)]
    documents.append(rule("shared.example.com", namespace="another", name="theirs", subsets=[{"name": "theirs"}]))
    assert "outbound|50051|theirs|shared.example.com" not in resources(documents, CLIENT).clusters


def test_workloads_with_other_labels_get_their_own_routes_only_when_a_rule_looks_at_them() -> None:
    one, two = client(name="one"), client(name="two", outboundTrafficPolicy={"mode": "ALLOW_ANY"})
    two[0] = make("WorkloadEntry", "two", {"address": "127.8.0.3", "labels": {"app": "two"}})
    plain = virtual_service("shop", LEAD)
    special = virtual_service("shop", [{"match": [{"sourceLabels": {"app": "two"}}], "route": [to("other")]}, *LEAD])
    for lead, same in ((plain, True), (special, False)):
        documents = [*one, *two, service("shop"), service("other"), lead]
        bodies = {resources(documents, f"{name}.default").routes["50051"].body for name in ("one", "two")}
        assert (len(bodies) == 1) == same
