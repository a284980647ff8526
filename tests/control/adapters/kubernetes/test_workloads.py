"""What pods and WorkloadEntries say of themselves: ready or not, and which build."""

from typing import Any
from zlib import crc32

import pytest

from control.adapters.kubernetes.workloads import ClusterWorkloads, Serving, pod, workload_entry

HASHED = {"app": "cart", "pod-template-hash": "5d4f"}
OWNER = [{"kind": "ReplicaSet", "name": "cart-v2-5d4f", "controller": True}]
READY = [{"type": "Ready", "status": "True"}]
RUNS = [{"name": "cart", "imageID": "cart@sha256:aa"}, {"name": "istio-proxy", "imageID": "proxy@sha256:bb"}]

IMAGE = f"@{crc32(b'cart@sha256:aa'):08x}"


def a_pod(labels: dict[str, str], *, owner: Any = (), deleted: bool = False, **status: Any) -> dict[str, Any]:
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleted else {}
    metadata = {"name": "p", "namespace": "shop", "labels": labels, "ownerReferences": list(owner), **gone}
    return {"metadata": metadata, "status": status}


@pytest.mark.parametrize(
    ("item", "ready", "build"),
    [
        pytest.param(a_pod(HASHED, owner=OWNER, conditions=READY), True, "cart-v2@5d4f", id="of a Deployment"),
        pytest.param(a_pod(HASHED, owner=OWNER), False, "cart-v2@5d4f", id="not ready yet"),
        pytest.param(a_pod(HASHED, owner=OWNER, conditions=READY, deleted=True), False, "", id="going away"),
        pytest.param(a_pod(HASHED, owner=OWNER, phase="Succeeded"), False, "", id="done"),
        pytest.param(
            a_pod(HASHED | {"tidegate.dev/build": "b7"}, owner=OWNER), False, "cart-v2@b7", id="a person's own mark"
        ),
        pytest.param(
            a_pod({"controller-revision-hash": "db-7c"}, owner=[{"name": "db", "controller": True}]), False, "db@db-7c",
            id="of a StatefulSet",
        ),
        pytest.param(a_pod({}, containerStatuses=RUNS), False, IMAGE, id="by its images"),
        pytest.param(a_pod({}, containerStatuses=[{"name": "cart", "imageID": ""}]), False, "", id="not pulled yet"),
        pytest.param(a_pod({}), False, "", id="nothing known"),
    ],
)  # fmt: skip
def test_a_pod(item: dict[str, Any], ready: bool, build: str) -> None:
    found = pod(item)
    assert (found.ready, found.build) == (ready, build)


def test_the_sidecar_s_image_makes_no_build() -> None:
    other = [RUNS[0], {"name": "istio-proxy", "imageID": "proxy@sha256:cc"}]
    assert pod(a_pod({}, containerStatuses=other)) == pod(a_pod({}, containerStatuses=RUNS))


@pytest.mark.parametrize(
    ("labels", "conditions", "ready", "build"),
    [
        ({}, [], True, ""),
        ({"tidegate.dev/build": "b7"}, [], True, "@b7"),
        ({}, [{"type": "Healthy", "status": "False"}], False, ""),
        ({}, [{"type": "Healthy", "status": "True"}], True, ""),
    ],
)
def test_a_workload_entry(labels: dict[str, str], conditions: list[Any], ready: bool, build: str) -> None:
    item = {"metadata": {"name": "w"}, "spec": {"labels": labels}, "status": {"conditions": conditions}}
    found = workload_entry(item)
    assert (found.ready, found.build) == (ready, build)


class Informed:
    """An informer that a test fills."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Serving] = {}
        self.listeners: list[Any] = []

    def listen(self, listener: Any) -> None:
        self.listeners.append(listener)

    def put(self, name: str, build: str | None) -> None:
        if build is None:
            del self.objects["shop", name]
        else:
            self.objects["shop", name] = Serving({}, ready=True, build=build)
        for each in self.listeners:
            each(("shop", name))


def test_a_rollout_is_told_once_and_other_news_of_pods_never() -> None:
    pods, told = Informed(), []
    nothing: Any = Informed()
    ClusterWorkloads(nothing, nothing, nothing, pods, Informed()).listen(lambda: told.append(1))  # type: ignore[arg-type]
    for name, build in (("a", "cart@1"), ("b", "cart@1"), ("a", "cart@1"), ("a", None), ("c", ""), ("c", "cart@2")):
        pods.put(name, build)
    assert len(told) == 2
