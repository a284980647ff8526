"""A VirtualService of the cluster becomes a route, and a weight patch becomes guarded operations on it."""

from fractions import Fraction
from typing import Any

import pytest

from control.adapters.kubernetes.routes import held, operations, view
from control.errors import Rejected
from mesh.istio.weights import weight_patch
from mesh.traffic import RouteRef, TrafficSplit

REF = RouteRef("shop", "cart", "primary")


def item(*weights: int | None, **metadata: Any) -> dict[str, Any]:
    versions = ["v1", "v2", "v3"]
    entries = [
        {"destination": {"host": "cart", "subset": versions[at]}} | ({} if weight is None else {"weight": weight})
        for at, weight in enumerate(weights)
    ]
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "cart", "namespace": "shop", "generation": 7, "managedFields": [{}], **metadata},
        "spec": {"hosts": ["cart"], "http": [{"name": "other"}, {"name": "primary", "route": entries}]},
    }


def split(share: str) -> TrafficSplit:
    return TrafficSplit("cart", "v1", "v2", Fraction(share))


def patched(document: dict[str, Any], share: str) -> list[dict[str, Any]]:
    found = held(document)
    patch = weight_patch(view(found, REF), split(share))
    assert patch is not None
    return operations(found, patch)


def test_a_routes_revision_is_its_documents_generation() -> None:
    assert view(held(item(100, 0)), REF).revision == "7"


def test_annotations_of_others_are_not_looked_at_and_hands_off_is() -> None:
    assert view(held(item(100, 0, annotations={"tidegate.dev/hands-off": "true", "a": "b"})), REF).hands_off


def test_what_can_not_be_read_is_rejected_with_its_reason() -> None:
    with pytest.raises(Rejected, match="can't be read"):
        view(held(item(100, 0, name="Not A Name")), REF)


def test_a_patch_proves_name_destinations_and_weights_and_writes_weights_alone() -> None:
    found = patched(item(90, 10), "1/20")
    tests, writes = ([each for each in found if each["op"] == op] for op in ("test", "add"))
    assert [each["path"] for each in tests] == [
        "/spec/http/1/name",
        "/spec/http/1/route/0/destination",
        "/spec/http/1/route/0/weight",
        "/spec/http/1/route/1/destination",
        "/spec/http/1/route/1/weight",
    ]
    assert writes == [
        {"op": "add", "path": "/spec/http/1/route/0/weight", "value": 95},
        {"op": "add", "path": "/spec/http/1/route/1/weight", "value": 5},
    ]


@pytest.mark.parametrize(("share", "asks"), [("1/5", True), ("1/20", False), ("0", False)])
def test_only_a_raise_of_the_canary_asks_for_the_generation(share: str, asks: bool) -> None:
    paths = [each["path"] for each in patched(item(90, 10), share)]
    assert ("/metadata/generation" in paths) is asks


def test_an_absent_weight_is_tested_by_its_whole_entry() -> None:
    found = patched(item(100, None), "1/10")
    assert {
        "op": "test",
        "path": "/spec/http/1/route/1",
        "value": item(100, None)["spec"]["http"][1]["route"][1],
    } in found


def test_weights_of_others_are_proven_and_not_written() -> None:
    found = patched(item(80, 0, 20), "1/10")
    assert {"op": "test", "path": "/spec/http/1/route/2/weight", "value": 20} in found
    assert all(each["path"] != "/spec/http/1/route/2/weight" for each in found if each["op"] == "add")
