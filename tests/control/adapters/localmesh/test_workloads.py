"""How many endpoints of a subset are ready, by knocking at real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from control.adapters.localmesh.workloads import LocalWorkloads, accepts
from control.errors import NotFound
from tests.support.control_mesh import ScriptedMesh, serving


def documents(*, sidecar: int, service: str) -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: echo, namespace: default}}
spec:
  hosts: [echo.default.svc.cluster.local]
  resolution: STATIC
  ports: [{{number: {sidecar}, name: grpc, protocol: GRPC}}]
  workloadSelector: {{labels: {{app: echo}}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: echo, namespace: default}}
spec: {{host: echo, subsets: [{{name: v1, labels: {{version: v1}}}}]}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: echo-v1, namespace: default}}
spec: {{address: 127.0.0.1, labels: {{app: echo, version: v1}}}}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: echo-v1, namespace: default}}
spec:
  workloadSelector: {{labels: {{app: echo}}}}
  ingress:
    - port: {{number: {sidecar}, name: grpc, protocol: GRPC}}
      defaultEndpoint: {service}
"""


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def refusing_port() -> int:
    async with listening() as port:
        return port


@pytest.mark.parametrize(
    ("sidecar_up", "service_up", "ready"),
    [
        pytest.param(True, True, 1, id="both answer"),
        pytest.param(True, False, 0, id="a crashed service behind a living sidecar"),
        pytest.param(False, True, 0, id="a crashed sidecar before a living service"),
    ],
)
async def test_an_endpoint_is_ready_when_everything_on_its_way_answers(
    sidecar_up: bool, service_up: bool, ready: int
) -> None:
    async with listening() as one, listening() as two:
        sidecar = one if sidecar_up else await refusing_port()
        service = two if service_up else await refusing_port()
        text = documents(sidecar=sidecar, service=f"127.0.0.1:{service}")
        async with serving(ScriptedMesh(text=text)) as channel:
            assert await LocalWorkloads(channel).ready_endpoints("default", "echo", "v1") == ready


async def test_a_subset_that_is_not_declared() -> None:
    async with serving(ScriptedMesh(text=documents(sidecar=1, service="127.0.0.1:1"))) as channel:
        with pytest.raises(NotFound):
            await LocalWorkloads(channel).ready_endpoints("default", "echo", "v9")


async def test_unix_sockets_are_knocked_at_too(tmp_path: Path) -> None:
    path = tmp_path / "echo.sock"
    assert not await accepts(f"unix:{path}")
    server = await asyncio.start_unix_server(lambda _reader, writer: writer.close(), path)
    async with server:
        assert await accepts(f"unix:{path}")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no.such.host.invalid:80"])
async def test_who_does_not_answer_is_not_ready(address: str) -> None:
    assert not await accepts(address)
