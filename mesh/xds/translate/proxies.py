"""Which Envoys do the documents ask for? One beside each workload with a Sidecar, one for each gateway's."""

from collections.abc import Iterator

from mesh.istio.views import Gateway, Sidecar, WorkloadEntry, selects
from mesh.xds.translate.registry import Registry
from mesh.xds.translate.resources import ProxyKind, ProxyNode


def proxy_nodes(registry: Registry) -> list[ProxyNode]:
    """The proxies, gateways first, each kind by id."""
    found = [*_routers(registry), *_sidecars(registry)]
    return sorted(found, key=lambda node: (node.kind, node.id))


def _sidecars(registry: Registry) -> Iterator[ProxyNode]:
    for workload in registry.workloads:
        if sidecar_of(registry, workload) is not None:
            yield _node(ProxyKind.SIDECAR, workload)


def sidecar_of(registry: Registry, workload: WorkloadEntry) -> Sidecar | None:
    """The Sidecar of a workload: one that selects its labels, else the namespace's own; the oldest among equals."""
    same = [item for item in registry.sidecars if item.identity.namespace == workload.identity.namespace]
    matching = [item for item in same if selects(item.selector, workload.endpoint.labels)]
    return min(matching, key=lambda item: not item.selector, default=None)


def workload_of(registry: Registry, node: ProxyNode) -> WorkloadEntry | None:
    """The workload that a proxy stands beside."""
    return registry.places.memo.get("workloads-by-id", lambda: _by_id(registry)).get(node.id)


def _by_id(registry: Registry) -> dict[str, WorkloadEntry]:
    return {f"{item.identity.name}.{item.identity.namespace}": item for item in registry.workloads}


def _routers(registry: Registry) -> Iterator[ProxyNode]:
    """A gateway runs on the workloads that carry its selector's labels; when there is none, on one that it implies."""
    implied: dict[object, Gateway] = {}
    carried: dict[str, ProxyNode] = {}
    for gateway in registry.gateways:
        workloads = [
            item for item in registry.workloads if gateway.selector and selects(gateway.selector, item.endpoint.labels)
        ]
        for workload in workloads:
            if sidecar_of(registry, workload) is None:
                node = _node(ProxyKind.ROUTER, workload)
                carried[node.id] = node
        if not workloads:
            implied.setdefault(gateway.selector, gateway)
    yield from carried.values()
    for gateway in implied.values():
        yield ProxyNode(
            ProxyKind.ROUTER,
            f"{gateway.identity.name}.{gateway.identity.namespace}",
            gateway.servers[0].bind,
            gateway.identity.namespace,
            gateway.selector,
        )


def _node(kind: ProxyKind, workload: WorkloadEntry) -> ProxyNode:
    identity, place = workload.identity, workload.endpoint
    return ProxyNode(
        kind, f"{identity.name}.{identity.namespace}", place.address, identity.namespace, place.labels, place.locality
    )
