"""What does the controller cost on a cluster? `python -m tests.cluster.bench` prints it; about four minutes.

- A weight step: from the moment that the patch is sent until every Envoy has acknowledged it, as istiod tells it.
- Five hundred shifts at a poll of 5 s in one controller: CPU a look, and memory.
- A version that fails 20 %: the time from its first weight to 0, at 50 requests a second and a scrape each 5 s.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil
from prometheus_client.parser import text_string_to_metric_families

from control.adapters.kubernetes.api import KubeApi
from control.adapters.kubernetes.documents import ClusterDocuments
from control.adapters.kubernetes.istiod import Istiods
from control.adapters.kubernetes.proxies import ClusterProxies
from control.local.cluster.running import Cluster, running
from control.wiring_kubernetes import watched
from mesh.istio.weights import weight_patch
from mesh.traffic import RouteRef, TrafficSplit
from tests.support import cluster_story
from tests.support.cluster_story import SHIFT, Scene, scene
from tests.support.control_story import load
from tests.support.mesh_wait import until

REF = RouteRef("default", "echo", "primary")
HOST = "echo.default.svc.cluster.local"
STEPS = 100
SHIFTS = 500
WATCHED_S = 60.0
FLAGGER_MS, FLAGGER_MB = 9.0, 72.0


@asynccontextmanager
async def _ports(cluster: Cluster) -> AsyncIterator[tuple[ClusterDocuments, ClusterProxies]]:
    api = await KubeApi.connect(str(cluster.places.kubeconfig))
    istiods = Istiods(api, [f"http://{cluster.places.istiod_monitoring}"], deadline_s=5)
    known = watched(api, "")
    documents = ClusterDocuments(api, known.services, known.rules, known.entries, lambda: True)
    proxies = ClusterProxies(istiods, documents)
    documents.before_write = proxies.before_write
    tasks = [asyncio.ensure_future(each.run()) for each in known.all()]
    try:
        await asyncio.gather(*(each.ready() for each in known.all()))
        yield documents, proxies
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await istiods.close()
        await api.close()


async def weight_steps(cluster: Cluster, folder: Path) -> None:
    """Prints quantiles of the time from patch to acknowledged by gateway and sidecar."""
    async with scene(cluster, folder) as stage:
        await _weight_steps(stage)


async def _weight_steps(stage: Scene) -> None:
    took, written = [], []
    async with _ports(stage.cluster) as (documents, proxies):
        for number in range(STEPS):
            share = Fraction(number % 50 + 1, 100)
            patch = weight_patch(await documents.route(REF), TrafficSplit(HOST, "v1", "v2", share))
            assert patch is not None
            began = time.monotonic()
            await documents.apply(patch)
            written.append(time.monotonic() - began)
            await until(partial(_held, documents, proxies), within_s=30, what="all have acknowledged")
            took.append(time.monotonic() - began)
            await asyncio.sleep(0.3)
    p50, p99 = (1000 * float(np.quantile(took, q)) for q in (0.5, 0.99))
    patched = 1000 * float(np.median(written))
    print(f"weight step: p50 {p50:.0f} ms, p99 {p99:.0f} ms of {STEPS}; the patch itself {patched:.0f} ms;")
    print("  of that, istiod waits 100 ms for further changes (its debounce); aim: p99 200 ms")


async def _held(documents: ClusterDocuments, proxies: ClusterProxies) -> bool:
    found = await proxies.acknowledgement(REF, (await documents.route(REF)).revision)
    return bool(found.holders) and found.holders == found.acknowledged


async def many_shifts(cluster: Cluster, folder: Path) -> None:
    """Prints what one controller costs with so many shifts."""
    _scraped_each(5)
    async with scene(cluster, folder) as stage:
        await _many_shifts(stage)


async def _many_shifts(stage: Scene) -> None:
    documents = [json.dumps(each) for number in range(SHIFTS) for each in _pair(number)]
    for at in range(0, len(documents), 200):
        await stage.cluster.apply("\n---\n".join(documents[at : at + 200]))
    os.environ["TIDEGATE_METRICS"] = "127.0.0.1:0"
    process = psutil.Process((await stage.hire()).pid)
    await stage.leader()
    await until(partial(_all_settled, stage), within_s=300, what="every shift has begun")
    await asyncio.sleep(10)
    before, began, looked = sum(process.cpu_times()[:2]), time.monotonic(), await _looks(stage)
    await asyncio.sleep(WATCHED_S)
    used, passed = sum(process.cpu_times()[:2]) - before, time.monotonic() - began
    looks, memory = await _looks(stage) - looked, process.memory_info().rss / 1e6
    each, part = 1000 * used / looks, 100 * used / passed
    print(f"{looks:.0f} looks in {passed:.0f} s ({SHIFTS * passed / 5:.0f} were due)")
    print(
        f"{SHIFTS} shifts, poll 5 s, scrape 5 s: {each:.1f} ms of CPU a look ({part:.0f} % of a core), {memory:.0f} MB"
    )
    print(f"  (Flagger 1.44: {FLAGGER_MS:g} ms a check, {FLAGGER_MB:g} MB with 55 canaries)")
    text = await stage.cluster.kubectl_run("get", "ts", "-o", "jsonpath={.items[*].status.phase}")
    print(f"  phases: { {each: text.split().count(each) for each in sorted(set(text.split()))} }")
    await stage.dismiss()


async def _all_settled(stage: Scene) -> bool:
    await asyncio.sleep(1)
    text = await stage.cluster.kubectl_run("get", "ts", "-o", "jsonpath={.items[*].status.verdict}")
    return text.count("no data") == SHIFTS


async def _looks(stage: Scene) -> float:
    """How many looks the controller has taken, by its own metrics."""
    log = (stage.stage.folder / "controller-0.log").read_text()
    address = next(json.loads(line)["metrics"] for line in log.splitlines() if '"ready"' in line)
    async with aiohttp.ClientSession() as session, session.get(f"http://{address}/metrics") as response:
        families = text_string_to_metric_families(await response.text())
        return sum(each.value for found in families for each in found.samples if each.name == "tidegate_looks_total")


def _scraped_each(seconds: int) -> None:
    cluster_story.SCRAPE = timedelta(seconds=seconds)
    cluster_story.SCRAPE_S = seconds


def _pair(number: int) -> list[dict[str, Any]]:
    name = f"many-{number}"
    route = [{"destination": {"host": "echo", "subset": each}, "weight": 100 * (each == "v1")} for each in ("v1", "v2")]
    document = {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "hosts": [f"{name}.example.com"],
            "gateways": ["ingress"],
            "http": [{"name": "primary", "route": route}],
        },
    }
    target = {"host": "echo", "routes": [{"virtualService": name, "route": "primary"}]}
    spec = SHIFT["spec"] | {"target": target, "poll": "5s", "mode": "observe"}
    return [document, {**SHIFT, "metadata": {"name": name, "namespace": "default"}, "spec": spec}]


async def bad_version(cluster: Cluster, folder: Path) -> None:
    """Prints how long a version that fails 20 % keeps its weight."""
    _scraped_each(5)
    async with scene(cluster, folder) as stage:
        stage.stage.failing["v2", 0] = 0.2
        await stage.hire()
        async with load(stage.stage, rate=25) as traffic:
            await asyncio.sleep(20)
            await stage.apply_shift(poll="5s", strategy={"kind": "steps", "steps": ["10%", "100%"], "hold": "1h"})
            await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "it has weight")
            began = time.monotonic()
            done = await stage.told(lambda status: status["stepShare"] == "0", "it has none")
            took = time.monotonic() - began
        sent = sum(traffic.answers.values()) + len(traffic.failures)
        print(f"a version failing 20 % had its weight for {took:.1f} s at 50 requests/s, scrape 5 s, poll 5 s;")
        print(f"  {len(traffic.failures)} of {sent} requests failed; {done['outcome']} (aim 15 s; Flagger 65 to 70 s)")


PARTS = {"steps": weight_steps, "many": many_shifts, "bad": bad_version}


async def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        async with running(folder / "cluster", lambda line: print(line, file=sys.stderr)) as cluster:
            for name in PARTS if len(sys.argv) < 2 else sys.argv[1:]:
                await PARTS[name](cluster, _made(folder / name))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    asyncio.run(main())
