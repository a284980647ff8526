"""Can the local mesh run these documents? Fields, rules, and what documents say against each other."""

from collections.abc import Iterator, Sequence

from mesh.istio.document import Document
from mesh.istio.problem import DocumentKey, Problem
from mesh.istio.rules import broken_rules
from mesh.istio.support import unsupported
from mesh.istio.support_table import TABLE
from mesh.istio.support_types import LOOPBACK
from mesh.istio.views import Sidecar, selects
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.nodes import application
from mesh.xds.translate.proxies import proxy_nodes, sidecar_of, workload_of
from mesh.xds.translate.registry import Registry, registry
from mesh.xds.translate.resources import ProxyKind, ProxyNode

_Clash = tuple[DocumentKey, str, str]


def check(documents: Sequence[Document], cache: EncodeCache | None = None) -> list[Problem]:
    """All that is wrong with the documents. A document with a problem is refused as a whole.

    Documents that contradict each other are compared only when each is fine alone; the younger one is to blame.
    """
    kept = EncodeCache() if cache is None else cache
    problems = [problem for document in documents for problem in _alone(document, kept)]
    refused = {problem.document for problem in problems}
    good = [document for document in documents if document.key not in refused]
    return problems + _against_each_other(good, kept)


def _alone(document: Document, cache: EncodeCache) -> tuple[Problem, ...]:
    key = ("check", document.file, document.line_offset, *document.key, document.revision)
    return cache.get(key, lambda: tuple(_problems(document)))


def _problems(document: Document) -> list[Problem]:
    if document.kind not in TABLE:
        return [document.problem(("kind",), f"kind {document.kind} is not supported by the local mesh yet")]
    return unsupported(document) or broken_rules(document)


def _against_each_other(documents: Sequence[Document], cache: EncodeCache) -> list[Problem]:
    known = registry(documents, cache)
    by_key = {document.key: document for document in documents}
    clashes = [*_services(known), *_addresses(known), *_sidecars(known), *_listeners(known)]
    return [by_key[key].problem(("spec",), message, hint) for key, message, hint in dict.fromkeys(clashes)]


def _services(known: Registry) -> Iterator[_Clash]:
    owners: dict[tuple[str, str], str] = {}
    for entry in known.places.entries:
        identity = entry.identity
        for host in entry.hosts:
            owner = owners.setdefault((identity.namespace, host), identity.name)
            if owner != identity.name:
                yield identity.key, f"the host {host} is already a service of the ServiceEntry {owner}", ""


def _addresses(known: Registry) -> Iterator[_Clash]:
    """A workload's own Envoy listens at the workload's address."""
    for node in proxy_nodes(known):
        workload = workload_of(known, node)
        if workload is not None and LOOPBACK.objection(node.address):
            message = f"a workload with an Envoy needs a loopback address, not {node.address!r}"
            yield workload.identity.key, message, "the local mesh listens nowhere else"


def _sidecars(known: Registry) -> Iterator[_Clash]:
    for workload in known.workloads:
        first = sidecar_of(known, workload)
        for other in known.sidecars:
            same = first is not None and other is not first and _equally_close(first, other)
            if same and first is not None and selects(other.selector, workload.endpoint.labels):
                message = (
                    f"the workload {workload.identity.name} is already selected by the Sidecar {first.identity.name}"
                )
                yield other.identity.key, message, "which of the two counts is undefined in Istio"


def _equally_close(left: Sidecar, right: Sidecar) -> bool:
    return left.identity.namespace == right.identity.namespace and bool(left.selector) == bool(right.selector)


def _listeners(known: Registry) -> Iterator[_Clash]:
    """An address and port can be bound once on a machine, whichever proxy does it."""
    taken: dict[tuple[str, int], tuple[DocumentKey, str]] = {}
    for node in proxy_nodes(known):
        for key, address, port, shared in _places(known, node):
            owner, claim = taken.setdefault((address, port), (key, shared))
            if claim != shared:
                hint = "each Envoy needs an address or a port of its own"
                yield key, f"{address}:{port} is already listened on for the {owner[0]} {owner[2]}", hint


def _places(known: Registry, node: ProxyNode) -> Iterator[tuple[DocumentKey, str, int, str]]:
    """What a proxy binds, and under which name: only a gateway's servers may share a place."""
    if node.kind is ProxyKind.ROUTER:
        for gateway in known.gateways:
            if selects(gateway.selector, node.labels):
                for server in gateway.servers:
                    yield gateway.identity.key, server.bind, server.port.number, node.id
        return
    workload = workload_of(known, node)
    document = None if workload is None else sidecar_of(known, workload)
    if document is None:
        return
    key = document.identity.key
    for ingress in document.ingress:
        yield key, ingress.bind or node.address, ingress.port.number, f"{node.id} ingress {ingress.port.number}"
        host, port = application(ingress, node)
        if port:
            yield key, host, port, f"application {host}:{port}"
    for egress in document.egress:
        if egress.port is not None:
            yield key, egress.bind, egress.port.number, f"{node.id} egress {egress.port.number}"
