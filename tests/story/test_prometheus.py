"""Prometheus counts for a shift and is stopped in the middle: the shift holds, then parks at 0 %, and nothing is spent.
Once Prometheus is back it goes on to the end. Real Envoys, a real Prometheus, the real controller.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.localmesh.channel import MeshChannel, answer
from control.api.client import GrpcShiftClient
from tests.support.control_story import ROUTES, Stage, addresses, controllers, load, stage, weights_seen
from tests.support.mesh_wait import until
from tests.support.prometheus_server import PrometheusProcess, prometheus
from tests.support.simulated_istio_stats import SimulatedIstioStats, simulated_istio_stats

KEY = ("default", "echo")
RATE = 60.0  # requests a second and entrance
PATIENCE_S = 120
SERVICE = "echo.default.svc.cluster.local"
SHIFT = b"""\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {name: echo, namespace: default}
spec:
  target:
    host: echo
    routes: [{virtualService: echo, route: primary}, {virtualService: edge, route: primary}]
  stable: v1
  canary: v2
  source: prometheus
  poll: 500ms
  blindFor: 5s
  strategy: {kind: evidence, rungs: [10%, 20%, 50%], first: 10%, bake: {for: 0s}}
  metrics: [{name: outcomes, proof: {ratio: 1.25, extra: 3%}}]
  budget: 50
"""


@pytest.mark.story
@pytest.mark.envoy
@pytest.mark.prometheus
async def test_a_shift_survives_its_prometheus(tmp_path: Path) -> None:
    async with stage(tmp_path) as scene, load(scene, rate=RATE) as traffic, weights_seen(scene) as weights:
        async with counting(scene) as server, controllers(scene, settings_for(server)) as crew:
            await crew.start()
            async with GrpcShiftClient(await crew.ready(), scene.token_file.read_text().strip()) as tool:
                await tool.apply(SHIFT, "shift.yaml")
                await told(tool, has_evidence, "requests of both versions are counted")
                await server.stop()
                held = await told(tool, blind, "it holds, for it sees nothing")
                parked = await told(tool, lambda status: status["phase"] == "Parked", "it parks")
                await until(lambda: weights[ROUTES[0]][-1] == (100, 0), within_s=PATIENCE_S, what="nothing goes to v2")
                await server.start()
                done = await told(tool, lambda status: status["phase"] == "Promoted", "it goes on to the end")
                reasons = await until(lambda: whole_journal(tool), within_s=PATIENCE_S, what="the journal ends")
            await crew.kill()
        assert sum(traffic.answers.values()) > 1000
    assert traffic.failures == []
    assert "Prometheus at" in held["reason"]
    for status in (held, parked, done):
        assert status["budget"]["spent"] == 0
    assert [each for each in reasons if each in ("Parked", "Unparked", "Promoted")] == [
        "Parked",
        "Unparked",
        "Promoted",
    ]
    assert not {"HarmFound", "BudgetSpent", "RolledBack"} & set(reasons)
    assert all(seen[-1] == (0, 100) and (100, 0) in seen[1:] for seen in weights.values())


@asynccontextmanager
async def counting(scene: Stage) -> AsyncIterator[PrometheusProcess]:
    """A Prometheus that scrapes what the scene's Envoys count, in Istio's words."""
    serving = {f"{address}:50051": f"echo-{version}-{n}" for (version, n), address in addresses(scene.net, 1).items()}
    stats = SimulatedIstioStats(SERVICE, ("v1", "v2"), await callers(scene), serving)
    interval = timedelta(milliseconds=500)
    async with (
        simulated_istio_stats(stats),
        prometheus(scene.folder / "prometheus", stats.targets, interval=interval) as server,
    ):
        yield server


async def callers(scene: Stage) -> dict[str, str | None]:
    """The admin address of each Envoy that sends."""
    channel = MeshChannel(scene.mesh_api, scene.token_file.read_text().strip())
    proxies = await answer(channel.stub.ListProxies(mesh_pb2.ListProxiesRequest(), metadata=channel.metadata))
    await channel.close()
    return {proxy.id.replace(".", "-"): proxy.admin for proxy in proxies.proxies}


def settings_for(server: PrometheusProcess) -> Mapping[str, str]:
    return {"TIDEGATE_PROMETHEUS_URL": server.url, "TIDEGATE_PROMETHEUS_SCRAPE_S": "1"}


async def told(tool: GrpcShiftClient, condition: Any, what: str) -> Mapping[str, Any]:
    """The first status for which that is so."""

    async def so() -> Mapping[str, Any] | None:
        status: Mapping[str, Any] = (await tool.get(*KEY)).status
        return status if condition(status) else None

    return await until(so, within_s=PATIENCE_S, what=what)


async def whole_journal(tool: GrpcShiftClient) -> list[str]:
    """The reasons of the journal, once its last one is in it: it is written after the status."""
    reasons = [entry["reason"] for entry in await tool.history(*KEY)]
    return reasons if "Promoted" in reasons else []


def has_evidence(status: Mapping[str, Any]) -> bool:
    rows = status["evidence"]
    return bool(rows) and all(rows[0][side]["requests"] > 0 for side in ("canary", "stable"))


def blind(status: Mapping[str, Any]) -> bool:
    return status["phase"] != "Parked" and "Prometheus at" in status["reason"]
