"""Which Envoys do the documents ask for?"""

from typing import Any

import pytest

from mesh.xds.translate import ProxyKind, node_resources, proxies
from mesh.xds.translate.resources import ProxyNode
from tests.support.xlate_documents import client, edge, make, resources, service

OUT: dict[str, Any] = {"egress": [{"hosts": ["~/*"]}]}


def workload(name: str, address: str = "127.8.0.9", namespace: str = "default", **labels: str) -> Any:
    return make("WorkloadEntry", name, {"address": address, "labels": labels}, namespace=namespace)


def sidecar(name: str, namespace: str = "default", **labels: str) -> Any:
    selector = {"workloadSelector": {"labels": labels}} if labels else {}
    return make("Sidecar", name, selector | OUT, namespace=namespace)


@pytest.mark.parametrize(
    ("documents", "ids"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([workload("a", app="a")], [], id="a workload alone is reached directly"),
        pytest.param([workload("a", app="a"), sidecar("s", app="a")], ["a.default"], id="with a Sidecar"),
        pytest.param([workload("a", app="a"), sidecar("s", app="b")], [], id="with one for others"),
        pytest.param([workload("a", app="a"), sidecar("s")], ["a.default"], id="with one for the namespace"),
        pytest.param(
            [workload("a", app="a"), sidecar("s", namespace="other", app="a")], [], id="with one of another namespace"
        ),
        pytest.param(
            [workload("a", app="a"), workload("b", app="a"), sidecar("s", app="a")],
            ["a.default", "b.default"],
            id="two workloads",
        ),
        pytest.param([edge("*")], ["edge.default"], id="a Gateway implies a workload"),
        pytest.param([edge("*"), edge("*", name="more")], ["edge.default"], id="Gateways with one selector share it"),
        pytest.param([edge("*"), workload("gate", istio="edge")], ["gate.default"], id="a Gateway on its own workload"),
        pytest.param(
            [edge("*"), workload("gate", istio="edge"), sidecar("s", istio="edge")],
            ["gate.default"],
            id="a Sidecar makes it none",
        ),
    ],
)
def test_ids(documents: Any, ids: list[str]) -> None:
    assert [found.id for found in proxies(documents)] == ids


def test_node_ids_are_istios() -> None:
    documents = [edge("*"), *client(namespace="shop")]
    assert [found.node_id for found in proxies(documents)] == [
        "router~127.8.0.2~edge.default~default.svc.cluster.local",
        "sidecar~127.8.0.1~client.shop~shop.svc.cluster.local",
    ]


def test_a_gateway_without_selector_runs_on_a_workload_of_its_own() -> None:
    server = {"port": {"number": 1, "protocol": "HTTP"}, "bind": "127.8.0.3", "hosts": ["*"]}
    (only,) = proxies([make("Gateway", "all", {"servers": [server]}), workload("a", app="a")])
    assert (only.id, only.address, only.labels) == ("all.default", "127.8.0.3", ())


def test_a_gateway_on_a_workload_takes_its_address_and_labels() -> None:
    (only,) = proxies([edge("*"), workload("gate", address="127.8.0.7", istio="edge", app="gate")])
    assert (only.kind, only.address) == (ProxyKind.ROUTER, "127.8.0.7")
    assert only.labels == (("app", "gate"), ("istio", "edge"))


def test_a_sidecar_that_selects_the_workload_comes_before_the_namespaces_own() -> None:
    documents = [*client(), sidecar("a-for-all"), service("shop")]
    assert list(resources(documents).listeners) == ["127.8.0.1_50051"]


def test_a_proxy_that_is_gone_holds_nothing() -> None:
    gone = ProxyNode(ProxyKind.SIDECAR, "gone.default", "127.8.0.1", "default", ())
    found = node_resources([*client(), service("shop")], gone)
    assert not any((found.clusters, found.endpoints, found.listeners, found.routes, found.documents))
