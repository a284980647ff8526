"""What do a person's documents say? Frozen read-only projections of those kinds that describe places, not routing.

A view is made from a document that the support table has accepted, so types are certain here. Views are never
serialised: the document's own text is the truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mesh.istio.document import Document
from mesh.istio.problem import DocumentKey
from mesh.istio.protocol import Protocol, parse_protocol
from mesh.istio.views_connection_pool import ConnectionPool, connection_pool

Labels = tuple[tuple[str, str], ...]
NETWORK = "topology.istio.io/network"
_TOPOLOGY = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone", "topology.istio.io/subzone")


@dataclass(frozen=True, slots=True)
class Identity:
    """Which document a view comes from. `created` orders documents as Istio does: the oldest first, then by name."""

    kind: str
    namespace: str
    name: str
    created: str = ""

    @property
    def key(self) -> DocumentKey:
        """Kind, namespace and name."""
        return self.kind, self.namespace, self.name

    @property
    def age(self) -> tuple[str, str]:
        """Istio's order of documents: creation time, then name and namespace."""
        return self.created, f"{self.name}.{self.namespace}"


@dataclass(frozen=True, slots=True)
class Port:
    """A numbered port of a service, a gateway's server or a sidecar's listener. `target` is where endpoints listen."""

    number: int
    name: str
    protocol: Protocol
    target: int


@dataclass(frozen=True, slots=True)
class Server:
    """One listening place of a Gateway. A host is `namespace/name` or `*/name`."""

    port: Port
    bind: str
    hosts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Gateway:
    """A Gateway: the servers of every workload that carries the labels of `selector`."""

    identity: Identity
    selector: Labels
    servers: tuple[Server, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A place that serves. `ports` overrides a service port's target by the port's name; unix sockets have no port."""

    address: str
    ports: tuple[tuple[str, int], ...]
    labels: Labels
    weight: int
    locality: str


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """Services by name, and where they are: inline endpoints or the WorkloadEntries that `selector` picks."""

    identity: Identity
    hosts: tuple[str, ...]
    addresses: tuple[str, ...]
    ports: tuple[Port, ...]
    resolution: str
    external: bool
    endpoints: tuple[Endpoint, ...]
    selector: Labels | None
    export_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkloadEntry:
    """One workload: an address and its labels."""

    identity: Identity
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class Ingress:
    """Calls that come in to a workload: where its Envoy listens and the application behind."""

    port: Port
    bind: str
    default_endpoint: str
    pool: ConnectionPool | None = None


@dataclass(frozen=True, slots=True)
class Egress:
    """Calls that go out of a workload. `port` is None for the listener of all the rest: it reaches nothing here."""

    port: Port | None
    bind: str
    hosts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The Envoy of each workload in the namespace that carries the labels of `selector` (all of them when empty)."""

    identity: Identity
    selector: Labels
    ingress: tuple[Ingress, ...]
    egress: tuple[Egress, ...]
    registry_only: bool
    inbound_pool: ConnectionPool | None = None


@dataclass(frozen=True, slots=True)
class PeerAuthentication:
    """Plaintext inside the mesh; the local mesh knows no other mode."""

    identity: Identity


def identity(document: Document) -> Identity:
    """Who the document is."""
    created = document.data.get("metadata", {}).get("creationTimestamp") or ""
    return Identity(document.kind, document.namespace, document.name, str(created))


def labels(value: Mapping[str, str] | None) -> Labels:
    """Labels in a hashable form, sorted by name."""
    return tuple(sorted((value or {}).items()))


def selects(selector: Labels, candidate: Labels) -> bool:
    """Does `candidate` carry every label of `selector`?"""
    return set(selector) <= set(candidate)


def scoped_host(text: str, namespace: str) -> tuple[str, str]:
    """Namespace and host of `namespace/host`; `.` is the document's own namespace, no namespace is any.

    Example: scoped_host("./*", "shop") == ("shop", "*")
    """
    left, slash, right = text.partition("/")
    if not slash:
        return "*", left.lower()
    return (namespace if left == "." else left), right.lower()


def _port(data: Mapping[str, Any]) -> Port:
    number = data["number"]
    return Port(number, data.get("name", ""), parse_protocol(data["protocol"]), data.get("targetPort", number))


def gateway(document: Document) -> Gateway:
    """The view of a Gateway."""
    spec = document.data["spec"]
    return Gateway(
        identity(document),
        labels(spec.get("selector")),
        tuple(
            Server(
                _port(server["port"]),
                server["bind"],
                tuple(scoped_host(host, document.namespace) for host in server["hosts"]),
            )
            for server in spec["servers"]
        ),
    )


def _endpoint(data: Mapping[str, Any]) -> Endpoint:
    """Where it is says its `locality`, else a label; both stand among its labels, as Istio sees it."""
    own = data.get("labels") or {}
    place = data.get("locality", "") or _labelled_locality(own)
    parts = zip(_TOPOLOGY, place.split("/"), strict=False)
    network = {NETWORK: data["network"]} if data.get("network") else {}
    return Endpoint(
        data["address"],
        tuple(sorted(data.get("ports", {}).items())),
        labels({**own, **{name: part for name, part in parts if part}, **network}),
        data.get("weight", 0) or 1,
        place,
    )


def _labelled_locality(own: Mapping[str, str]) -> str:
    """A label's value can't have slashes, so it has dots."""
    text = own.get("topology.istio.io/locality", own.get("istio-locality", ""))
    return text if "/" in text else text.replace(".", "/")


def service_entry(document: Document) -> ServiceEntry:
    """The view of a ServiceEntry."""
    spec = document.data["spec"]
    selector = spec.get("workloadSelector")
    return ServiceEntry(
        identity(document),
        tuple(host.lower() for host in spec["hosts"]),
        tuple(spec.get("addresses", ())),
        tuple(_port(port) for port in spec.get("ports", ())),
        spec["resolution"],
        spec.get("location", "MESH_EXTERNAL") == "MESH_EXTERNAL",
        tuple(_endpoint(endpoint) for endpoint in spec.get("endpoints", ())),
        None if selector is None else labels(selector.get("labels")),
        tuple(spec.get("exportTo", ())),
    )


def workload_entry(document: Document) -> WorkloadEntry:
    """The view of a WorkloadEntry."""
    return WorkloadEntry(identity(document), _endpoint(document.data["spec"]))


def _ingress(data: Mapping[str, Any], number: int) -> Ingress:
    return Ingress(
        _port(data["port"]),
        data.get("bind", ""),
        data.get("defaultEndpoint", f"127.0.0.1:{number}"),
        _pool(data.get("connectionPool")),
    )


def _pool(data: Mapping[str, Any] | None) -> ConnectionPool | None:
    return None if data is None else connection_pool(data)


def _egress(data: Mapping[str, Any], namespace: str) -> Egress:
    port = data.get("port")
    return Egress(
        _port(port) if port else None,
        data.get("bind", "127.0.0.1"),
        tuple(scoped_host(host, namespace) for host in data["hosts"]),
    )


def sidecar(document: Document) -> Sidecar:
    """The view of a Sidecar."""
    spec = document.data["spec"]
    return Sidecar(
        identity(document),
        labels(spec.get("workloadSelector", {}).get("labels")),
        tuple(_ingress(listener, listener["port"]["number"]) for listener in spec.get("ingress", ())),
        tuple(_egress(listener, document.namespace) for listener in spec.get("egress", ())),
        spec.get("outboundTrafficPolicy", {}).get("mode") == "REGISTRY_ONLY",
        _pool(spec.get("inboundConnectionPool")),
    )


def peer_authentication(document: Document) -> PeerAuthentication:
    """The view of a PeerAuthentication."""
    return PeerAuthentication(identity(document))


def gateway_name(text: str, namespace: str) -> str:
    """A VirtualService's reference to a Gateway, as `namespace/name`; `mesh` stays itself."""
    if text == "mesh" or "/" in text:
        return text
    return f"{namespace}/{text}"


def visible(export_to: tuple[str, ...], owner: str, client: str) -> bool:
    """May a client of namespace `client` see what namespace `owner` exports to `export_to`? Empty is everyone."""
    return not export_to or any(scope == "*" or (owner if scope == "." else scope) == client for scope in export_to)
