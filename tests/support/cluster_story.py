"""The stage of stories on the small cluster: istiod's Envoys, two versions of an echo, Prometheus, and controllers."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from control.local.cluster.running import Cluster
from mesh.lease import lease
from tests.support.cluster_mesh import cluster_mesh
from tests.support.cluster_tape import Tape, tape
from tests.support.control_story import DOCUMENTS, PROCESS, ROOT, ROUTE, Backends, Stage, _backends, addresses, load
from tests.support.mesh_wait import until
from tests.support.prometheus_server import prometheus
from tests.support.simulated_istio_stats import SimulatedIstioStats, simulated_istio_stats

LEASE_S = 3
PATIENCE_S = 120
SCRAPE = timedelta(milliseconds=500)
SCRAPE_S = 1
Serve = Callable[[Mapping[tuple[str, int], str]], AbstractAsyncContextManager[Any]]
SHIFT: dict[str, Any] = {
    "apiVersion": "tidegate.dev/v1alpha1",
    "kind": "TrafficShift",
    "metadata": {"name": "echo", "namespace": "default"},
    "spec": {
        "target": {
            "host": "echo",
            "routes": [
                {"virtualService": "echo", "route": "primary"},
                {"virtualService": "edge", "route": "primary"},
            ],
        },
        "stable": "v1",
        "canary": "v2",
        "source": "prometheus",
        "poll": "500ms",
        "blindFor": "20s",
        "strategy": {"kind": "evidence", "rungs": ["10%", "20%", "50%"], "first": "10%", "bake": {"for": "0s"}},
        "metrics": [{"name": "outcomes", "proof": {"ratio": 1.25, "extra": "3%"}}],
        "budget": 50,
    },
}


@dataclass
class Scene:
    """`crew` are the controllers that run, oldest first. `texts` are the documents as they were applied, `tape` is all
    that was written to them since. `backends` serve both versions, where the story does not bring its own.
    """

    cluster: Cluster
    stage: Stage
    prometheus_url: str
    tape: Tape = field(default_factory=Tape)
    texts: Sequence[str] = ()
    backends: Backends | None = None
    processes: int = 1
    crew: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def apply_shift(self, name: str = "echo", **spec: Any) -> None:
        await self.cluster.apply(json.dumps(shift(name, **spec)))

    async def status(self, name: str = "echo") -> Mapping[str, Any]:
        text = await self.cluster.kubectl_run("get", "trafficshift", name, "-o", "json")
        found: Mapping[str, Any] = json.loads(text).get("status", {})
        return found

    async def told(
        self, condition: Callable[[Mapping[str, Any]], Any], what: str, *, of: str = "echo", within_s: int = PATIENCE_S
    ) -> Mapping[str, Any]:
        """The first status for which that is so."""
        last: Mapping[str, Any] = {}

        async def so() -> Mapping[str, Any] | None:
            nonlocal last
            await asyncio.sleep(0.2)
            with contextlib.suppress(Exception):  # the API server may be away: that is the story
                last = await self.status(of)
            return last if last and condition(last) else None

        try:
            return await until(so, within_s=within_s, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}; last: {last.get('phase')}, {last.get('reason')}") from None

    async def document(self, name: str) -> dict[str, Any]:
        """A VirtualService without what the API server adds."""
        found: dict[str, Any] = json.loads(await self.cluster.kubectl_run("get", "virtualservice", name, "-o", "json"))
        for each in ("managedFields", "resourceVersion", "generation"):
            found["metadata"].pop(each, None)
        return found

    async def weights(self) -> dict[str, tuple[int, ...]]:
        """Of both routes, as they are written."""
        return {name: await self.weights_of(name) for name in ("echo", "edge")}

    async def weights_of(self, name: str) -> tuple[int, ...]:
        routes = (await self.document(name))["spec"]["http"][0]["route"]
        return in_hundreds([each.get("weight", 0) for each in routes])

    async def hire(self, **more: str) -> asyncio.subprocess.Process:
        """One more controller, which runs as the user of its service account would. `more` is of its environment."""
        place = self.cluster.places
        settings = {
            "TIDEGATE_KUBERNETES": str(place.kubeconfig),
            "TIDEGATE_KUBE_CONTEXT": "controller",
            "TIDEGATE_PROMETHEUS_URL": self.prometheus_url,
            "TIDEGATE_PROMETHEUS_SCRAPE_S": str(SCRAPE_S),
            "TIDEGATE_ISTIOD": f"http://{place.istiod_monitoring}",
            "TIDEGATE_LEASE_S": str(LEASE_S),
            "TIDEGATE_IDENTITY": f"controller-{len(self.crew)}",
            "TIDEGATE_STATE_DIR": str(self.stage.folder / "state"),
        }
        with self.log_of(len(self.crew)).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "control.main"),
                cwd=ROOT,
                env={**os.environ, **settings, **more},
                stdout=log,
                stderr=log,
            )
        self.crew.append(process)
        return process

    def log_of(self, number: int) -> Path:
        """What a controller says, by its place in the crew."""
        return self.stage.folder / f"controller-{number}.log"

    async def leader(self) -> asyncio.subprocess.Process:
        """The controller that holds the lease."""
        path = "jsonpath={.spec.holderIdentity}"

        async def held() -> asyncio.subprocess.Process | None:
            await asyncio.sleep(0.1)
            with contextlib.suppress(Exception):
                name = await self.cluster.kubectl_run("get", "lease", "tidegate", "-n", "tidegate-system", "-o", path)
                chosen = self.crew[int(name.rpartition("-")[2])]
                return chosen if chosen.returncode is None else None
            return None

        return await until(held, within_s=PATIENCE_S, what="a controller leads")

    async def dismiss(self) -> None:
        """Kills every controller."""
        for process in self.crew:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
                await process.wait()

    async def clear(self) -> None:
        """Ready for the next story: no shift, no controller, every document as it was at first, nothing on the tape."""
        run = self.cluster.kubectl_run
        await self.dismiss()
        for name in (await run("get", "trafficshift", "-o", "name")).split():
            with contextlib.suppress(Exception):  # it may have no finalizer
                await run("patch", name, "--type=json", '-p=[{"op":"remove","path":"/metadata/finalizers"}]')
        await run("delete", "trafficshift", "--all", "--timeout=30s")
        await run("delete", "lease", "tidegate", "-n", "tidegate-system", "--ignore-not-found")
        if self.backends is not None:
            for process, address in addresses(self.stage.net, self.processes).items():
                await self.backends.start(process, address)
        text = "\n---\n".join(self.texts)
        await self.cluster.apply(text)  # what is gone comes back
        await run("replace", "-f", "-", stdin=text)  # what others added goes
        await until(self._serves, within_s=60, what="every entrance has its route again")
        self.stage.failing.clear()
        self.tape.written.clear()

    async def lose(self, *processes: tuple[str, int]) -> None:
        """Serving processes die, and the cluster is told so."""
        assert self.backends is not None
        for version, number in processes:
            await self.backends.stop((version, number))
            await self.cluster.kubectl_run("delete", "workloadentry", f"echo-{version}-{number}")

    async def find(self, *processes: tuple[str, int]) -> None:
        """They are there again."""
        assert self.backends is not None
        for process in processes:
            await self.backends.start(process, addresses(self.stage.net, self.processes)[process])
        await self.cluster.apply("\n---\n".join(self.texts[:1]))

    async def _serves(self) -> bool:
        async with load(self.stage, rate=10) as probe:
            await asyncio.sleep(0.3)
        return not probe.failures


def shift(name: str = "echo", **spec: Any) -> dict[str, Any]:
    """The TrafficShift of these stories, with other fields of its spec."""
    return {**SHIFT, "metadata": SHIFT["metadata"] | {"name": name}, "spec": SHIFT["spec"] | spec}


def in_hundreds(weights: Sequence[int]) -> tuple[int, ...]:
    """The same split with a sum of 100, where whole numbers have one: the controller may write it in another scale."""
    total = sum(weights)
    whole = total > 0 and all(100 * each % total == 0 for each in weights)
    return tuple(100 * each // total for each in weights) if whole else tuple(weights)


@asynccontextmanager
async def scene(
    cluster: Cluster,
    folder: Path,
    serve: Serve | None = None,
    *,
    processes: int = 1,
    served_by: Mapping[str, str] | None = None,
) -> AsyncIterator[Scene]:
    """Everything but a shift and a controller. What was applied is deleted at the end. `serve` stands behind both
    versions in place of an echo; `processes` are those of each version; `served_by` as for `cluster_mesh`.
    """
    failing: dict[tuple[str, int], float] = {}
    with lease() as net:
        texts, places = _texts(net.net, processes), addresses(net.net, processes)
        async with (
            serve(places) if serve else _backends(net.net, processes, failing) as served,
            cluster_mesh(cluster, folder / "mesh", texts, net.address(9), served_by) as mesh,
        ):
            entrances = ((f"{net.net}.2:8080", "echo.example.com"), (f"{net.net}.21:50051", "echo"))
            stage = Stage(folder, net.net, "", folder / "token", entrances, failing)
            async with _counted(stage, mesh.admins, processes) as url, tape(cluster.places.etcd) as recorded:
                backends = None if serve else served
                made = Scene(cluster, stage, url, recorded, texts, backends, processes)
                try:
                    yield made
                finally:
                    await _clean(made)


def _texts(net: str, processes: int) -> list[str]:
    served = "".join(
        PROCESS.format(version=version, number=number, address=address)
        for (version, number), address in addresses(net, processes).items()
    )
    edge = ROUTE.format(name="edge", host="echo.example.com", gateways="  gateways: [ingress]\n")
    return [DOCUMENTS.format(net=net) + served, ROUTE.format(name="echo", host="echo", gateways=""), edge]


@asynccontextmanager
async def _counted(stage: Stage, admins: Mapping[str, str], processes: int) -> AsyncIterator[str]:
    places = addresses(stage.net, processes)
    serving = {f"{address}:50051": f"echo-{version}-{n}" for (version, n), address in places.items()}
    callers: dict[str, str | None] = {name.replace(".", "-"): address for name, address in admins.items()}
    stats = SimulatedIstioStats("echo.default.svc.cluster.local", ("v1", "v2"), callers, serving)
    async with (
        simulated_istio_stats(stats),
        prometheus(stage.folder / "prometheus", stats.targets, interval=SCRAPE) as server,
    ):
        yield server.url


async def _clean(made: Scene) -> None:
    run: Callable[..., Awaitable[str]] = made.cluster.kubectl_run
    with contextlib.suppress(Exception):
        await run("delete", "trafficshift", "--all", "--wait=false")
    with contextlib.suppress(Exception):
        await run("patch", "trafficshift", "echo", "--type=json", '-p=[{"op":"remove","path":"/metadata/finalizers"}]')
    await made.dismiss()
    kinds = "virtualservice,destinationrule,gateway,serviceentry,workloadentry,sidecar,peerauthentication"
    with contextlib.suppress(Exception):
        await run("delete", kinds, "--all")
    with contextlib.suppress(Exception):
        await run("delete", "lease", "tidegate", "-n", "tidegate-system", "--ignore-not-found")
