"""Which documents are asked about? Each case is a small mesh of its own, in a namespace of its own.

A case says only what it is about. Around it stands always the same scene: the services `shop` and `other`, a workload
`client` with a Sidecar, and a gateway `edge`. `http` is short for a VirtualService of `shop` at both, `rule` for
a DestinationRule of `shop` with the subsets v1 and v2. `$NS` is the case's namespace.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import yaml

CORPUS = Path(__file__).parent / "corpus"
PORT = 50051
EDGE_BIND, EDGE_PORT = "127.8.0.2", 8080
CLIENT, EDGE = "client", "edge"
HOME = "case-it"
"""The one namespace of all cases, where they don't meet."""
WAVES = 2
_SUBSETS = [{"name": version, "labels": {"version": version}} for version in ("v1", "v2")]
_ENDPOINTS = [
    {"address": "127.9.0.1", "labels": {"version": "v1"}},
    {"address": "127.9.0.2", "labels": {"version": "v2"}},
]

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """One document. Those of a later `wave` are put to the API server a second after those of the one before."""

    kind: str
    namespace: str
    name: str
    spec: Data
    wave: int = 1

    def manifest(self, *, created: bool = False) -> dict[str, Any]:
        """As it is put to the API server; with `created` as it is read from there."""
        group = "security" if self.kind == "PeerAuthentication" else "networking"
        metadata = {"name": self.name, "namespace": self.namespace}
        if created:
            metadata["creationTimestamp"] = f"2026-01-01T00:00:0{self.wave}Z"
        return {"apiVersion": f"{group}.istio.io/v1", "kind": self.kind, "metadata": metadata, "spec": self.spec}


@dataclass(frozen=True, slots=True)
class Proxy:
    """Who asks istiod, as Istio's node ids say it."""

    kind: str
    name: str
    address: str
    namespace: str
    labels: Data
    locality: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A small mesh and why it is asked about. `documents` are those of the case, `scene` what stands around them."""

    name: str
    group: str
    about: str
    namespace: str
    documents: tuple[Written, ...]
    scene: tuple[Written, ...]
    proxies: tuple[Proxy, ...]

    @property
    def namespaces(self) -> frozenset[str]:
        """Its own namespace and those of the documents that it puts elsewhere."""
        return frozenset({self.namespace, *(each.namespace for each in self.documents)})


@cache
def cases(namespace: str = "") -> tuple[Case, ...]:
    """Every case of every file, in order: each in a namespace of its own, or all of them in the same one."""
    found = [case_of(data, path.stem, namespace) for path in sorted(CORPUS.glob("*.yaml")) for data in read(path)]
    names = [case.name for case in found]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return tuple(found)


def read(path: Path) -> list[Data]:
    """The cases of a file as they are written."""
    found: list[Data] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


def case_of(data: Data, group: str, namespace: str) -> Case:
    """A case, in this namespace or one of its own."""
    name = data["name"]
    home = namespace or f"case-{name}"
    data = json.loads(json.dumps(data).replace("$NS", home))
    scene = list(_scene(home, data.get("scene", {})))
    documents = tuple(_documents(data, home))
    taken = {(document.kind, document.namespace, document.name) for document in documents}
    around = tuple(each for each in scene if (each.kind, each.namespace, each.name) not in taken)
    proxies = _proxies(home, data.get("locality", ""))
    return Case(name, group, data.get("about", ""), home, documents, around, proxies)


def _documents(data: Data, namespace: str) -> Iterator[Written]:
    if "http" in data:
        spec = {"hosts": [f"shop.{namespace}.svc.cluster.local"], "gateways": ["mesh", EDGE], "http": data["http"]}
        yield Written("VirtualService", namespace, "shop", spec | data.get("virtualService", {}))
    if "rule" in data:
        yield Written("DestinationRule", namespace, "shop", {"host": "shop", "subsets": _SUBSETS} | data["rule"])
    for each in data.get("documents", ()):
        yield Written(
            each["kind"], each.get("namespace", namespace), each.get("name", "shop"), each["spec"], each.get("wave", 1)
        )


def _scene(namespace: str, more: Data) -> Iterator[Written]:
    """The mesh around a case. `more` adds to the specs of its documents by their name; null takes a field away."""
    for name in ("shop", "other"):
        service = _service(name, namespace) | more.get(name, {})
        kept = {field: value for field, value in service.items() if value is not None}
        yield Written("ServiceEntry", namespace, name, kept)
    labels = {"app": CLIENT}
    place = {"address": address(namespace), "labels": labels}
    yield Written("WorkloadEntry", namespace, CLIENT, place | more.get("workload", {}))
    port = {"number": PORT, "protocol": "GRPC", "name": "out"}
    egress = {"port": port, "bind": address(namespace), "captureMode": "NONE", "hosts": ["./*"]}
    sidecar = {"workloadSelector": {"labels": labels}, "egress": [egress]}
    yield Written("Sidecar", namespace, CLIENT, sidecar | more.get(CLIENT, {}))
    server = {"port": {"number": EDGE_PORT, "protocol": "HTTP", "name": "in"}, "bind": EDGE_BIND, "hosts": ["*/*"]}
    edge = {"selector": {"istio": f"{EDGE}-{namespace}"}, "servers": [server]}
    yield Written("Gateway", namespace, EDGE, edge | more.get(EDGE, {}))
    yield Written("PeerAuthentication", namespace, "plain", {"mtls": {"mode": "DISABLE"}})


def _service(name: str, namespace: str) -> dict[str, Any]:
    return {
        "hosts": [f"{name}.{namespace}.svc.cluster.local"],
        "location": "MESH_INTERNAL",
        "resolution": "STATIC",
        "ports": [{"number": PORT, "name": "grpc", "protocol": "GRPC"}],
        "endpoints": _ENDPOINTS,
        "exportTo": ["."],
    }


def _proxies(namespace: str, locality: str) -> tuple[Proxy, ...]:
    edge_labels = {"istio": f"{EDGE}-{namespace}"}
    return (
        Proxy("sidecar", CLIENT, address(namespace), namespace, {"app": CLIENT}, locality),
        Proxy("router", EDGE, EDGE_BIND, namespace, edge_labels),
    )


def address(namespace: str) -> str:
    """The client's own address: istiod finds a workload by it, whatever its namespace."""
    digest = blake2b(namespace.encode(), digest_size=3).digest()
    return f"127.{100 + digest[0] % 100}.{digest[1]}.{1 + digest[2] % 250}"


def manifests(found: Sequence[Case], wave: int) -> list[dict[str, Any]]:
    """The documents of one wave, sorted so that within a kind they are created in the order of their names."""
    written = [each for case in found for each in (*case.scene, *case.documents) if each.wave == wave]
    return [each.manifest() for each in sorted(written, key=lambda each: (each.namespace, each.kind, each.name))]
