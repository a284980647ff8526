"""Documents change under load, and no request notices: weights, new versions, mistakes, folders."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from fractions import Fraction
from pathlib import Path

import grpc.aio
import pytest

from mesh.xds.snapshot import Kind
from tests.support.backend import Client, backend, client
from tests.support.mesh_load import load
from tests.support.mesh_running import (
    DOCUMENTS,
    EDGE,
    GATEWAY,
    GATEWAY_ONLY,
    ROUTES,
    RULE,
    WORKLOADS,
    RunningMesh,
    running_mesh,
)
from tests.support.mesh_wait import until

pytestmark = pytest.mark.envoy
V3 = """---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: echo-v3}}
spec: {{address: {net}.13, labels: {{app: echo, version: v3}}}}
"""
RULE_V3 = RULE + "    - {{name: v3, labels: {{version: v3}}}}\n"
ROUTES_V3 = (
    ROUTES.replace("subset: v2", "subset: v3").replace("weight: 0", "weight: 100").replace("weight: 100", "weight: 50")
)


@asynccontextmanager
async def three_versions(tmp_path: Path, documents: dict[str, str]) -> AsyncIterator[tuple[RunningMesh, Client]]:
    async with (
        running_mesh(tmp_path, documents) as mesh,
        client(mesh.gateway, EDGE) as edge,
        backend("v1", f"{mesh.net}.11:50051"),
        backend("v2", f"{mesh.net}.12:50051"),
        backend("v3", f"{mesh.net}.13:50051"),
    ):
        yield mesh, edge


def problems(mesh: RunningMesh) -> list[str]:
    return [str(problem) for problem in mesh.mesh.live.problems()]


async def test_weights_change_under_load_and_a_stream_stays_where_it_began(tmp_path: Path) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge), load(edge) as result:
        stream = edge.stream()
        assert await stream.read() == b"v1"
        for share in (Fraction(1, 100), Fraction(1, 2), Fraction(1)):
            status = await mesh.acknowledged("edge", await mesh.patch("edge", share))
            assert list(status.holders) == ["ingress.default"]
            assert status.current
            await result.more(100)
        result.by_version.clear()
        await result.more(200)
        assert set(result.by_version) == {"v2"}
        assert await stream.read() == b"v1"
        assert result.failures == []
        assert "# the front door" in (mesh.folder / "routes.yaml").read_text()
        assert (mesh.folder / "routes.yaml").read_text().count("weight: 100") == 2


async def test_a_new_subset_and_its_rule_written_in_one_go_fail_nothing_and_neither_does_their_end(
    tmp_path: Path,
) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge), load(edge) as result:
        await result.more(50)
        mesh.write("routes.yaml", ROUTES_V3)
        mesh.write("rule.yaml", RULE_V3)
        mesh.write("workloads.yaml", WORKLOADS + V3)
        await until(lambda: result.by_version["v3"] > 20, what="v3 gets traffic")
        mesh.write("workloads.yaml", WORKLOADS)
        mesh.write("rule.yaml", RULE)
        mesh.write("routes.yaml", ROUTES)
        node = mesh.mesh.live.held["ingress.default"].node.node_id
        gone = f"outbound|50051|v3|{'echo.default.svc.cluster.local'}"
        await until(lambda: gone not in mesh.mesh.ads.acked(node, Kind.CLUSTER), what="the cluster of v3 is gone")
        await result.more(50)
        assert result.failures == []
        assert problems(mesh) == []


async def test_a_rule_for_a_subset_that_comes_later_waits_for_it(tmp_path: Path) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge), load(edge) as result:
        mesh.write("routes.yaml", ROUTES_V3)
        await until(lambda: any("v3" in problem for problem in problems(mesh)), what="the missing subset is told")
        await result.more(50)
        assert set(result.by_version) == {"v1"}
        mesh.write("rule.yaml", RULE_V3)
        mesh.write("workloads.yaml", WORKLOADS + V3)
        await until(lambda: result.by_version["v3"] > 20, what="v3 gets traffic")
        assert result.failures == []


async def test_a_bad_file_is_refused_its_last_good_version_stays_and_others_apply(tmp_path: Path) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge), load(edge) as result:
        mesh.write("rule.yaml", "kind: [no end")
        await until(lambda: any("rule.yaml:1" in problem for problem in problems(mesh)), what="the mistake is told")
        await mesh.acknowledged("edge", await mesh.patch("edge", Fraction(1)))
        await until(lambda: result.by_version["v2"] > 20, what="v2 gets traffic")
        assert result.failures == []


async def test_a_rollback_works_though_its_own_file_is_broken(tmp_path: Path) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge), load(edge) as result:
        await mesh.acknowledged("edge", await mesh.patch("edge", Fraction(1)))
        broken = "kind: [no end"
        mesh.write("routes.yaml", broken)
        await until(lambda: problems(mesh), what="the mistake is told")
        await mesh.acknowledged("edge", await mesh.patch("edge", Fraction(0)))
        result.by_version.clear()
        await result.more(100)
        assert set(result.by_version) <= {"v1", "v2"}
        assert result.by_version["v1"] >= 90  # a few were on their way to v2
        assert (mesh.folder / "routes.yaml").read_text() == broken
        assert result.failures == []


async def test_a_listener_whose_port_is_taken_waits_for_it_and_its_last_good_version_stays(tmp_path: Path) -> None:
    async with three_versions(tmp_path, GATEWAY_ONLY) as (mesh, edge):
        old, moved = mesh.gateway, GATEWAY.replace("8080", "8081")
        async with backend("foreign", f"{mesh.net}.2:8081"):
            mesh.write("gateway.yaml", moved)
            told = f"gateway.yaml:13:14: {mesh.net}.2:8081 is taken by another program"
            await until(lambda: any(told in problem for problem in problems(mesh)), what="the taken port is told")
            mesh.write("routes.yaml", ROUTES.replace("weight: 100", "weight: 1").replace("weight: 0", "weight: 99"))
            await until(says(edge, "v2"), what="other documents apply")
        async with client(f"{mesh.net}.2:8081", EDGE) as there:
            await until(says(there, "v2"), what="the port is free and taken in")
            assert problems(mesh) == []
            mesh.write("gateway.yaml", GATEWAY)
            await until(lambda: (mesh.net + ".2", 8080) in mesh.mesh.live.addresses(), what="back at the old port")
            mesh.write("gateway.yaml", moved)
            await until(lambda: (mesh.net + ".2", 8081) in mesh.mesh.live.addresses(), what="and there again")
            mesh.write("gateway.yaml", GATEWAY)
        async with client(old, EDGE) as back:
            await until(says(back, "v2"), what="a port of our own is no other program's")
        assert problems(mesh) == []


def says(caller: Client, version: str) -> Callable[[], bool | Awaitable[bool]]:
    async def answer() -> bool:
        try:
            return await caller.call() == version
        except grpc.aio.AioRpcError:
            return False

    return answer


async def test_proxies_come_and_go_with_their_documents(tmp_path: Path) -> None:
    async with running_mesh(tmp_path, GATEWAY_ONLY) as mesh, backend("v1", f"{mesh.net}.11:50051"):
        mesh.write("caller.yaml", DOCUMENTS["caller.yaml"])
        await until(lambda: "caller.default" in mesh.mesh.envoys.running, within_s=90, what="the sidecar starts")
        async with client(mesh.sidecar, "echo.default.svc.cluster.local") as inside:
            assert await inside.call() == "v1"
        (mesh.folder / "caller.yaml").unlink()
        await until(lambda: "caller.default" not in mesh.mesh.envoys.running, what="the sidecar stops")
        assert list(mesh.mesh.live.held) == ["ingress.default"]
