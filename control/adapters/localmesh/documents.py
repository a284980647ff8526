"""What do the mesh's documents say, and how are new weights written? Through MeshService, which owns the files."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

import grpc
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.localmesh.channel import MeshChannel, answer
from control.errors import NotFound, Rejected, Unavailable
from control.ports import AddedSubsets, Applied
from mesh.istio.document import Document, read_documents
from mesh.istio.hosts import full_name
from mesh.istio.problem import RouteNotFound, WeightRefused
from mesh.istio.weights import RouteView, WeightPatch, route_view
from mesh.traffic import RouteRef

VIRTUAL_SERVICE = "VirtualService"
RECONNECT_S = 0.5


class LocalDocuments:
    """The Documents port on a mesh that runs on this machine."""

    def __init__(self, channel: MeshChannel) -> None:
        self._channel = channel

    async def route(self, ref: RouteRef) -> RouteView:
        documents = await live_documents(self._channel, [VIRTUAL_SERVICE])
        wanted = [each for each in documents if (each.namespace, each.name) == (ref.namespace, ref.virtual_service)]
        if not wanted:
            whole = RouteRef(ref.namespace, ref.virtual_service)
            raise NotFound(f"there is no {whole}", hint=_those_that_exist(documents))
        try:
            return route_view(wanted[0], ref)
        except RouteNotFound as error:
            raise NotFound(error.message, hint=error.hint) from error
        except WeightRefused as error:
            raise Rejected(error.message, hint=error.hint) from error

    async def apply(self, patch: WeightPatch) -> Applied:
        call = self._channel.stub.PatchWeights(
            _request(patch), timeout=self._channel.deadline_s, metadata=self._channel.metadata
        )
        response = await answer(call)
        return Applied(patch.ref, response.revision)

    async def differences(self, namespace: str, host: str, versions: Sequence[str]) -> tuple[str, ...]:
        request = mesh_pb2.CompareVersionsRequest(host=full_name(host, namespace), versions=versions)
        call = self._channel.stub.CompareVersions(
            request, timeout=self._channel.deadline_s, metadata=self._channel.metadata
        )
        response = await answer(call)
        return tuple(_difference(each, versions) for each in response.differences)

    async def add_subsets(self, namespace: str, host: str, names: Sequence[str]) -> AddedSubsets | None:  # noqa: ARG002
        """Raises Rejected: here a person's files are the only place where subsets are declared."""
        raise Rejected(
            "manageSubsets is for clusters", hint="write the subsets into the DestinationRule of your folder"
        )

    async def changes(self) -> AsyncIterator[RouteRef | None]:
        while True:
            yield None  # whatever happened while nobody watched
            stream = self._channel.stub.WatchDocuments(
                mesh_pb2.WatchDocumentsRequest(), metadata=self._channel.metadata, wait_for_ready=True
            )
            try:
                async for event in stream:
                    for change in _changed(event):
                        yield change
            except grpc.aio.AioRpcError:
                await asyncio.sleep(RECONNECT_S)
            finally:
                stream.cancel()


async def live_documents(channel: MeshChannel, kinds: Iterable[str]) -> list[Document]:
    """The last good version of each document of these kinds. Raises Unavailable."""
    request = mesh_pb2.GetDocumentsRequest(kinds=list(kinds))
    response = await answer(channel.stub.GetDocuments(request, timeout=channel.deadline_s, metadata=channel.metadata))
    return [_document(message) for message in response.documents]


def _difference(message: mesh_pb2.Difference, versions: Sequence[str]) -> str:
    """Example: "timeout (v1: 5s, v2: no limit)"."""
    values = ", ".join(f"{version}: {value}" for version, value in zip(versions, message.values, strict=True))
    return f"{message.field} ({values})"


def _document(message: mesh_pb2.Document) -> Document:
    documents, problems = read_documents(message.file, message.text)
    if len(documents) != 1:
        raise Unavailable(f"the mesh sent a text that can't be read: {'; '.join(map(str, problems))}")
    return documents[0]


def _those_that_exist(documents: Iterable[Document]) -> str:
    names = ", ".join(sorted(f"{each.namespace}/{each.name}" for each in documents))
    return f"there are: {names}" if names else "the mesh has no VirtualService at all"


def _changed(event: mesh_pb2.DocumentsChanged) -> Iterable[RouteRef | None]:
    for name in event.changed:
        yield RouteRef(name.namespace, name.name) if name.kind == VIRTUAL_SERVICE else None


def _request(patch: WeightPatch) -> mesh_pb2.PatchWeightsRequest:
    return mesh_pb2.PatchWeightsRequest(
        name=document_name(patch.ref),
        route_index=patch.index,
        route_name=patch.ref.route or "",
        expected=[
            mesh_pb2.DestinationWeight(host=each.host, subset=each.subset, port=each.port or 0, weight=each.weight)
            for each in patch.expected
        ],
        weights=patch.weights,
    )


def document_name(ref: RouteRef) -> mesh_pb2.DocumentName:
    """The VirtualService that a route stands in."""
    return mesh_pb2.DocumentName(kind=VIRTUAL_SERVICE, namespace=ref.namespace, name=ref.virtual_service)
