"""A MeshService that says what a test tells it to say: for the faults that a real mesh cannot be asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from tidegate.mesh.v1 import mesh_pb2, mesh_pb2_grpc

from control.adapters.localmesh.channel import MeshChannel
from mesh.istio.document import read_documents

TOKEN = "secret"


@dataclass
class ScriptedMesh(mesh_pb2_grpc.MeshServiceServicer):
    """`fails` makes every call end with that status. `events` go out on WatchDocuments."""

    text: str = ""
    proxies: list[mesh_pb2.Proxy] = field(default_factory=list)
    differences: list[mesh_pb2.Difference] = field(default_factory=list)
    compared: list[mesh_pb2.CompareVersionsRequest] = field(default_factory=list)
    revision: mesh_pb2.RevisionStatus = field(default_factory=mesh_pb2.RevisionStatus)
    fails: grpc.StatusCode | None = None
    patches: list[mesh_pb2.PatchWeightsRequest] = field(default_factory=list)
    events: "asyncio.Queue[mesh_pb2.DocumentsChanged | None]" = field(default_factory=asyncio.Queue)
    watches: int = 0
    address: str = ""

    async def GetDocuments(self, request: Any, context: Any) -> Any:
        await self._check(context)
        documents = read_documents("mesh.yaml", self.text.encode())[0] if self.text else []
        kinds = set(request.kinds)
        return mesh_pb2.GetDocumentsResponse(
            documents=[
                mesh_pb2.Document(
                    name=mesh_pb2.DocumentName(kind=each.kind, namespace=each.namespace, name=each.name),
                    text=each.text,
                    revision=each.revision,
                    file=each.file,
                )
                for each in documents
                if each.kind in kinds
            ]
        )

    async def PatchWeights(self, request: Any, context: Any) -> Any:
        await self._check(context)
        self.patches.append(request)
        return mesh_pb2.PatchWeightsResponse(revision="r2")

    async def WatchRevision(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self._check(context)
        yield self.revision
        await asyncio.Event().wait()

    async def WatchDocuments(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self._check(context)
        self.watches += 1
        while (event := await self.events.get()) is not None:
            yield event
        await context.abort(grpc.StatusCode.UNAVAILABLE, "the mesh goes")

    async def ListProxies(self, request: Any, context: Any) -> Any:
        await self._check(context)
        return mesh_pb2.ListProxiesResponse(proxies=self.proxies)

    async def CompareVersions(self, request: Any, context: Any) -> Any:
        await self._check(context)
        self.compared.append(request)
        return mesh_pb2.CompareVersionsResponse(differences=self.differences)

    async def _check(self, context: Any) -> None:
        if dict(context.invocation_metadata()).get("authorization") != f"Bearer {TOKEN}":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no token")
        if self.fails is not None:
            await context.abort(self.fails, "as the test says")


@asynccontextmanager
async def listening(mesh: ScriptedMesh, address: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """The mesh on a port (0: a free one). Yields its address."""
    server = grpc.aio.server()
    mesh_pb2_grpc.add_MeshServiceServicer_to_server(mesh, server)
    mesh.address = f"127.0.0.1:{server.add_insecure_port(address)}"
    await server.start()
    try:
        yield mesh.address
    finally:
        await server.stop(None)


@asynccontextmanager
async def serving(mesh: ScriptedMesh) -> AsyncIterator[MeshChannel]:
    """The mesh on a free port, and a channel to it."""
    async with listening(mesh) as address:
        channel = MeshChannel(address, TOKEN)
        try:
            yield channel
        finally:
            await channel.close()


def proxy(name: str, admin: str, *, incarnation: int = 1) -> mesh_pb2.Proxy:
    """A proxy that holds one route."""
    held = mesh_pb2.DocumentName(kind="VirtualService", namespace="default", name="echo")
    return mesh_pb2.Proxy(id=name, admin=admin, incarnation=incarnation, connected=True, holds=[held])
