"""The mesh's own API: its documents, patches of weights, and what its Envoys have acknowledged."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
import grpc.aio
from tidegate.mesh.v1 import mesh_pb2, mesh_pb2_grpc

from mesh.istio.document import Document
from mesh.istio.problem import DocumentError, DocumentKey, Problem, StalePatch
from mesh.istio.weights import DestinationWeight, WeightPatch
from mesh.pulse import Pulse
from mesh.runner.envoys import Envoys
from mesh.runner.folder import Folder, has_text, read
from mesh.runner.live import LiveMesh, NoSuchDocument, PatchRefused, RevisionState
from mesh.traffic import RouteRef
from mesh.xds.server import AdsServer


class MeshService(mesh_pb2_grpc.MeshServiceServicer):  # names and parameters are those of the contract
    """MeshService over a live mesh."""

    def __init__(self, live: LiveMesh, folder: Folder, ads: AdsServer, envoys: Envoys) -> None:
        self._live, self._folder, self._ads, self._envoys = live, folder, ads, envoys

    async def GetDocuments(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        kinds = set(request.kinds)
        documents = [document for document in self._live.world.documents if not kinds or document.kind in kinds]
        return mesh_pb2.GetDocumentsResponse(
            documents=map(document_message, documents), problems=problem_messages(self._live.problems())
        )

    async def PatchWeights(self, request: Any, context: Any) -> Any:
        key = key_of(request.name)
        try:
            return mesh_pb2.PatchWeightsResponse(revision=self._patch(key, patch_of(request)))
        except NoSuchDocument as missing:
            await context.abort(grpc.StatusCode.NOT_FOUND, str(missing))
        except StalePatch as stale:
            await context.abort(grpc.StatusCode.ABORTED, str(stale))
        except (DocumentError, PatchRefused) as refused:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(refused))
        except OSError as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, f"the document can't be written: {error}")

    async def WatchRevision(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: ARG002
        key, last = key_of(request.name), None
        async for _ in beats(self._ads.heard):
            state = self._live.revision_state(key, request.revision)
            if state != last:
                last = state
                yield state_message(state)

    async def WatchDocuments(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: ARG002
        seen = self._live.changed.beats
        await context.send_initial_metadata(())  # from here on no change is missed
        while True:
            before, seen = seen, await self._live.changed.after(seen)
            changed = map(name_message, self._live.changes_after(before))
            yield mesh_pb2.DocumentsChanged(changed=changed, problems=problem_messages(self._live.problems()))

    async def ListProxies(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        return mesh_pb2.ListProxiesResponse(proxies=[self._proxy(name) for name in sorted(self._live.held)])

    async def CompareVersions(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        found = self._live.differences(request.host, request.versions)
        return mesh_pb2.CompareVersionsResponse(
            differences=[mesh_pb2.Difference(field=each.field, values=each.values) for each in found]
        )

    def _patch(self, key: DocumentKey, patch: WeightPatch) -> str:
        """One step without interruption: read what a person may have just written, prepare, write, go live."""
        self._catch_up(self._live.document(key).file)
        prepared = self._live.prepare(key, patch)
        if prepared.content is not None:
            self._folder.write(prepared.file, prepared.content)
        self._live.commit(prepared)
        return prepared.revision

    def _catch_up(self, file: str) -> None:
        """Takes in a change of the file that the watcher hasn't told yet, unless the file seems to be in the making."""
        files = self._live.known_files()
        content = read(self._folder.root / file)
        if has_text(content) and content != files.get(file):
            self._live.apply({**files, file: content})

    def _proxy(self, name: str) -> Any:
        held, envoy = self._live.held[name], self._envoys.running.get(name)
        return mesh_pb2.Proxy(
            id=name,
            admin=envoy.admin.address if envoy else "",
            incarnation=self._envoys.incarnation(name),
            connected=self._ads.connected(held.node.node_id),
            holds=map(name_message, held.resources.documents),
        )


async def beats(pulse: Pulse) -> AsyncIterator[None]:
    """Now, and after every beat."""
    seen = -1
    while True:
        seen = await pulse.after(seen)
        yield


def key_of(name: Any) -> DocumentKey:
    return (name.kind, name.namespace, name.name)


def patch_of(request: Any) -> WeightPatch:
    """The patch that a request asks for."""
    ref = RouteRef(request.name.namespace, request.name.name, request.route_name or None)
    expected = tuple(
        DestinationWeight(each.host, each.subset, each.port or None, each.weight if each.HasField("weight") else None)
        for each in request.expected
    )
    return WeightPatch(ref, request.route_index, expected, tuple(request.weights))


def name_message(key: DocumentKey) -> Any:
    return mesh_pb2.DocumentName(kind=key[0], namespace=key[1], name=key[2])


def document_message(document: Document) -> Any:
    return mesh_pb2.Document(
        name=name_message(document.key),
        text=document.text,
        revision=document.revision,
        file=document.file,
        line=document.line_offset + 1,
    )


def problem_messages(problems: Iterable[Problem]) -> list[Any]:
    return [
        mesh_pb2.Problem(file=each.file, line=each.line, column=each.column, message=each.message, hint=each.hint)
        for each in problems
    ]


def state_message(state: RevisionState) -> Any:
    return mesh_pb2.RevisionStatus(
        current=state.current,
        holders=state.holders,
        acknowledged=state.acknowledged,
        rejections=[mesh_pb2.Rejection(proxy=proxy, message=reason) for proxy, reason in state.rejections],
    )
