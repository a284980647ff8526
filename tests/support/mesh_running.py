"""A mesh of two or three real Envoys in this process: a gateway, a caller with a sidecar, and `echo` in versions."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import grpc.aio
from tidegate.mesh.v1 import mesh_pb2, mesh_pb2_grpc

from mesh.istio.document import read_documents
from mesh.istio.weights import route_view, weight_patch
from mesh.lease import lease
from mesh.runner.folder import Folder
from mesh.runner.main import Mesh, Options, follow, serving
from mesh.traffic import RouteRef, TrafficSplit

EDGE, ECHO = "echo.example.com", "echo.default.svc.cluster.local"

GATEWAY = """
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {{name: default}}
spec: {{mtls: {{mode: DISABLE}}}}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: ingress}}
spec:
  selector: {{istio: ingressgateway}}
  servers:
    - port: {{number: 8080, name: grpc, protocol: GRPC}}
      bind: {net}.2
      hosts: [echo.example.com]
"""

ROUTES = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: edge}}
spec:
  hosts: [echo.example.com]
  gateways: [ingress]
  http:
    - name: primary  # the front door
      retries: {{attempts: 4, retryOn: unavailable}}
      route:
        - destination: {{host: echo, subset: v1, port: {{number: 50051}}}}
          weight: 100
        - destination: {{host: echo, subset: v2, port: {{number: 50051}}}}
          weight: 0
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: echo}}
spec:
  hosts: [echo]
  http:
    - name: primary
      retries: {{attempts: 4, retryOn: unavailable}}
      route:
        - destination: {{host: echo, subset: v1}}
          weight: 100
        - destination: {{host: echo, subset: v2}}
          weight: 0
"""

RULE = """
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: echo}}
spec:
  host: echo
  subsets:
    - {{name: v1, labels: {{version: v1}}}}
    - {{name: v2, labels: {{version: v2}}}}
"""

WORKLOADS = """
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: echo}}
spec:
  hosts: [echo.default.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{{number: 50051, name: grpc, protocol: GRPC}}]
  workloadSelector: {{labels: {{app: echo}}}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: echo-v1}}
spec: {{address: {net}.11, labels: {{app: echo, version: v1}}}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: echo-v2}}
spec: {{address: {net}.12, labels: {{app: echo, version: v2}}}}
"""

CALLER = """
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: caller}}
spec: {{address: {net}.20, labels: {{app: caller}}}}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {{name: caller}}
spec:
  workloadSelector: {{labels: {{app: caller}}}}
  egress:
    - port: {{number: 50051, name: grpc, protocol: GRPC}}
      bind: {net}.20
      captureMode: NONE
      hosts: ["./*"]
"""

DOCUMENTS = {
    "gateway.yaml": GATEWAY,
    "routes.yaml": ROUTES,
    "rule.yaml": RULE,
    "workloads.yaml": WORKLOADS,
    "caller.yaml": CALLER,
}
GATEWAY_ONLY = {name: text for name, text in DOCUMENTS.items() if name != "caller.yaml"}


@dataclass
class RunningMesh:
    """A mesh with its folder of documents and a client of its API."""

    net: str
    folder: Path
    mesh: Mesh
    stub: Any
    metadata: tuple[tuple[str, str], ...]

    @property
    def gateway(self) -> str:
        return f"{self.net}.2:8080"

    @property
    def sidecar(self) -> str:
        return f"{self.net}.20:50051"

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text.format(net=self.net))

    async def patch(self, name: str, share: Fraction) -> str:
        """Gives v2 this share of a VirtualService's route by the API; returns the revision."""
        got = await self.stub.GetDocuments(
            mesh_pb2.GetDocumentsRequest(kinds=["VirtualService"]), metadata=self.metadata
        )
        text = next(each for each in got.documents if each.name.name == name)
        view = route_view(read_documents(text.file, text.text)[0][0], RouteRef("default", name, "primary"))
        patch = weight_patch(view, TrafficSplit(ECHO, "v1", "v2", share))
        if patch is None:
            return str(text.revision)
        request = mesh_pb2.PatchWeightsRequest(
            name=text.name,
            route_index=patch.index,
            route_name="primary",
            expected=[
                mesh_pb2.DestinationWeight(host=d.host, subset=d.subset, port=d.port or 0, weight=d.weight)
                for d in patch.expected
            ],
            weights=patch.weights,
        )
        return str((await self.stub.PatchWeights(request, metadata=self.metadata)).revision)

    async def acknowledged(self, name: str, revision: str) -> Any:
        """The status of a revision once every holder runs it."""
        key = mesh_pb2.DocumentName(kind="VirtualService", namespace="default", name=name)
        watch = self.stub.WatchRevision(
            mesh_pb2.WatchRevisionRequest(name=key, revision=revision), metadata=self.metadata, timeout=15
        )
        async for status in watch:
            if status.holders and set(status.holders) == set(status.acknowledged):
                watch.cancel()
                return status
        raise AssertionError("the watch ended")

    async def shift(self, share: Fraction) -> None:
        """Gives v2 this share at the gateway and in the mesh, and returns when every Envoy runs it."""
        for name in ("edge", "echo"):
            await self.acknowledged(name, await self.patch(name, share))


@asynccontextmanager
async def running_mesh(tmp_path: Path, documents: Mapping[str, str] = DOCUMENTS) -> AsyncIterator[RunningMesh]:
    """The documents on real Envoys, on a net of their own; all follow the folder."""
    folder = tmp_path / "mesh"
    folder.mkdir()
    with lease() as net:
        for name, text in documents.items():
            (folder / name).write_text(text.format(net=net.net))
        token = tmp_path / "token"
        options = Options(folder, net.net, f"{net.net}.1:0", token, tmp_path / "logs")
        async with serving(options, Folder(folder)) as mesh:
            following = asyncio.create_task(follow(Folder(folder), mesh))
            try:
                async with grpc.aio.insecure_channel(mesh.api) as channel:
                    stub = mesh_pb2_grpc.MeshServiceStub(channel)  # type: ignore[no-untyped-call]
                    metadata = (("authorization", f"Bearer {token.read_text().strip()}"),)
                    yield RunningMesh(net.net, folder, mesh, stub, metadata)
            finally:
                following.cancel()
