"""A small mesh for tests of the translation, from plain values, and what of it one proxy gets."""

import json
from collections.abc import Sequence
from typing import Any

from mesh.istio.document import Document, read_documents
from mesh.xds.translate import EncodeCache, NodeResources, ProxyNode, node_resources, proxies
from tests.support.xlate_envoy import as_json

PORT = 50051
CLIENT = "client.default"
EDGE = "edge.default"


def make(kind: str, name: str, spec: Any, *, namespace: str = "default", created: str = "") -> Document:
    """One document of this kind."""
    group = "security" if kind == "PeerAuthentication" else "networking"
    metadata = {"name": name, "namespace": namespace} | ({"creationTimestamp": created} if created else {})
    data = {"apiVersion": f"{group}.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    found, problems = read_documents(f"{kind}-{namespace}-{name}.yaml", json.dumps(data).encode())
    assert not problems, problems
    return found[0]


def full(name: str, namespace: str = "default") -> str:
    """The full host of a service."""
    return f"{name}.{namespace}.svc.cluster.local"


def service(
    name: str, *, namespace: str = "default", port: int = PORT, protocol: str = "GRPC", **more: Any
) -> Document:
    """A service with one port and endpoints v1 and v2."""
    spec = {
        "hosts": [full(name, namespace)],
        "location": "MESH_INTERNAL",
        "resolution": "STATIC",
        "ports": [{"number": port, "name": "main", "protocol": protocol}],
        "endpoints": [
            {"address": "127.9.0.1", "labels": {"version": "v1"}},
            {"address": "127.9.0.2", "labels": {"version": "v2"}},
        ],
    }
    return make("ServiceEntry", name, spec | more, namespace=namespace)


def rule(host: str, *, name: str = "", namespace: str = "default", created: str = "", **spec: Any) -> Document:
    """A DestinationRule; subsets v1 and v2 unless told otherwise."""
    subsets = [{"name": version, "labels": {"version": version}} for version in ("v1", "v2")]
    body = {"host": host, "subsets": subsets} | spec
    return make("DestinationRule", name or host.replace("*", "any"), body, namespace=namespace, created=created)


def virtual_service(
    name: str, http: Sequence[Any], *, namespace: str = "default", created: str = "", **spec: Any
) -> Document:
    """A VirtualService for the host of its own name."""
    body = {"hosts": [name], "http": list(http)} | spec
    return make("VirtualService", name, body, namespace=namespace, created=created)


def to(host: str, subset: str = "", weight: int | None = None, **more: Any) -> dict[str, Any]:
    """One entry of a route."""
    destination = {"host": host} | ({"subset": subset} if subset else {})
    return {"destination": destination} | ({} if weight is None else {"weight": weight}) | more


def client(
    *, hosts: Sequence[str] = ("./*",), port: int = PORT, name: str = "client", namespace: str = "default", **spec: Any
) -> list[Document]:
    """A workload with a Sidecar whose egress listens on one port."""
    egress = [{"port": {"number": port, "protocol": "GRPC", "name": "out"}, "bind": "127.8.0.1", "hosts": list(hosts)}]
    labels = {"app": name}
    return [
        make("WorkloadEntry", name, {"address": "127.8.0.1", "labels": labels}, namespace=namespace),
        make("Sidecar", name, {"workloadSelector": {"labels": labels}, "egress": egress} | spec, namespace=namespace),
    ]


def edge(
    *hosts: str, port: int = 8080, name: str = "edge", namespace: str = "default", bind: str = "127.8.0.2"
) -> Document:
    """A Gateway with one server."""
    server = {"port": {"number": port, "protocol": "HTTP", "name": "in"}, "bind": bind, "hosts": list(hosts)}
    return make("Gateway", name, {"selector": {"istio": "edge"}, "servers": [server]}, namespace=namespace)


def node(documents: Sequence[Document], proxy: str) -> ProxyNode:
    """The proxy of this id."""
    return next(found for found in proxies(documents) if found.id == proxy)


def resources(documents: Sequence[Document], proxy: str = CLIENT, cache: EncodeCache | None = None) -> NodeResources:
    """What a proxy holds."""
    return node_resources(documents, node(documents, proxy), cache)


def routes(documents: Sequence[Document], proxy: str = CLIENT) -> dict[str, Any]:
    """The only RouteConfiguration of a proxy, in JSON form."""
    (only,) = resources(documents, proxy).routes.values()
    return as_json(only)


def virtual_hosts(documents: Sequence[Document], proxy: str = CLIENT) -> dict[str, Any]:
    """Its virtual hosts by name."""
    return {host["name"]: host for host in routes(documents, proxy)["virtualHosts"]}


def routes_of(*http: Any, **more: Any) -> list[Any]:
    """The routes that a client of the service `shop` gets from a VirtualService with these entries."""
    documents = [*client(), service("shop"), service("other"), virtual_service("shop", http, **more)]
    found: list[Any] = virtual_hosts(documents)[f"{full('shop')}:{PORT}"]["routes"]
    return found


def route_of(**http: Any) -> Any:
    """The only route of one entry; it leads to the service itself unless told otherwise."""
    (only,) = routes_of(
        http if http.keys() & {"route", "redirect", "directResponse"} else {"route": [to("shop")]} | http
    )
    return only


def cluster_of(name: str, *documents: Document, proxy: str = CLIENT) -> Any:
    """One cluster in JSON form."""
    return as_json(resources([*client(), *documents], proxy).clusters[name])
