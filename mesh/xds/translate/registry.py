"""What does the mesh as a whole know? The documents of one moment, seen through their views and indexed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mesh.istio import views, views_destination_rule, views_virtual_service
from mesh.istio.document import Document
from mesh.istio.views import Gateway, ServiceEntry, Sidecar, WorkloadEntry
from mesh.istio.views_destination_rule import DestinationRule
from mesh.istio.views_virtual_service import MESH, VirtualService
from mesh.xds.translate.delegates import with_delegates
from mesh.xds.translate.encode import EncodeCache, Memo
from mesh.xds.translate.places import Places

View = Gateway | ServiceEntry | WorkloadEntry | Sidecar | views.PeerAuthentication | VirtualService | DestinationRule
_MAKERS: dict[str, Callable[[Document], View]] = {
    "Gateway": views.gateway,
    "ServiceEntry": views.service_entry,
    "WorkloadEntry": views.workload_entry,
    "Sidecar": views.sidecar,
    "PeerAuthentication": views.peer_authentication,
    "VirtualService": views_virtual_service.virtual_service,
    "DestinationRule": views_destination_rule.destination_rule,
}
_PLACES = frozenset({"ServiceEntry", "WorkloadEntry", "DestinationRule"})


@dataclass(frozen=True, eq=False)
class Registry:
    """The documents of one moment. Equal only to itself; `memo` keeps what was derived from it."""

    places: Places
    virtual_services: tuple[VirtualService, ...]
    gateways: tuple[Gateway, ...]
    sidecars: tuple[Sidecar, ...]
    memo: Memo = field(default_factory=Memo)

    @property
    def workloads(self) -> tuple[WorkloadEntry, ...]:
        """The workloads, the oldest first."""
        return self.places.workloads

    @property
    def mesh_rules(self) -> tuple[VirtualService, ...]:
        """VirtualServices for calls inside the mesh, the oldest first."""
        return self.memo.get(
            "mesh-rules", lambda: tuple(rule for rule in self.virtual_services if MESH in rule.gateways)
        )


def registry(documents: Sequence[Document], cache: EncodeCache) -> Registry:
    """The documents, indexed; the same registry for the same documents in any order."""
    return cache.of_moment(
        documents, lambda: cache.moments.get(_revisions(documents), lambda: _registry(documents, cache))
    )


def _revisions(documents: Sequence[Document]) -> frozenset[tuple[str, str, str, str]]:
    return frozenset((*document.key, document.revision) for document in documents)


def _registry(documents: Sequence[Document], cache: EncodeCache) -> Registry:
    found = _views([document for document in documents if document.kind not in _PLACES], cache)
    settled = [document for document in documents if document.kind in _PLACES]
    return Registry(
        cache.moments.get(("places", _revisions(settled)), lambda: _places(settled, cache)),
        with_delegates([item for item in found if isinstance(item, VirtualService)]),
        tuple(item for item in found if isinstance(item, Gateway)),
        tuple(item for item in found if isinstance(item, Sidecar)),
    )


def _places(documents: Sequence[Document], cache: EncodeCache) -> Places:
    found = _views(documents, cache)
    return Places(
        tuple(item for item in found if isinstance(item, ServiceEntry)),
        tuple(item for item in found if isinstance(item, WorkloadEntry)),
        tuple(item for item in found if isinstance(item, DestinationRule)),
    )


def _views(documents: Sequence[Document], cache: EncodeCache) -> list[View]:
    """The views of documents of a known kind, the oldest first."""
    found = [view(document, cache) for document in documents if document.kind in _MAKERS]
    return sorted(found, key=lambda item: item.identity.age)


def view(document: Document, cache: EncodeCache) -> View:
    """The view of a document, made once a revision."""
    return cache.get(("view", *document.key, document.revision), lambda: _MAKERS[document.kind](document))
