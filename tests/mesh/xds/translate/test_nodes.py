"""Is the translation a function of the documents, and does a step touch only what it must?"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesh.istio.document import Document
from mesh.xds.translate import EncodeCache, NodeResources, Resource, check, node_resources, proxies
from tests.support.xlate_documents import client, edge, full, make, rule, service, to, virtual_service

GROUPS = ("clusters", "endpoints", "listeners", "routes")


def split(name: str, weight: int, **spec: Any) -> Document:
    http = [
        {"name": "other", "match": [{"uri": {"prefix": "/other"}}], "route": [to("b")]},
        {"name": "primary", "route": [to("a", "v1", 100 - weight), to("a", "v2", weight)]},
    ]
    return virtual_service(name, http, **spec)


def mesh(weight: int = 0) -> list[Document]:
    return [
        *client(),
        *client(name="second", port=50052),
        edge("*"),
        service("a"),
        service("b"),
        service("c", port=50052),
        rule("a"),
        rule("b", name="b-too"),
        split("a", weight),
        virtual_service("b", [{"route": [to("b", "v1")]}]),
        split("edge", weight, hosts=["a.example.com"], gateways=["edge"]),
        make("PeerAuthentication", "default", {"mtls": {"mode": "DISABLE"}}),
    ]


def fine(documents: list[Document]) -> list[Document]:
    """Without the clash of the two clients' addresses, which ports keep apart."""
    assert check(documents) == []
    return documents


def everything(documents: list[Document], cache: EncodeCache | None = None) -> dict[str, NodeResources]:
    kept = EncodeCache() if cache is None else cache
    return {node.id: node_resources(documents, node, kept) for node in proxies(documents, kept)}


def flat(found: dict[str, NodeResources]) -> dict[tuple[str, str, str], Resource]:
    return {
        (proxy, group, name): item
        for proxy, held in found.items()
        for group in GROUPS
        for name, item in getattr(held, group).items()
    }


BASE = everything(fine(mesh()))


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(mesh()))
def test_the_order_of_documents_does_not_matter(order: list[Document]) -> None:
    assert everything(order) == BASE


def test_the_same_cache_gives_the_very_same_objects() -> None:
    cache = EncodeCache()
    first, second = flat(everything(mesh(), cache)), flat(everything(mesh(), cache))
    assert all(first[key] is second[key] for key in first)
    assert first.keys() == second.keys()


@pytest.mark.parametrize("weights", [(0, 1), (1, 50), (50, 100), (100, 0)], ids=str)
def test_a_weight_step_changes_one_route_configuration_of_each_proxy_that_has_it(weights: tuple[int, int]) -> None:
    cache = EncodeCache()
    before, after = (flat(everything(mesh(weight), cache)) for weight in weights)
    changed = {key for key in before if before[key] is not after[key]}
    assert before.keys() == after.keys()
    assert changed == {
        ("client.default", "routes", "50051"),
        ("edge.default", "routes", "http.8080.127.8.0.2"),
    }
    assert all(before[key].digest != after[key].digest for key in changed)


def test_a_weight_step_encodes_one_route_for_each_place_that_carries_it() -> None:
    cache = EncodeCache()
    everything(mesh(0), cache)
    known = set(cache._entries)
    everything(mesh(1), cache)
    new = [key for key in cache._entries if key not in known]
    kinds = [key[0] for key in new if isinstance(key, tuple)]
    encoded = ("route", "virtual-host", "route-configuration")
    assert sorted(kind for kind in kinds if kind in encoded) == sorted(encoded * 2)


def test_clusters_of_both_versions_stay_at_every_weight() -> None:
    for weight in (0, 37, 100):
        held = everything(mesh(weight))["client.default"]
        for version in ("v1", "v2"):
            name = f"outbound|50051|{version}|{full('a')}"
            assert name in held.clusters
            assert name in held.endpoints


def test_every_eds_cluster_has_endpoints_and_every_listener_its_routes() -> None:
    for held in everything(mesh()).values():
        assert set(held.endpoints) == {name for name in held.clusters if name.startswith("outbound")}
        named = {name for names in held.documents.values() for name in names}
        assert named <= set(held.routes)


def test_which_routes_a_document_shapes() -> None:
    held = everything(mesh())
    assert held["client.default"].documents == {
        ("VirtualService", "default", "a"): frozenset({"50051"}),
        ("VirtualService", "default", "b"): frozenset({"50051"}),
    }
    assert held["second.default"].documents == {}
    assert held["edge.default"].documents == {
        ("VirtualService", "default", "edge"): frozenset({"http.8080.127.8.0.2"}),
    }


def test_names_are_sorted() -> None:
    for held in everything(mesh()).values():
        for group in GROUPS:
            assert list(getattr(held, group)) == sorted(getattr(held, group))


def test_without_a_cache_it_is_the_same() -> None:
    documents = mesh()
    assert {node.id: node_resources(documents, node) for node in proxies(documents)} == BASE


def test_a_new_endpoint_changes_endpoints_only() -> None:
    cache = EncodeCache()
    before = flat(everything(mesh(), cache))
    alone = service("a", endpoints=[{"address": "127.9.0.1", "labels": {"version": "v1"}}])
    more = [alone if document.key == alone.key else document for document in mesh()]
    after = flat(everything(more, cache))
    changed = {group for (proxy, group, name), item in before.items() if after[proxy, group, name] is not item}
    assert changed == {"endpoints"}
