"""Which fields of Istio's documents does the local mesh support, and why not the others? One table for code and docs.

Translation reads only what stands here as supported; everything else is refused with its place. In a path, `[]` is a
list of what follows and `{}` a map of it.
"""

from mesh.istio.support_destination_rule import DESTINATION_RULE, pool
from mesh.istio.support_fields import NO_CERTIFICATES, PROTOCOL, Field, must, no, port
from mesh.istio.support_types import ANYTHING, LOOPBACK, OBJECT, PORT, STRING, WEIGHT, WORD, one_of
from mesh.istio.support_virtual_service import VIRTUAL_SERVICE

__all__ = ["TABLE", "Field"]

_METADATA = (
    must("apiVersion", STRING),
    must("kind", STRING),
    must("metadata.name", STRING),
    Field("metadata.namespace", STRING, "`default` when absent"),
    Field("metadata.labels{}", STRING),
    Field("metadata.annotations{}", STRING),
    Field("metadata.creationTimestamp", ANYTHING, "older documents come first, then by name"),
    *(
        Field(f"metadata.{name}", ANYTHING, "written by the API server; not read")
        for name in ("generation", "resourceVersion", "uid", "managedFields", "ownerReferences", "finalizers")
    ),
    Field("status", ANYTHING, "written by the API server; not read"),
    must("spec", OBJECT),
)


def _endpoint(path: str) -> tuple[Field, ...]:
    return (
        must(f"{path}.address", WORD, "an address, a DNS name, or `unix:///path`"),
        Field(f"{path}.ports{{}}", PORT, "by the name of the service's port"),
        Field(f"{path}.labels{{}}", STRING),
        Field(f"{path}.weight", WEIGHT, "1 when absent or 0"),
        Field(f"{path}.locality", STRING, "region/zone/subzone"),
        Field(f"{path}.network", STRING, "there is one network; not read"),
        Field(f"{path}.serviceAccount", STRING, "there are no certificates; not read"),
    )


_SERVICE_ENTRY = (
    must("spec.hosts[]", WORD, "in full: short names are not expanded here"),
    Field("spec.addresses[]", WORD, "more names for the virtual host"),
    Field("spec.ports[]"),
    must("spec.ports[].number", PORT),
    must("spec.ports[].protocol", PROTOCOL, "TCP, TLS and the like carry no HTTP"),
    must("spec.ports[].name", WORD),
    Field("spec.ports[].targetPort", PORT),
    Field("spec.location", one_of("MESH_INTERNAL", "MESH_EXTERNAL")),
    must("spec.resolution", one_of("STATIC", "DNS", "DNS_ROUND_ROBIN"), "NONE needs interception"),
    Field("spec.endpoints[]"),
    *_endpoint("spec.endpoints[]"),
    Field("spec.workloadSelector"),
    Field("spec.workloadSelector.labels{}", STRING, "picks WorkloadEntries of the same namespace"),
    Field("spec.exportTo[]", WORD),
    no("spec.subjectAltNames", NO_CERTIFICATES),
)

_SIDECAR = (
    Field("spec.workloadSelector.labels{}", STRING, "every workload of the namespace when absent"),
    Field("spec.ingress[]"),
    must("spec.ingress[].port", OBJECT),
    *port("spec.ingress[].port"),
    Field("spec.ingress[].bind", LOOPBACK, "the workload's address when absent"),
    Field("spec.ingress[].captureMode", one_of("DEFAULT", "NONE"), "nothing is intercepted"),
    Field(
        "spec.ingress[].defaultEndpoint", WORD, "127.0.0.1:port, 0.0.0.0:port (the workload's address), unix:///path"
    ),
    no("spec.ingress[].tls", NO_CERTIFICATES),
    *pool("spec.ingress[].connectionPool", "else spec.inboundConnectionPool, else what rules of its service say"),
    Field("spec.egress[]"),
    *port("spec.egress[].port", "without one only the hosts `~/*`: nothing goes out"),
    Field("spec.egress[].bind", LOOPBACK, "127.0.0.1 when absent"),
    Field("spec.egress[].captureMode", one_of("DEFAULT", "NONE"), "nothing is intercepted"),
    must("spec.egress[].hosts[]", WORD, "namespace/host; `.` is the Sidecar's namespace, `*` any"),
    Field("spec.outboundTrafficPolicy.mode", one_of("ALLOW_ANY", "REGISTRY_ONLY")),
    no("spec.outboundTrafficPolicy.egressProxy", "not supported by the local mesh: unknown hosts lead nowhere here"),
    *pool("spec.inboundConnectionPool", "of every ingress that has none of its own"),
)

_GATEWAY = (
    Field("spec.selector{}", STRING, "a WorkloadEntry with these labels; one is implied when there is none"),
    must("spec.servers[]", OBJECT),
    must("spec.servers[].port", OBJECT),
    *port("spec.servers[].port"),
    must("spec.servers[].bind", LOOPBACK),
    must("spec.servers[].hosts[]", WORD),
    Field("spec.servers[].name", STRING),
    no("spec.servers[].port.targetPort", "not supported by Istio: it never reads it"),
    no("spec.servers[].tls", NO_CERTIFICATES),
    no("spec.servers[].defaultEndpoint", "not supported by Istio: it never reads it"),
)

_WORKLOAD_ENTRY = _endpoint("spec")

_PEER_AUTHENTICATION = (
    must("spec.mtls", OBJECT),
    must("spec.mtls.mode", one_of("DISABLE"), "there are no certificates on a loopback mesh"),
    Field("spec.selector.matchLabels{}", STRING),
    no("spec.portLevelMtls", NO_CERTIFICATES),
)

TABLE: dict[str, tuple[Field, ...]] = {
    "VirtualService": _METADATA + VIRTUAL_SERVICE,
    "DestinationRule": _METADATA + DESTINATION_RULE,
    "Gateway": _METADATA + _GATEWAY,
    "ServiceEntry": _METADATA + _SERVICE_ENTRY,
    "WorkloadEntry": _METADATA + _WORKLOAD_ENTRY,
    "Sidecar": _METADATA + _SIDECAR,
    "PeerAuthentication": _METADATA + _PEER_AUTHENTICATION,
}
"""Every kind that the local mesh reads, with its fields."""
