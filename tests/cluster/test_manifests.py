"""What a cluster is given: rendered by kustomize, accepted by the API server field by field, read back, deleted."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from control.local.cluster.running import MANIFESTS, Cluster

pytestmark = pytest.mark.cluster
OVERLAYS = ("cluster", "namespaced", "overlays/istio", "overlays/restricted-controller", "overlays/restricted")
NAMESPACES = ("shop", "translation")
Document = dict[str, Any]


async def rendered(cluster: Cluster, overlay: str) -> list[Document]:
    text = await cluster.kubectl_run("kustomize", str(MANIFESTS / overlay))
    return [each for each in yaml.safe_load_all(text) if each]


def without(document: Mapping[str, Any], *kinds: str) -> bool:
    return document["kind"] not in kinds


@pytest.mark.parametrize("overlay", OVERLAYS)
async def test_each_overlay_is_accepted_word_for_word(cluster: Cluster, overlay: str) -> None:
    """Dry, since the small cluster has the kinds and rights already; the API server checks all the same."""
    for name in NAMESPACES:
        await cluster.kubectl_run("apply", "-f", "-", stdin=namespace(name))
    documents = await rendered(cluster, overlay)
    text = "\n---\n".join(json.dumps(each) for each in documents)
    said = await cluster.kubectl_run(
        *("apply", "--server-side", "--dry-run=server", "--validate=strict", "--force-conflicts", "-f", "-"),
        stdin=text,
    )
    assert len(said.splitlines()) == len(documents)


def namespace(name: str) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


async def test_the_workload_is_made_read_back_and_deleted(cluster: Cluster) -> None:
    folder = str(MANIFESTS / "overlays" / "istio")
    documents = [each for each in await rendered(cluster, "overlays/istio") if without(each, "Namespace")]
    await cluster.kubectl_run("apply", "-f", "-", stdin=namespace("translation"))
    await cluster.kubectl_run("apply", "--server-side", "--force-conflicts", "--validate=strict", "-k", folder)
    try:
        for each in documents:
            kind = f"{each['kind']}.{group(each)}" if group(each) else each["kind"]
            found = json.loads(
                await cluster.kubectl_run("get", kind, each["metadata"]["name"], "-n", "translation", "-o", "json")
            )
            assert missing(each["spec"], found["spec"]) == [], each["metadata"]["name"]
    finally:
        await cluster.kubectl_run("delete", "-k", folder, "--wait=false")


def group(document: Document) -> str:
    name, _, version = document["apiVersion"].rpartition("/")
    return f"{version}.{name}" if name else ""


def missing(wanted: Any, found: Any, path: str = "") -> list[str]:
    """Where what was asked for is not what is there; defaults may be added, quantities written otherwise."""
    if isinstance(wanted, Mapping):
        known = found if isinstance(found, Mapping) else {}
        return [fault for name in wanted for fault in missing(wanted[name], known.get(name), f"{path}.{name}")]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(wanted, found, strict=True))
        return [fault for at, (one, other) in pairs for fault in missing(one, other, f"{path}[{at}]")]
    return [] if wanted == found else [f"{path}: {wanted!r} is {found!r}"]
