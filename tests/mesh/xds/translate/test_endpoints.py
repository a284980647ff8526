"""Which endpoints does a cluster have?"""

from typing import Any

import pytest

from tests.support.xlate_documents import client, full, make, resources, rule, service
from tests.support.xlate_envoy import as_json

NAME = f"outbound|50051||{full('shop')}"


def assignment(*documents: Any, name: str = NAME) -> Any:
    return as_json(resources([*client(), *documents]).endpoints[name])


def places(found: Any) -> list[tuple[str, int]]:
    addresses = [
        place["endpoint"]["address"]["socketAddress"]
        for locality in found.get("endpoints", ())
        for place in locality["lbEndpoints"]
    ]
    return [(address["address"], address["portValue"]) for address in addresses]


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        pytest.param("", ["127.9.0.1", "127.9.0.2"], id="all of them"),
        pytest.param("v1", ["127.9.0.1"], id="one version"),
        pytest.param("none", [], id="labels that nobody carries"),
        pytest.param("open", ["127.9.0.1", "127.9.0.2"], id="no labels: all"),
    ],
)
def test_subsets(subset: str, expected: list[str]) -> None:
    labels = {"v1": {"version": "v1"}, "none": {"version": "v9"}, "open": {}}
    declared = rule("shop", subsets=[{"name": name, "labels": wanted} for name, wanted in labels.items()])
    found = assignment(service("shop"), declared, name=f"outbound|50051|{subset}|{full('shop')}")
    assert [address for address, _ in places(found)] == expected


def test_an_empty_assignment_is_sent_all_the_same() -> None:
    assert assignment(service("shop", endpoints=[])) == {"clusterName": NAME}


@pytest.mark.parametrize(
    ("port", "endpoint", "expected"),
    [
        pytest.param({}, {}, 50051, id="the service's port"),
        pytest.param({"targetPort": 7}, {}, 7, id="its target"),
        pytest.param({"targetPort": 7}, {"ports": {"main": 8}}, 8, id="the endpoint's own"),
        pytest.param({}, {"ports": {"other": 8}}, 50051, id="own for another port"),
    ],
)
def test_ports(port: Any, endpoint: Any, expected: int) -> None:
    ports = [
        {"number": 50051, "name": "main", "protocol": "GRPC"} | port,
        {"number": 9, "name": "other", "protocol": "HTTP"},
    ]
    shop = service("shop", ports=ports, endpoints=[{"address": "127.9.0.1"} | endpoint])
    assert places(assignment(shop)) == [("127.9.0.1", expected)]


def workload(name: str, address: str, namespace: str = "default", **spec: Any) -> Any:
    return make("WorkloadEntry", name, {"address": address} | spec, namespace=namespace)


def test_workloads_are_picked_by_label_in_the_services_namespace() -> None:
    shop = service("shop", endpoints=[], workloadSelector={"labels": {"app": "shop"}})
    carries = {"labels": {"app": "shop", "version": "v1"}}
    found = assignment(
        shop,
        workload("b", "127.9.0.4", **carries),
        workload("a", "127.9.0.5", ports={"main": 9}, **carries),
        workload("c", "127.9.0.6", labels={"app": "other"}),
        workload("d", "127.9.0.7", namespace="elsewhere", **carries),
    )
    assert places(found) == [("127.9.0.4", 50051), ("127.9.0.5", 9)]


def test_a_unix_socket() -> None:
    found = assignment(service("shop", endpoints=[{"address": "unix:///run/shop.sock"}]))
    assert found["endpoints"][0]["lbEndpoints"][0]["endpoint"]["address"] == {"pipe": {"path": "/run/shop.sock"}}


def test_a_weight_of_0_is_1() -> None:
    (locality,) = assignment(service("shop", endpoints=[{"address": "127.9.0.1", "weight": 0}]))["endpoints"]
    assert locality["lbEndpoints"][0]["loadBalancingWeight"] == 1


def test_weights_and_localities() -> None:
    found = assignment(
        service(
            "shop",
            endpoints=[
                {"address": "127.9.0.3", "locality": "eu/b/2", "weight": 4},
                {"address": "127.9.0.1"},
                {"address": "127.9.0.2", "locality": "eu/b/2"},
            ],
        )
    )
    summary = [(part["locality"], part["loadBalancingWeight"], len(part["lbEndpoints"])) for part in found["endpoints"]]
    assert summary == [({}, 1, 1), ({"region": "eu", "zone": "b", "subZone": "2"}, 5, 2)]
    assert [place["loadBalancingWeight"] for place in found["endpoints"][1]["lbEndpoints"]] == [1, 4]
