"""Which Envoys hold a revision of a document, and which of them run it? The mesh's own ledger of acknowledgements
says.
"""

import grpc
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.localmesh.channel import MeshChannel, translated
from control.adapters.localmesh.documents import document_name
from control.errors import Unavailable
from control.ports import Acknowledgement, Rejection
from mesh.traffic import RouteRef


class LocalProxies:
    """The Proxies port on a mesh that runs on this machine."""

    def __init__(self, channel: MeshChannel) -> None:
        self._channel = channel

    async def acknowledgement(self, ref: RouteRef, revision: str) -> Acknowledgement:
        request = mesh_pb2.WatchRevisionRequest(name=document_name(ref), revision=revision)
        stream = self._channel.stub.WatchRevision(
            request, timeout=self._channel.deadline_s, metadata=self._channel.metadata
        )
        try:
            async for status in stream:
                return _acknowledgement(ref, revision, status)
        except grpc.aio.AioRpcError as error:
            raise translated(error) from error
        finally:
            stream.cancel()
        raise Unavailable("the mesh ended the watch of a revision without a word")


def _acknowledgement(ref: RouteRef, revision: str, status: mesh_pb2.RevisionStatus) -> Acknowledgement:
    return Acknowledgement(
        ref=ref,
        revision=revision,
        holders=frozenset(status.holders),
        acknowledged=frozenset(status.acknowledged),
        rejections=tuple(Rejection(each.proxy, each.message) for each in status.rejections),
        current=status.current,
    )
