"""`simulated-mesh`: a MeshService that holds the documents of the laptop's mesh and obeys at once.

Its documents are the translator's, as `tidegate up` begins with, and weights are written into them as the real mesh
does. One proxy holds all routes and acknowledges every revision at once; what the traffic makes of a weight, and when,
is the simulator's.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

import grpc
from tidegate.mesh.v1 import mesh_pb2, mesh_pb2_grpc

from control.adapters.localmesh.endpoints import endpoints
from control.local.layout import Layout
from control.local.manifests import render_documents
from control.ports import Clock
from mesh.istio.document import Document, read_documents
from mesh.istio.problem import DocumentKey, StalePatch
from mesh.istio.weights import configured_share, route_view, splice
from mesh.runner.service import document_message, key_of, patch_of
from mesh.traffic import RouteRef, TrafficSplit
from tests.bench.canary.served.pages import CANARY, HOST, NAMESPACE, SERVICE, STABLE

FILES = ("00-mesh.yaml", "translator.yaml")
PROXY, GRACE_S = "gateway.default", 5.0
ROUTES = (RouteRef(NAMESPACE, SERVICE, "primary"), RouteRef(NAMESPACE, "edge", "primary"))
SPLIT = TrafficSplit(HOST, STABLE, CANARY, Fraction(0))


@dataclass
class SimulatedMesh(mesh_pb2_grpc.MeshServiceServicer):  # names and parameters are those of the contract
    """`written` are the canary's shares that the documents had, and since when."""

    clock: Clock
    documents: dict[DocumentKey, Document]
    written: list[tuple[datetime, float]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """What the canary gets by all routes as the documents stand: of a write that is under way, the lower one."""
        views = (
            route_view(self.documents["VirtualService", each.namespace, each.virtual_service], each) for each in ROUTES
        )
        return float(min(configured_share(view, SPLIT) for view in views))

    async def GetDocuments(self, request: Any, context: Any) -> Any:
        found = (each for each in self.documents.values() if not request.kinds or each.kind in request.kinds)
        return mesh_pb2.GetDocumentsResponse(documents=map(document_message, found))

    async def PatchWeights(self, request: Any, context: Any) -> Any:
        document = self.documents[key_of(request.name)]
        try:
            text = splice(document, patch_of(request))
        except StalePatch as stale:
            await context.abort(grpc.StatusCode.ABORTED, str(stale))
        self.documents[document.key] = written = read_documents(document.file, text)[0][0]
        self.written.append((self.clock.now(), self.share))
        return mesh_pb2.PatchWeightsResponse(revision=written.revision)

    async def WatchRevision(self, request: Any, context: Any) -> AsyncIterator[Any]:
        current = self.documents[key_of(request.name)].revision == request.revision
        yield mesh_pb2.RevisionStatus(current=current, holders=[PROXY], acknowledged=[PROXY] if current else [])

    async def CompareVersions(self, request: Any, context: Any) -> Any:
        return mesh_pb2.CompareVersionsResponse()


@asynccontextmanager
async def listening(layout: Layout, clock: Clock) -> AsyncIterator[tuple[SimulatedMesh, str]]:
    """The mesh on a free port, and an endpoint of each version that accepts connections. Yields its address, too."""
    texts = render_documents(layout)
    found = [each for name in FILES for each in read_documents(name, texts[name].encode())[0]]
    mesh = SimulatedMesh(clock, {each.key: each for each in found})
    async with AsyncExitStack() as stack:
        for version in (STABLE, CANARY):
            for address in (
                each for endpoint in endpoints(found, NAMESPACE, HOST, version) for each in endpoint.addresses
            ):
                host, _, number = address.rpartition(":")
                await stack.enter_async_context(await asyncio.start_server(_hang_up, host, int(number)))
        server = grpc.aio.server()
        mesh_pb2_grpc.add_MeshServiceServicer_to_server(mesh, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        stack.push_async_callback(server.stop, GRACE_S)
        yield mesh, f"127.0.0.1:{port}"


def _hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
