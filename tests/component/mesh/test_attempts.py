"""Attempt counts as a service sees them behind real Envoys: 1, 2, ... for each try, and never a client's own number."""

from fractions import Fraction
from pathlib import Path

import grpc
import pytest

from tests.support.backend import Client, backend, client
from tests.support.mesh_running import ECHO, EDGE, GATEWAY_ONLY, running_mesh

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


INBOUND = """---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{{{name: echo-{version}}}}}
spec:
  workloadSelector: {{{{labels: {{{{app: echo, version: {version}}}}}}}}}
  ingress:
    - port: {{{{number: 50051, name: grpc, protocol: GRPC}}}}
      bind: {{net}}.{host}
      captureMode: NONE
      defaultEndpoint: {endpoint}
  egress: [{{{{hosts: ["~/*"]}}}}]
"""


async def test_counts_pass_through_a_services_own_sidecar_by_tcp_and_by_unix_socket(tmp_path: Path) -> None:
    socket = tmp_path / "v2.sock"
    sidecars = INBOUND.format(version="v1", host=11, endpoint="0.0.0.0:50061")
    sidecars += INBOUND.format(version="v2", host=12, endpoint=f"unix://{socket}")
    async with (
        running_mesh(tmp_path, {**GATEWAY_ONLY, "sidecars.yaml": sidecars}) as mesh,
        backend("v1", f"{mesh.net}.11:50061") as v1,
        backend("v2", f"unix:{socket}") as v2,
        client(mesh.gateway, EDGE) as edge,
    ):
        assert len(mesh.mesh.envoys.running) == 3
        for share, served in ((Fraction(0), v1), (Fraction(1), v2)):
            await mesh.acknowledged("edge", await mesh.patch("edge", share))
            name = f"to-{served.version}"
            assert await edge.call(request_id=name, fail_first="2", x_envoy_attempt_count="9") == served.version
            assert served.attempts[name] == ["1", "2", "3"]
