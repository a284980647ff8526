"""Documents and acknowledgements over MeshService: what is asked, what comes back, and what each failure becomes."""

import asyncio
from collections.abc import Awaitable, Callable

import grpc
import pytest
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.localmesh.channel import MeshChannel
from control.adapters.localmesh.documents import LocalDocuments
from control.adapters.localmesh.proxies import LocalProxies
from control.errors import Conflict, NotFound, Rejected, TidegateError, Unavailable
from control.ports import Applied, Rejection
from mesh.istio.weights import DestinationWeight, WeightPatch
from mesh.traffic import RouteRef
from tests.support.control_mesh import TOKEN, ScriptedMesh, listening, serving
from tests.support.mesh_wait import until

ECHO = "echo.default.svc.cluster.local"
TEXT = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: echo, namespace: default}
spec:
  hosts: [echo]
  http:
    - name: primary
      route:
        - {destination: {host: echo, subset: v1}, weight: 90}
        - {destination: {host: echo, subset: v2, port: {number: 50051}}, weight: 10}
    - name: other
      route:
        - {destination: {host: echo, subset: v1}}
"""
REF = RouteRef("default", "echo", "primary")
DESTINATIONS = (DestinationWeight(ECHO, "v1", None, 90), DestinationWeight(ECHO, "v2", 50051, 10))
PATCH = WeightPatch(REF, 0, DESTINATIONS, (80, 20))


async def test_a_route_is_read_from_the_live_documents() -> None:
    async with serving(ScriptedMesh(text=TEXT)) as channel:
        view = await LocalDocuments(channel).route(REF)
    assert (view.ref, view.index, view.destinations) == (REF, 0, DESTINATIONS)


@pytest.mark.parametrize(
    ("ref", "hint"),
    [
        pytest.param(RouteRef("default", "none", "primary"), "default/echo", id="no such document"),
        pytest.param(RouteRef("other", "echo", "primary"), "default/echo", id="the name in another namespace"),
        pytest.param(RouteRef("default", "echo", "none"), "primary", id="no such route: those that exist"),
    ],
)
async def test_what_does_not_exist_is_answered_with_what_does(ref: RouteRef, hint: str) -> None:
    async with serving(ScriptedMesh(text=TEXT)) as channel:
        with pytest.raises(NotFound) as caught:
            await LocalDocuments(channel).route(ref)
    assert hint in caught.value.hint


async def test_a_route_whose_weights_are_none_is_rejected() -> None:
    async with serving(ScriptedMesh(text=TEXT.replace("weight: 90", "weight: much"))) as channel:
        with pytest.raises(Rejected, match="has the weight 'much'"):
            await LocalDocuments(channel).route(REF)


async def test_a_mesh_without_any_route_says_so() -> None:
    async with serving(ScriptedMesh()) as channel:
        with pytest.raises(NotFound) as caught:
            await LocalDocuments(channel).route(REF)
    assert "no VirtualService at all" in caught.value.hint


async def test_a_patch_carries_what_was_seen_and_what_is_wanted() -> None:
    async with serving(mesh := ScriptedMesh(text=TEXT)) as channel:
        applied = await LocalDocuments(channel).apply(PATCH)
    (request,) = mesh.patches
    assert applied == Applied(REF, "r2")
    assert (request.name.kind, request.name.name, request.route_index, request.route_name) == (
        "VirtualService", "echo", 0, "primary",
    )  # fmt: skip
    assert [(each.host, each.subset, each.port, each.weight) for each in request.expected] == [
        (ECHO, "v1", 0, 90),
        (ECHO, "v2", 50051, 10),
    ]
    assert list(request.weights) == [80, 20]


async def test_a_weight_that_the_document_does_not_give_stays_unset() -> None:
    patch = WeightPatch(REF, 0, (DestinationWeight(ECHO, "v1", None, None),), (1,))
    async with serving(mesh := ScriptedMesh(text=TEXT)) as channel:
        await LocalDocuments(channel).apply(patch)
    assert not mesh.patches[0].expected[0].HasField("weight")


CALLS: dict[str, Callable[[MeshChannel], Awaitable[object]]] = {
    "route": lambda channel: LocalDocuments(channel).route(REF),
    "apply": lambda channel: LocalDocuments(channel).apply(PATCH),
    "acknowledgement": lambda channel: LocalProxies(channel).acknowledgement(REF, "r1"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (grpc.StatusCode.ABORTED, Conflict),
        (grpc.StatusCode.NOT_FOUND, NotFound),
        (grpc.StatusCode.INVALID_ARGUMENT, Rejected),
        (grpc.StatusCode.FAILED_PRECONDITION, Rejected),
        (grpc.StatusCode.UNAVAILABLE, Unavailable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, Unavailable),
        (grpc.StatusCode.INTERNAL, Unavailable),
        (grpc.StatusCode.UNAUTHENTICATED, Unavailable),
    ],
    ids=lambda each: each.name if isinstance(each, grpc.StatusCode) else "",
)
async def test_what_a_failed_call_becomes(call: str, status: grpc.StatusCode, error: type[TidegateError]) -> None:
    async with serving(ScriptedMesh(text=TEXT, fails=status)) as channel:
        with pytest.raises(error, match="as the test says"):
            await CALLS[call](channel)


@pytest.mark.parametrize("call", CALLS)
async def test_nobody_there_is_unavailable(call: str) -> None:
    channel = MeshChannel("127.0.0.1:1", "secret")
    with pytest.raises(Unavailable):
        await CALLS[call](channel)
    await channel.close()


async def test_a_mesh_that_is_started_again_is_found_again() -> None:
    async with listening(ScriptedMesh(text=TEXT)) as address:
        channel = MeshChannel(address, TOKEN)
        documents = LocalDocuments(channel)
        await documents.route(REF)
    with pytest.raises(Unavailable):
        await documents.route(REF)

    async def found() -> bool:
        try:
            return (await documents.route(REF)).ref == REF
        except Unavailable:
            return False

    async with listening(ScriptedMesh(text=TEXT), address):
        await until(found)
    await channel.close()


async def test_a_wrong_token_is_told_apart_from_a_dead_mesh() -> None:
    async with serving(mesh := ScriptedMesh(text=TEXT)):
        channel = MeshChannel(mesh.address, "wrong")
        with pytest.raises(Unavailable, match="does not accept our token"):
            await LocalDocuments(channel).route(REF)
        await channel.close()


async def test_an_acknowledgement_is_what_the_mesh_says_first() -> None:
    status = mesh_pb2.RevisionStatus(
        current=True,
        holders=["gateway", "a"],
        acknowledged=["a"],
        rejections=[mesh_pb2.Rejection(proxy="gateway", message="bad")],
    )
    async with serving(ScriptedMesh(revision=status)) as channel:
        found = await LocalProxies(channel).acknowledgement(REF, "r1")
    assert (found.ref, found.revision, found.current, found.known) == (REF, "r1", True, True)
    assert (found.holders, found.acknowledged) == (frozenset({"gateway", "a"}), frozenset({"a"}))
    assert found.rejections == (Rejection("gateway", "bad"),)


def _changed(kind: str, name: str) -> mesh_pb2.DocumentsChanged:
    return mesh_pb2.DocumentsChanged(changed=[mesh_pb2.DocumentName(kind=kind, namespace="default", name=name)])


async def test_changes_name_routes_and_survive_a_mesh_that_goes_and_comes() -> None:
    async with serving(mesh := ScriptedMesh()) as channel:
        for event in (_changed("VirtualService", "echo"), _changed("DestinationRule", "echo"), None):
            mesh.events.put_nowait(event)
        changes = LocalDocuments(channel).changes()
        async with asyncio.timeout(60):
            first = [await anext(changes) for _ in range(3)]
            again = await anext(changes)
            mesh.events.put_nowait(_changed("VirtualService", "edge"))
            last = await anext(changes)
    assert first == [None, RouteRef("default", "echo"), None]
    assert again is None, "a reconnection: anything may have changed meanwhile"
    assert (last, mesh.watches) == (RouteRef("default", "edge"), 2)


async def test_what_differs_between_versions_is_told_with_its_values() -> None:
    mesh = ScriptedMesh(differences=[mesh_pb2.Difference(field="timeout", values=["no limit", "5s"])])
    async with serving(mesh) as channel:
        told = await LocalDocuments(channel).differences("default", "echo", ("v1", "v2"))
    assert told == ("timeout (v1: no limit, v2: 5s)",)
    assert [(each.host, list(each.versions)) for each in mesh.compared] == [(ECHO, ["v1", "v2"])]


async def test_a_mesh_that_cannot_compare_is_unavailable() -> None:
    async with serving(ScriptedMesh(fails=grpc.StatusCode.UNAVAILABLE)) as channel:
        with pytest.raises(Unavailable):
            await LocalDocuments(channel).differences("default", "echo", ("v1", "v2"))
