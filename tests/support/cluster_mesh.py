"""Istio documents on the small cluster, and plain Envoys that istiod tells what to do."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp

from control.local.cluster.running import Cluster
from mesh.envoy.admin import Admin
from mesh.envoy.bootstrap import Identity, bootstrap, command
from mesh.envoy.program import find_envoy
from mesh.istio.document import read_documents
from mesh.process import ChildSpec, Probe, Supervisor
from mesh.runner.taken import free_port
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.proxies import proxy_nodes
from mesh.xds.translate.registry import registry
from mesh.xds.translate.resources import ProxyNode


@dataclass
class ClusterMesh:
    """`admins` are the admin addresses of the Envoys by proxy id ("edge.default")."""

    cluster: Cluster
    admins: dict[str, str]
    supervisor: Supervisor


@asynccontextmanager
async def cluster_mesh(
    cluster: Cluster, folder: Path, texts: Sequence[str], host: str, served_by: Mapping[str, str] | None = None
) -> AsyncIterator[ClusterMesh]:
    """The documents applied, and an Envoy for each proxy that they ask for, live. `host` is for admin addresses,
    `served_by` are the istiods of proxies (by id) that another than the cluster's own tells what to do.
    """
    await cluster.apply("\n---\n".join(texts))
    nodes = _nodes(texts)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    async with aiohttp.ClientSession() as session, Supervisor() as supervisor:
        mesh = ClusterMesh(cluster, {}, supervisor)
        async with asyncio.TaskGroup() as group:
            for node in nodes:
                xds = (served_by or {}).get(node.id, cluster.places.istiod_xds)
                group.create_task(_start(mesh, node, folder, (host, xds), session))
        yield mesh


def _nodes(texts: Sequence[str]) -> list[ProxyNode]:
    documents = []
    for text in texts:
        found, problems = read_documents("documents", text.encode())
        assert not problems, problems
        documents += found
    return proxy_nodes(registry(documents, EncodeCache()))


async def _start(
    mesh: ClusterMesh, node: ProxyNode, folder: Path, places: tuple[str, str], session: aiohttp.ClientSession
) -> None:
    host, istiod = places
    port = free_port(host)
    mesh.admins[node.id] = f"{host}:{port}"
    xds, _, xds_port = istiod.rpartition(":")
    metadata = {"NAMESPACE": node.namespace, "LABELS": dict(node.labels), "INTERCEPTION_MODE": "NONE"}
    identity = Identity(node.node_id, node.id, (host, port), (xds, int(xds_port)), metadata)
    file = folder / f"envoy-{node.id}.json"
    file.write_text(json.dumps(bootstrap(identity), indent=2))
    admin = Admin(session, f"{host}:{port}")
    await mesh.supervisor.start(
        ChildSpec(
            f"envoy-{node.id}",
            command(find_envoy(), str(file)),
            folder,
            ready=Probe(admin.live),
            ready_within=timedelta(seconds=60),
        )
    )
