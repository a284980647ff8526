"""Who runs a document's weights, as istiod's debug pages tell it."""

from typing import Any

import pytest

from control.adapters.kubernetes.routes import held, view
from control.adapters.kubernetes.syncz import Routes, Synced, dumped, expected, later, routes_of, runs, synced
from mesh.traffic import RouteRef
from tests.control.adapters.kubernetes.test_routes import item

UUID = "277708d3f-b595-454b-87ed-89037011a51"
HOST = "cart.shop.svc.cluster.local"


def proxy(sent: str = "v/2", acked: str = "v/2") -> Synced:
    return Synced("cart.shop", sent + UUID, acked + UUID)


def dump(*actions: dict[str, Any], name: str = "primary", of: str = "cart") -> dict[str, Any]:
    config = f"/apis/networking.istio.io/v1/namespaces/shop/virtual-service/{of}"
    routes = [
        {"name": name, "route": action, "metadata": {"filterMetadata": {"istio": {"config": config}}}}
        for action in actions
    ]
    held_routes = [{"versionInfo": "v/2", "routeConfig": {"virtualHosts": [{"routes": routes}]}}]
    return {"configs": [{"@type": "x/envoy.admin.v3.RoutesConfigDump", "dynamicRouteConfigs": held_routes}]}


def weighted(**weights: int) -> dict[str, Any]:
    clusters = [{"name": f"outbound|80|{name}|{HOST}", "weight": weight} for name, weight in weights.items()]
    return {"weightedClusters": {"clusters": clusters}}


def test_proxies_without_routes_are_none() -> None:
    answer = [{"proxy": "a.b"}, {"proxy": "c.d", "route_sent": "1", "route_acked": "1"}]
    assert set(synced(answer)) == {"c.d"}


@pytest.mark.parametrize(
    ("found", "weights"),
    [
        (dump(weighted(v1=90, v2=10)), ({(HOST, "v1"): 90, (HOST, "v2"): 10},)),
        (dump({"cluster": f"outbound|80|v1|{HOST}"}), ({(HOST, "v1"): 1},)),
        (dump(weighted(v1=100), name="primary.of-a-match"), ({(HOST, "v1"): 100},)),
        (dump(weighted(v1=100), name="primary2"), ()),
        (dump(weighted(v1=100), of="cart2"), ()),
        ({}, ()),
    ],
    ids=["weighted", "single", "a match of it", "another route", "another document", "nothing"],
)
def test_a_routes_weights_are_found_in_a_dump(found: dict[str, Any], weights: Any) -> None:
    assert routes_of(dumped(found), RouteRef("shop", "cart", "primary")).weights == weights


def test_what_a_document_asks_for_leaves_out_who_gets_nothing() -> None:
    ref = RouteRef("shop", "cart", "primary")
    assert expected(view(held(item(100, 0)), ref)) == {(HOST, "v1"): 100}
    assert expected(view(held(item(0)), ref)) == {(HOST, "v1"): 1}


@pytest.mark.parametrize(
    ("who", "found", "does"),
    [
        (proxy(), Routes("v/2", ({(HOST, "v1"): 100},)), True),
        (proxy(), Routes("v/2", ({(HOST, "v1"): 100}, {(HOST, "v1"): 90})), False),
        (proxy(), Routes("v/2", ()), False),
        (proxy(), Routes("v/3", ({(HOST, "v1"): 100},)), False),
        (proxy(sent="v/3"), Routes("v/2", ({(HOST, "v1"): 100},)), False),
        (proxy(sent="v/3"), Routes("v/3", ({(HOST, "v1"): 100},)), False),
    ],
    ids=["it does", "on one route of two", "holds none", "of another version", "sent more", "not acknowledged"],
)
def test_a_proxy_runs_weights_that_it_acknowledged(who: Synced, found: Routes, does: bool) -> None:
    assert runs(who, found, {(HOST, "v1"): 100}) is does


NOON, ONE_LATER = "2026-12-01T12:00:00Z", "2026-12-01T12:00:01Z"


@pytest.mark.parametrize(
    ("version", "than", "is_so"),
    [
        (f"{NOON}/10", f"{NOON}/9", True),
        (f"{NOON}/7", f"{NOON}/7", False),
        (f"{NOON}/6", f"{NOON}/7", False),
        (f"{ONE_LATER}/1", f"{NOON}/70", True),
        (f"{NOON}/70", f"{ONE_LATER}/1", False),
        ("", f"{NOON}/7", False),
        ("no version", f"{NOON}/7", False),
    ],
    ids=["the next", "the same", "one before", "of a later istiod", "of an earlier istiod", "none", "no version"],
)
def test_a_version_is_later_than_another(version: str, than: str, is_so: bool) -> None:
    assert later(version, than) is is_so
