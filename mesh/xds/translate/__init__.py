"""What do Istio's documents mean to each Envoy? A pure translation with istiod's semantics, names and defaults."""

from collections.abc import Sequence

from mesh.istio.document import Document
from mesh.xds.translate import nodes
from mesh.xds.translate.check import check
from mesh.xds.translate.differences import Difference, differences
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.proxies import proxy_nodes
from mesh.xds.translate.registry import registry
from mesh.xds.translate.resources import (
    CLUSTER,
    ENDPOINT,
    LISTENER,
    ROUTE,
    NodeResources,
    ProxyKind,
    ProxyNode,
    Resource,
)

__all__ = [
    "CLUSTER",
    "ENDPOINT",
    "LISTENER",
    "ROUTE",
    "Difference",
    "EncodeCache",
    "NodeResources",
    "ProxyKind",
    "ProxyNode",
    "Resource",
    "check",
    "differences",
    "node_resources",
    "proxies",
]


def proxies(documents: Sequence[Document], cache: EncodeCache | None = None) -> list[ProxyNode]:
    """The Envoys that the documents ask for, in a stable order."""
    return proxy_nodes(registry(documents, cache or EncodeCache()))


def node_resources(documents: Sequence[Document], node: ProxyNode, cache: EncodeCache | None = None) -> NodeResources:
    """Everything that one Envoy holds. With the same cache, what hasn't changed is the very same object as before.

    Invariant: the documents have passed `check`; their order doesn't matter.
    """
    kept = EncodeCache() if cache is None else cache
    known = registry(documents, kept)
    return nodes.router(known, node, kept) if node.kind is ProxyKind.ROUTER else nodes.sidecar(known, node, kept)
