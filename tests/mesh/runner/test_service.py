"""The mesh's API over real gRPC, without Envoys."""

import asyncio
from collections.abc import AsyncIterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import grpc.aio
import pytest
from tidegate.mesh.v1 import mesh_pb2, mesh_pb2_grpc

from mesh.process import Supervisor
from mesh.runner.envoys import Envoys, Place
from mesh.runner.folder import Folder
from mesh.runner.live import LiveMesh
from mesh.runner.main import CannotStart, Mesh, Options, start_api
from mesh.runner.service import MeshService
from mesh.runner.token import BadToken, read_or_make
from mesh.xds.server import AdsServer
from tests.mesh.runner.test_live import files
from tests.support.mesh_running import ECHO, ROUTES, RULE, RunningMesh

PATIENT = """labels: {{version: v2}},
       trafficPolicy: {{connectionPool: {{tcp: {{connectTimeout: 30s}}}}}}"""
EDGE = mesh_pb2.DocumentName(kind="VirtualService", namespace="default", name="edge")


@pytest.fixture
async def mesh(tmp_path: Path) -> AsyncIterator[RunningMesh]:
    folder, ads = tmp_path / "mesh", AdsServer()
    folder.mkdir()
    for name, content in files().items():
        (folder / name).write_bytes(content)
    live = LiveMesh(ads)
    live.apply(Folder(folder).read())
    options = Options(folder, "127.64.0", "127.0.0.1:0", tmp_path / "token", tmp_path)
    async with Supervisor() as supervisor, aiohttp.ClientSession() as session:
        envoys = Envoys(Place("envoy", "127.0.0.1", ("127.0.0.1", 1), tmp_path), supervisor, session, epoch=1)
        server, address = await start_api(options, MeshService(live, Folder(folder), ads, envoys))
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = mesh_pb2_grpc.MeshServiceStub(channel)  # type: ignore[no-untyped-call]
            metadata = (("authorization", f"Bearer {options.token_file.read_text().strip()}"),)
            yield RunningMesh("127.64.0", folder, Mesh(live, ads, envoys, address), stub, metadata)
        await server.stop(grace=0)


async def code_of(call: Any) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    code: grpc.StatusCode = error.value.code()
    return code


@pytest.mark.parametrize(
    "metadata",
    [(), (("authorization", "Bearer wrong"),), (("authorization", "Bearer \u00e4"),)],
    ids=["none", "wrong", "odd"],
)
async def test_without_the_token_nothing_is_answered(mesh: RunningMesh, metadata: Any) -> None:
    metadata = tuple((name, value.encode("ascii", "replace").decode()) for name, value in metadata)
    assert (
        await code_of(mesh.stub.ListProxies(mesh_pb2.ListProxiesRequest(), metadata=metadata))
        is grpc.StatusCode.UNAUTHENTICATED
    )
    watch = mesh.stub.WatchDocuments(mesh_pb2.WatchDocumentsRequest(), metadata=metadata)
    assert await code_of(watch.read()) is grpc.StatusCode.UNAUTHENTICATED


async def test_documents_come_with_their_place_and_text(mesh: RunningMesh) -> None:
    everything = await mesh.stub.GetDocuments(mesh_pb2.GetDocumentsRequest(), metadata=mesh.metadata)
    assert len(everything.documents) == 10
    rules = await mesh.stub.GetDocuments(mesh_pb2.GetDocumentsRequest(kinds=["VirtualService"]), metadata=mesh.metadata)
    assert [(each.name.name, each.file, each.line) for each in rules.documents] == [
        ("edge", "routes.yaml", 1),
        ("echo", "routes.yaml", 16),
    ]
    assert b"# the front door" in rules.documents[0].text


async def test_a_patch_is_on_disk_and_live_when_it_is_answered(mesh: RunningMesh) -> None:
    revision = await mesh.patch("edge", Fraction(1, 4))
    assert "weight: 75" in (mesh.folder / "routes.yaml").read_text()
    assert mesh.mesh.live.document(("VirtualService", "default", "edge")).revision == revision


async def test_a_patch_takes_in_what_a_person_wrote_a_moment_ago(mesh: RunningMesh) -> None:
    mesh.write("routes.yaml", ROUTES.replace("# the front door", "# a person's word"))
    await mesh.patch("edge", Fraction(1, 4))
    assert "# a person's word" in (mesh.folder / "routes.yaml").read_text()
    assert "weight: 75" in (mesh.folder / "routes.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "expected", "weights", "code"),
    [
        pytest.param("none", [100, 0], [1, 1], grpc.StatusCode.NOT_FOUND, id="no such document"),
        pytest.param("edge", [50, 50], [1, 1], grpc.StatusCode.ABORTED, id="other weights than expected"),
        pytest.param("edge", [100, 0], [0, 0], grpc.StatusCode.FAILED_PRECONDITION, id="weights that sum to 0"),
    ],
)
async def test_patches_that_are_refused(
    mesh: RunningMesh, name: str, expected: list[int], weights: list[int], code: grpc.StatusCode
) -> None:
    before = (mesh.folder / "routes.yaml").read_text()
    request = mesh_pb2.PatchWeightsRequest(
        name=mesh_pb2.DocumentName(kind="VirtualService", namespace="default", name=name),
        route_name="primary",
        expected=[
            mesh_pb2.DestinationWeight(host="echo.default.svc.cluster.local", subset=subset, port=50051, weight=weight)
            for subset, weight in zip(("v1", "v2"), expected, strict=True)
        ],
        weights=weights,
    )
    assert await code_of(mesh.stub.PatchWeights(request, metadata=mesh.metadata)) is code
    assert (mesh.folder / "routes.yaml").read_text() == before


async def test_a_folder_that_can_not_be_written_is_unavailable_and_nothing_goes_live(mesh: RunningMesh) -> None:
    live = mesh.mesh.live
    key = ("VirtualService", "default", "edge")
    before = live.document(key).revision
    for file in mesh.folder.iterdir():
        file.unlink()
    mesh.folder.rmdir()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await mesh.patch("edge", Fraction(1, 4))
    assert error.value.code() is grpc.StatusCode.UNAVAILABLE
    assert live.document(key).revision == before


async def test_a_watch_tells_the_state_now_and_when_the_document_moves_on(mesh: RunningMesh) -> None:
    revision = mesh.mesh.live.document(("VirtualService", "default", "edge")).revision
    watch = mesh.stub.WatchRevision(mesh_pb2.WatchRevisionRequest(name=EDGE, revision=revision), metadata=mesh.metadata)
    first = await watch.read()
    assert (first.current, list(first.holders), list(first.acknowledged)) == (True, ["ingress.default"], [])
    await mesh.patch("edge", Fraction(1, 4))
    assert not (await watch.read()).current
    watch.cancel()


async def test_changes_of_documents_are_told(mesh: RunningMesh) -> None:
    watch = mesh.stub.WatchDocuments(mesh_pb2.WatchDocumentsRequest(), metadata=mesh.metadata)
    reading = asyncio.ensure_future(watch.read())
    await watch.initial_metadata()
    await mesh.patch("edge", Fraction(1, 4))
    assert list((await reading).changed) == [EDGE]
    mesh.mesh.live.apply({**mesh.mesh.live.known_files(), "rule.yaml": b"kind: [no end"})
    told = await watch.read()
    assert (list(told.changed), told.problems[0].file, told.problems[0].line) == ([], "rule.yaml", 1)
    watch.cancel()


async def test_proxies_are_listed_with_what_they_hold(mesh: RunningMesh) -> None:
    answer = await mesh.stub.ListProxies(mesh_pb2.ListProxiesRequest(), metadata=mesh.metadata)
    assert [(each.id, [held.name for held in each.holds]) for each in answer.proxies] == [
        ("caller.default", ["echo"]),
        ("ingress.default", ["edge"]),
    ]
    assert not any(each.connected or each.incarnation for each in answer.proxies)


async def test_versions_are_compared_as_the_live_documents_have_them(mesh: RunningMesh) -> None:
    request = mesh_pb2.CompareVersionsRequest(host=ECHO, versions=["v1", "v2"])
    assert not (await mesh.stub.CompareVersions(request, metadata=mesh.metadata)).differences
    rule = RULE.replace("labels: {{version: v2}}", PATIENT)
    mesh.mesh.live.apply({**mesh.mesh.live.known_files(), "rule.yaml": rule.format().encode()})
    (found,) = (await mesh.stub.CompareVersions(request, metadata=mesh.metadata)).differences
    assert (found.field, list(found.values)) == ("connectionPool.tcp.connectTimeout", ["10s", "30s"])


async def test_a_taken_address_of_the_api_is_told(mesh: RunningMesh, tmp_path: Path) -> None:
    options = Options(mesh.folder, "127.64.0", mesh.mesh.api, tmp_path / "token", tmp_path)
    with pytest.raises(CannotStart, match=f"cannot listen on {mesh.mesh.api}"):
        await start_api(options, MeshService(mesh.mesh.live, Folder(mesh.folder), mesh.mesh.ads, mesh.mesh.envoys))


def test_a_token_file_is_made_private_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "new" / "token"
    token = read_or_make(file)
    assert len(token) > 30
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_or_make(file) == token


@pytest.mark.parametrize(("mode", "text", "word"), [(0o644, "secret", "chmod 600"), (0o600, "", "is empty")])
def test_a_bad_token_file_is_refused(tmp_path: Path, mode: int, text: str, word: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(BadToken, match=word):
        read_or_make(file)
