"""Attempt counts as a service sees them behind real Envoys: 1, 2, ... for each try, and never a client's own number."""

from pathlib import Path

import grpc
import pytest

from tests.support.backend import Client, backend, client
from tests.support.mesh_running import ECHO, EDGE, running_mesh

pytestmark = pytest.mark.envoy


async def test_documents_drive_envoys_and_attempts_are_counted(tmp_path: Path) -> None:
    async with (
        running_mesh(tmp_path) as mesh,
        backend("v1", f"{mesh.net}.11:50051") as v1,
        client(mesh.gateway, EDGE) as edge,
        client(mesh.sidecar, ECHO) as inside,
    ):
        for way, caller in (("gateway", edge), ("sidecar", inside)):
            for failures in range(4):
                name = f"{way}-{failures}"
                assert await caller.call(request_id=name, fail_first=str(failures)) == "v1"
                assert v1.attempts[name] == [str(count) for count in range(1, failures + 2)]
            await its_own_count_is_overwritten(caller, v1.attempts, way)
            await after_headers_nothing_is_tried_again(caller, v1.attempts, way)


async def its_own_count_is_overwritten(caller: Client, attempts: dict[str, list[str]], way: str) -> None:
    await caller.call(request_id=f"{way}-nine", x_envoy_attempt_count="9", fail_first="1")
    assert attempts[f"{way}-nine"] == ["1", "2"]


async def after_headers_nothing_is_tried_again(caller: Client, attempts: dict[str, list[str]], way: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await caller.call(request_id=f"{way}-late", fail_first="1", fail_when="after-headers")
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    assert attempts[f"{way}-late"] == ["1"]
