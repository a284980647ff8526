"""The small cluster as one thing: started in order, waited for, stopped so that nothing is left."""

import asyncio
import contextlib
import secrets
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import mesh
from control.errors import StartFailed
from control.folder import private_folder
from control.local.cluster import children
from control.local.cluster.places import USERS, ClusterPlaces, kubeconfig, token_lines
from control.local.cluster.tools import ISTIO, KUBE, built
from control.local.start import start_together
from control.local.system import own_net, usual_net
from mesh.process import Supervisor

Report = Callable[[str], None]
MANIFESTS = Path(mesh.__file__).parent / "manifests" / "kubernetes"
OUR_CRD = MANIFESTS / "base" / "crd.yaml"
RIGHTS = ("base/rights.yaml", "cluster/binding.yaml", "base/policies.yaml")
"""What the controller may do, and what its rights alone can't say: the same files that a real cluster gets."""
NAMESPACES = ("istio-system", "tidegate-system")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs. `kubectl` and `istioctl` are paths of programs that fit it, `processes` pids by name."""

    places: ClusterPlaces
    kubectl: Path
    istioctl: Path
    processes: Mapping[str, int] = field(default_factory=dict)

    async def kubectl_run(self, *arguments: str, stdin: str = "", context: str = "admin") -> str:
        """What kubectl prints. Raises StartFailed with what it said instead."""
        command = (str(self.kubectl), "--kubeconfig", str(self.places.kubeconfig), "--context", context, *arguments)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out, error = await process.communicate(stdin.encode())
        if process.returncode:
            raise StartFailed(f"kubectl {' '.join(arguments[:3])}: {error.decode().strip()}")
        return out.decode()

    async def apply(self, text: str) -> None:
        """Applies documents as their owner would. Raises StartFailed."""
        await self.kubectl_run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=text)


@contextlib.asynccontextmanager
async def running(state_dir: Path, report: Report) -> AsyncIterator[Cluster]:
    """A cluster with Istio's and Tidegate's kinds, until the context ends. Raises StartFailed."""
    kube, istio = await asyncio.to_thread(built, KUBE, report), await asyncio.to_thread(built, ISTIO, report)
    with own_net(usual_net(state_dir)) as net:
        places = ClusterPlaces(net.net, private_folder(state_dir).absolute())
        _write_files(places)
        async with Supervisor() as supervisor:
            await start_together(supervisor, [children.etcd(places)], report, logs=places.logs)
            await start_together(supervisor, [children.api_server(places, kube)], report, logs=places.logs)
            cluster = Cluster(places, kube / "kubectl", istio / "istioctl")
            await _fill(cluster, istio / "istio-crds.yaml")
            rest = [children.controller_manager(places, kube), children.istiod(places, istio)]
            await start_together(supervisor, rest, report, logs=places.logs)
            processes = {name: child.pid or 0 for name, child in supervisor.children.items()}
            yield replace(cluster, processes=processes)


def _write_files(places: ClusterPlaces) -> None:
    tokens = {each.name: secrets.token_urlsafe(24) for each in USERS}
    for path, text in ((places.tokens, token_lines(tokens)), (places.kubeconfig, kubeconfig(places, tokens))):
        path.touch(mode=0o600)
        path.write_text(text)
    children.write_files(places)


async def _fill(cluster: Cluster, crds: Path) -> None:
    """The kinds that istiod wants to see when it starts, and the namespaces of who runs here."""
    namespaces = (f'{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}' for name in NAMESPACES)
    await cluster.apply("\n---\n".join(namespaces))
    await cluster.kubectl_run("apply", "--server-side", "-f", str(crds), "-f", str(OUR_CRD))
    await cluster.kubectl_run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
    for name in RIGHTS:
        await cluster.kubectl_run("apply", "--server-side", "-f", str(MANIFESTS / name))
