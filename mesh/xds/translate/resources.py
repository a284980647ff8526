"""What does the translation hand to the ADS server? Encoded resources by name, and the proxies that ask for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from mesh.istio.hosts import DOMAIN
from mesh.istio.problem import DocumentKey
from mesh.istio.views import Labels
from mesh.xds.translate.caller import Caller

_PREFIX = "type.googleapis.com/envoy.config"
CLUSTER = f"{_PREFIX}.cluster.v3.Cluster"
ENDPOINT = f"{_PREFIX}.endpoint.v3.ClusterLoadAssignment"
LISTENER = f"{_PREFIX}.listener.v3.Listener"
ROUTE = f"{_PREFIX}.route.v3.RouteConfiguration"


@dataclass(frozen=True, slots=True)
class Resource:
    """One encoded xDS resource. `body` is the message itself, not wrapped in Any.

    Invariant: equal bodies have equal digests, in every process.
    """

    type_url: str
    name: str
    body: bytes
    digest: str


def resource(type_url: str, name: str, body: bytes) -> Resource:
    """A resource with the digest of its body."""
    return Resource(type_url, name, body, sha256(body).hexdigest()[:16])


class ProxyKind(StrEnum):
    """Istio's node types: a gateway's workload, or the Envoy beside a workload."""

    ROUTER = "router"
    SIDECAR = "sidecar"


@dataclass(frozen=True, slots=True)
class ProxyNode:
    """One Envoy that the documents ask for. `id` is the workload's name and namespace, joined by a dot; `locality` is
    where it is (`region/zone/subzone`), or "".
    """

    kind: ProxyKind
    id: str
    address: str
    namespace: str
    labels: Labels
    locality: str = ""

    @property
    def caller(self) -> Caller:
        """The proxy as one who calls."""
        return Caller(self.namespace, self.labels, self.locality)

    @property
    def node_id(self) -> str:
        """Envoy's `node.id`, as Istio spells it."""
        return f"{self.kind}~{self.address}~{self.id}~{self.namespace}.{DOMAIN}"


@dataclass(frozen=True, slots=True)
class NodeResources:
    """Everything that one Envoy holds. `documents` says which RouteConfigurations a VirtualService shapes here."""

    clusters: Mapping[str, Resource]
    endpoints: Mapping[str, Resource]
    listeners: Mapping[str, Resource]
    routes: Mapping[str, Resource]
    documents: Mapping[DocumentKey, frozenset[str]]
