"""The workload itself on istiod's Envoys: translator v1 to v2, lang-detector and cache-proxy behind it, under load."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from control.local import children
from control.local.children import Options
from control.local.cluster.running import Cluster
from control.local.layout import Layout
from control.local.load import load
from control.local.manifests import SHIFT, render_documents
from mesh.lease import lease
from mesh.process import Supervisor
from tests.cluster.test_shift import ended
from tests.support.cluster_mesh import cluster_mesh
from tests.support.cluster_story import Scene, _clean
from tests.support.control_story import Stage
from tests.support.prometheus_server import prometheus
from tests.support.simulated_istio_stats import SimulatedIstioStats, simulated_istio_stats

pytestmark = [pytest.mark.cluster, pytest.mark.apertium, pytest.mark.redis]
RATE = 120.0
ENOUGH = 5_000
SERVICE = "translator.default.svc.cluster.local"


@asynccontextmanager
async def workload(cluster: Cluster, folder: Path) -> AsyncIterator[tuple[Scene, Layout]]:
    """Services, Redis, sidecars and gateway, by the laptop's own documents; Prometheus scrapes what Envoys count."""
    with lease() as net:
        layout = Layout(net.net, folder)
        async with Supervisor() as supervisor:
            redis = children.redis(layout)
            starts = [*([redis] if redis else []), *children.workloads(layout, Options())]
            await asyncio.gather(*(supervisor.start(spec) for spec in starts))
            texts = list(render_documents(layout).values())
            async with cluster_mesh(cluster, folder / "mesh", texts, net.address(9)) as mesh:
                serving = {layout.translator(version).listen: f"translator-{version}" for version in ("v1", "v2")}
                callers: dict[str, str | None] = {"ingress-default": mesh.admins["ingress.default"]}
                stats = SimulatedIstioStats(SERVICE, ("v1", "v2"), callers, serving)
                interval = timedelta(seconds=1)
                async with (
                    simulated_istio_stats(stats),
                    prometheus(folder / "prometheus", stats.targets, interval=interval) as server,
                ):
                    stage = Stage(folder, net.net, "", folder / "token", (), {})
                    scene = Scene(cluster, stage, server.url)
                    try:
                        yield scene, layout
                    finally:
                        await _clean(scene)
                        await cluster.kubectl_run("delete", "trafficshift", "--all", "--wait=false")


def shift() -> str:
    document: dict[str, Any] = yaml.safe_load(SHIFT.read_text())
    document["spec"] |= {"source": "prometheus", "warmUp": "5s"}
    return json.dumps(document)


async def test_the_translator_moves_under_load(cluster: Cluster, tmp_path: Path) -> None:
    async with workload(cluster, tmp_path) as (scene, layout):
        await scene.hire()
        async with load(layout.gateway, RATE, tmp_path / "load.log") as traffic:
            await traffic.served(100)
            await cluster.apply(shift())
            done = await scene.told(ended, "it ends", of="translator", within_s=300)
            await traffic.served(ENOUGH)
            summary = await traffic.finish()
    print(json.dumps(summary))
    assert done["phase"] == "Promoted", done["reason"]
    assert (summary["sent"] >= ENOUGH, summary["failed"]) == (True, 0)
    assert {name: set(summary["versions"][name]["attempts"]) for name in ("v1", "v2")} == {"v1": {"1"}, "v2": {"1"}}
