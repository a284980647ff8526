"""Which addresses must answer for an endpoint of a subset to be ready? Read from the documents, as the mesh reads them.

A subset's endpoints are the workloads of the service (its workloadSelector, or its inline endpoints) whose labels
carry the subset's. When a workload has a sidecar for the port, two addresses must answer: the sidecar's listener, and
the service behind it (`defaultEndpoint`): a crashed service behind a living sidecar is not ready, and the sidecar's
open port would hide it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control.errors import NotFound
from mesh.istio.document import Document
from mesh.istio.hosts import full_name

KINDS = ("DestinationRule", "ServiceEntry", "WorkloadEntry", "Sidecar")

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One workload of a subset, and every address ("host:port" or "unix:path") that must answer."""

    name: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Workload:
    name: str
    namespace: str
    labels: Mapping[str, str]
    address: str
    ports: Mapping[str, int]


def endpoints(documents: Sequence[Document], namespace: str, host: str, subset: str) -> list[Endpoint]:
    """The endpoints of a subset. Raises NotFound, with the subsets that exist, when it is not declared."""
    fqdn = full_name(host, namespace)
    labels = _subset_labels(documents, fqdn, subset)
    found: list[Endpoint] = []
    for entry in _of_kind(documents, "ServiceEntry"):
        if fqdn in (full_name(each, entry.namespace) for each in _spec(entry).get("hosts", ())):
            members = [each for each in _members(documents, entry) if _carries(each.labels, labels)]
            found += [_endpoint(documents, entry, member) for member in members]
    return found


def _subset_labels(documents: Sequence[Document], fqdn: str, subset: str) -> Mapping[str, str]:
    declared: dict[str, Mapping[str, str]] = {}
    for rule in _of_kind(documents, "DestinationRule"):
        if full_name(str(_spec(rule).get("host", "")), rule.namespace) == fqdn:
            for each in _spec(rule).get("subsets", ()):
                declared.setdefault(each["name"], each.get("labels") or {})
    if subset not in declared:
        names = ", ".join(declared) or "none"
        raise NotFound(f"no DestinationRule of {fqdn} has a subset {subset}", hint=f"subsets that exist: {names}")
    return declared[subset]


def _members(documents: Sequence[Document], entry: Document) -> Iterable[_Workload]:
    selector = _labels(_spec(entry).get("workloadSelector"))
    for index, inline in enumerate(_spec(entry).get("endpoints") or ()):
        yield _workload(f"{entry.name}[{index}]", entry.namespace, inline)
    for document in _of_kind(documents, "WorkloadEntry") if selector else ():
        workload = _workload(document.name, document.namespace, _spec(document))
        if document.namespace == entry.namespace and _carries(workload.labels, selector):
            yield workload


def _workload(name: str, namespace: str, spec: Spec) -> _Workload:
    return _Workload(name, namespace, spec.get("labels") or {}, str(spec.get("address", "")), spec.get("ports") or {})


def _endpoint(documents: Sequence[Document], entry: Document, workload: _Workload) -> Endpoint:
    addresses: list[str] = []
    for port in _spec(entry).get("ports", ()):
        number = workload.ports.get(port.get("name", ""), port.get("targetPort") or port["number"])
        addresses.append(_joined(workload.address, number))
        addresses += _behind_sidecar(documents, workload, number)
    return Endpoint(workload.name, tuple(dict.fromkeys(addresses)))


def _behind_sidecar(documents: Sequence[Document], workload: _Workload, number: int) -> Iterable[str]:
    for sidecar in _of_kind(documents, "Sidecar"):
        selector = _labels(_spec(sidecar).get("workloadSelector"))
        if sidecar.namespace != workload.namespace or not selector or not _carries(workload.labels, selector):
            continue
        for ingress in _spec(sidecar).get("ingress", ()):
            if ingress.get("port", {}).get("number") == number and (target := ingress.get("defaultEndpoint")):
                yield _dialable(target, workload.address)


def _dialable(target: str, address: str) -> str:
    if target.startswith("unix://"):
        return "unix:" + target.removeprefix("unix://")
    return target.replace("0.0.0.0:", f"{address}:")  # Istio's "the workload's own address"


def _joined(address: str, number: int) -> str:
    return "unix:" + address.removeprefix("unix://") if address.startswith("unix://") else f"{address}:{number}"


def _of_kind(documents: Sequence[Document], kind: str) -> list[Document]:
    return [each for each in documents if each.kind == kind]


def _spec(document: Document) -> Spec:
    return document.data.get("spec") or {}


def _labels(selector: Spec | None) -> Mapping[str, str]:
    return (selector or {}).get("labels") or (selector or {}).get("matchLabels") or {}


def _carries(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())
