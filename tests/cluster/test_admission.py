"""What rights can't say is said by admission policies, on the real API server."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from control.errors import StartFailed
from control.local.cluster.places import CONTROLLER
from control.local.cluster.running import Cluster
from tests.support.cluster_story import SHIFT

pytestmark = pytest.mark.cluster
DOCUMENT: dict[str, Any] = {
    "apiVersion": "networking.istio.io/v1",
    "kind": "VirtualService",
    "metadata": {"name": "cart", "namespace": "default", "labels": {"team": "shop"}},
    "spec": {
        "hosts": ["cart"],
        "http": [
            {
                "name": "primary",
                "match": [{"uri": {"prefix": "/"}}],
                "route": [
                    {"destination": {"host": "cart", "subset": "v1"}, "weight": 100},
                    {"destination": {"host": "cart", "subset": "v2"}, "weight": 0},
                ],
            },
            {"name": "rest", "route": [{"destination": {"host": "cart", "subset": "v1"}}]},
        ],
    },
}
FIRST = "/spec/http/0"


def put(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def gone(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


@pytest_asyncio.fixture
async def objects(cluster: Cluster) -> AsyncIterator[Cluster]:
    """A VirtualService and a TrafficShift of somebody's, and two people who may edit and view them."""
    await cluster.apply(json.dumps(DOCUMENT) + "\n---\n" + json.dumps(SHIFT))
    await cluster.kubectl_run("create", "rolebinding", "alice", "--clusterrole=edit", "--user=alice")
    await _in_force(cluster)
    try:
        yield cluster
    finally:
        await cluster.kubectl_run("delete", "rolebinding", "alice")
        await cluster.kubectl_run("delete", "virtualservice/cart", "trafficshift/echo")


async def _in_force(cluster: Cluster) -> None:
    """The API server reads new policies a moment after they were written."""
    for _ in range(100):
        refusal = await refused(cluster, "virtualservice", "cart", [put("/metadata/labels/probe", "x")])
        if refusal:
            return
        await asyncio.sleep(0.2)
    raise AssertionError("the policies never came into force")


async def refused(
    cluster: Cluster, kind: str, name: str, patch: list[dict[str, Any]], *, by: str = "controller", sub: str = ""
) -> str:
    """What the API server says against it; empty when it lets it pass."""
    words = ("patch", kind, name, "--type=json", "-p", json.dumps(patch), *([f"--subresource={sub}"] if sub else []))
    try:
        await cluster.kubectl_run(*words, context=by)
    except StartFailed as error:
        return error.message
    return ""


LEGAL = {
    "a step": [put(f"{FIRST}/route/0/weight", 90), put(f"{FIRST}/route/1/weight", 10)],
    "a weight where there was none": [put("/spec/http/1/route/0/weight", 100)],
    "no change": [put(f"{FIRST}/name", "primary")],
}
ILLEGAL = {
    "a label": ([put("/metadata/labels/team", "other")], "metadata"),
    "an annotation": ([put("/metadata/annotations", {"a": "b"})], "metadata"),
    "a finalizer": ([put("/metadata/finalizers", ["x.y/z"])], "metadata"),
    "a host": ([put("/spec/hosts/-", "other")], "beside its http routes"),
    "a gateway": ([put("/spec/gateways", ["mesh"])], "beside its http routes"),
    "a tcp route": ([put("/spec/tcp", [])], "beside its http routes"),
    "one route less": ([gone("/spec/http/1")], "how many routes"),
    "one route more": ([put("/spec/http/-", {"name": "more"})], "how many routes"),
    "a retry policy": ([put(f"{FIRST}/retries", {"attempts": 3})], "the routes they are in"),
    "a match": ([gone(f"{FIRST}/match")], "the routes they are in"),
    "a name": ([put(f"{FIRST}/name", "other")], "the routes they are in"),
    "another subset": ([put(f"{FIRST}/route/1/destination/subset", "v3")], "the destinations"),
    "a header": ([put(f"{FIRST}/route/0/headers", {"request": {"set": {"a": "b"}}})], "the destinations"),
    "one destination less": ([gone(f"{FIRST}/route/1")], "the destinations"),
    "one destination more": (
        [put(f"{FIRST}/route/-", {"destination": {"host": "evil"}, "weight": 1})],
        "the destinations",
    ),
    "weights and more": (
        [put(f"{FIRST}/route/0/weight", 90), put(f"{FIRST}/timeout", "1s")],
        "the routes they are in",
    ),
}


async def test_the_controller_changes_weights_and_nothing_else(objects: Cluster) -> None:
    answers = {name: await refused(objects, "virtualservice", "cart", patch) for name, patch in LEGAL.items()}
    assert answers == dict.fromkeys(LEGAL, "")
    for name, (patch, why) in ILLEGAL.items():
        said = await refused(objects, "virtualservice", "cart", patch)
        assert "tidegate-weights-only" in said, (name, said)
        assert why in said, (name, said)


async def test_people_s_own_changes_are_none_of_these_policies_business(objects: Cluster) -> None:
    for name in ("a label", "a host", "a retry policy", "one destination less"):
        assert await refused(objects, "virtualservice", "cart", ILLEGAL[name][0], by="admin") == "", name


SPEC_CHANGES = {
    "the spec": [put("/spec/budget", 7)],
    "a label": [put("/metadata/labels", {"a": "b"})],
    "a command": [put("/metadata/annotations", {"tidegate.dev/command": "{}", "tidegate.dev/command-by": CONTROLLER})],
}


async def test_of_a_shift_the_controller_changes_its_finalizer_alone(objects: Cluster) -> None:
    patch = [put("/metadata/finalizers", ["tidegate.dev/traffic"])]
    assert await refused(objects, "trafficshift", "echo", patch) == ""
    assert await refused(objects, "trafficshift", "echo", [gone("/metadata/finalizers")]) == ""
    for name, patch in SPEC_CHANGES.items():
        assert "tidegate-spec-is-its-authors" in await refused(objects, "trafficshift", "echo", patch), name


async def test_a_command_is_given_under_the_own_name(objects: Cluster) -> None:
    def noted(by: str | None, text: str = "{}") -> list[dict[str, Any]]:
        names = {} if by is None else {"tidegate.dev/command-by": by}
        return [put("/metadata/annotations", {"tidegate.dev/command": text, **names})]

    for by in (None, "", "bob", "admin"):
        said = await refused(objects, "trafficshift", "echo", noted(by), by="alice")
        assert "set the annotation tidegate.dev/command-by to alice" in said, (by, said)
    assert await refused(objects, "trafficshift", "echo", noted("alice"), by="alice") == ""
    afterwards = [put("/metadata/annotations/tidegate.dev~1command-by", "bob")]
    assert "tidegate-command-author" in await refused(objects, "trafficshift", "echo", afterwards, by="alice")
    assert await refused(objects, "trafficshift", "echo", [put("/spec/budget", 60)], by="admin") == ""


async def test_a_status_is_the_controller_s_own(objects: Cluster) -> None:
    lie = [put("/status", {"phase": "Promoted"})]
    for who in ("admin", "alice"):
        said = await refused(objects, "trafficshift", "echo", lie, by=who, sub="status")
        assert "forbidden" in said or "tidegate-status-author" in said, (who, said)
    assert await refused(objects, "trafficshift", "echo", lie, sub="status") == ""
