"""Which fields of Istio's documents does the local mesh support, and why not the others? One table for code and docs.

Translation reads only what stands here as supported; everything else is refused with its place. In a path, `[]` is a
list of what follows and `{}` a map of it.
"""

from dataclasses import dataclass

from mesh.istio.support_types import (
    AGGRESSION,
    ANYTHING,
    BOOL,
    COUNT,
    DURATION,
    HEADER_VALUE,
    LOOPBACK,
    OBJECT,
    PERCENT,
    PORT,
    REGEX,
    STATUS,
    STRING,
    WEIGHT,
    WORD,
    Type,
    one_of,
)

NOT_YET = "not supported by the local mesh yet"
REDIRECTS = (301, 302, 303, 307, 308)
REDIRECT = Type("301 | 302 | 303 | 307 | 308", lambda code: "" if code in REDIRECTS else "a redirect code")
PROTOCOL = one_of("HTTP", "HTTP2", "GRPC", "GRPC-WEB", "http", "http2", "grpc", "grpc-web")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one kind. `refused` is the reason when the local mesh doesn't take it; it then has no type."""

    path: str
    type: Type = OBJECT
    note: str = ""
    required: bool = False
    refused: str = ""


def _no(path: str, reason: str = NOT_YET) -> Field:
    return Field(path, refused=reason)


def _must(path: str, kind: Type, note: str = "") -> Field:
    return Field(path, kind, note, required=True)


def _port(path: str, note: str = "") -> tuple[Field, ...]:
    return (
        Field(path, note=note),
        _must(f"{path}.number", PORT),
        _must(f"{path}.protocol", PROTOCOL, "TCP, TLS and the like carry no HTTP: " + NOT_YET),
        Field(f"{path}.name", STRING),
    )


def _string_match(path: str, note: str = "") -> tuple[Field, ...]:
    return (
        Field(path, note=note),
        Field(f"{path}.exact", STRING),
        Field(f"{path}.prefix", STRING),
        Field(f"{path}.regex", REGEX),
    )


def _operations(path: str) -> tuple[Field, ...]:
    return (
        Field(f"{path}.set{{}}", HEADER_VALUE, "overwrites; before `add`, sorted by name"),
        Field(f"{path}.add{{}}", HEADER_VALUE, "appends, sorted by name"),
        Field(f"{path}.remove[]", WORD),
    )


def _headers(path: str, note: str) -> tuple[Field, ...]:
    return (Field(path, note=note), *_operations(f"{path}.request"), *_operations(f"{path}.response"))


_METADATA = (
    _must("apiVersion", STRING),
    _must("kind", STRING),
    _must("metadata.name", STRING),
    Field("metadata.namespace", STRING, "`default` when absent"),
    Field("metadata.labels{}", STRING),
    Field("metadata.annotations{}", STRING),
    Field("metadata.creationTimestamp", ANYTHING, "older documents come first, then by name"),
    *(
        Field(f"metadata.{name}", ANYTHING, "written by the API server; not read")
        for name in ("generation", "resourceVersion", "uid", "managedFields", "ownerReferences", "finalizers")
    ),
    Field("status", ANYTHING, "written by the API server; not read"),
    _must("spec", OBJECT),
)

_VIRTUAL_SERVICE = (
    _must("spec.hosts[]", WORD, "short names belong to the document's namespace"),
    Field("spec.gateways[]", WORD, "`mesh` when absent"),
    Field("spec.exportTo[]", WORD),
    Field("spec.http[]", note="document order; nothing behind a catch-all is used"),
    Field("spec.http[].name", STRING),
    Field("spec.http[].match[]", note="any of them; each becomes a route of its own"),
    Field("spec.http[].match[].name", STRING),
    *_string_match("spec.http[].match[].uri", "`prefix` is a string prefix: /foo takes /foobar; `regex` is whole"),
    *_string_match("spec.http[].match[].scheme"),
    *_string_match("spec.http[].match[].method"),
    *_string_match("spec.http[].match[].authority"),
    *_string_match("spec.http[].match[].headers{}", "`{}` and the regex `*` ask that the header is there"),
    *_string_match("spec.http[].match[].withoutHeaders{}"),
    *_string_match("spec.http[].match[].queryParams{}"),
    Field("spec.http[].match[].ignoreUriCase", BOOL),
    Field("spec.http[].match[].port", PORT, "of the listener"),
    Field("spec.http[].match[].sourceLabels{}", STRING, "not looked at when `gateways` is given"),
    Field("spec.http[].match[].sourceNamespace", STRING, "not looked at when `gateways` is given"),
    Field("spec.http[].match[].gateways[]", WORD),
    Field("spec.http[].match[].statPrefix", STRING),
    Field("spec.http[].route[]"),
    _must("spec.http[].route[].destination", OBJECT),
    _must("spec.http[].route[].destination.host", WORD),
    Field("spec.http[].route[].destination.subset", STRING),
    _must("spec.http[].route[].destination.port.number", PORT, "else the service's only port, else the listener's"),
    Field("spec.http[].route[].weight", WEIGHT, "share of the sum; 0 leaves the destination out, its cluster stays"),
    *_headers("spec.http[].route[].headers", "joined to the route's own when it is the only destination"),
    Field("spec.http[].redirect"),
    Field("spec.http[].redirect.uri", STRING),
    Field("spec.http[].redirect.authority", STRING),
    Field("spec.http[].redirect.scheme", STRING),
    Field("spec.http[].redirect.port", PORT),
    Field("spec.http[].redirect.derivePort", one_of("FROM_PROTOCOL_DEFAULT", "FROM_REQUEST_PORT")),
    Field(
        "spec.http[].redirect.redirectCode",
        REDIRECT,
        "301 when absent",
    ),
    Field("spec.http[].directResponse"),
    _must("spec.http[].directResponse.status", STATUS),
    Field("spec.http[].directResponse.body.string", STRING),
    _no("spec.http[].directResponse.body.bytes", f"{NOT_YET}; write text as `string`"),
    Field("spec.http[].rewrite"),
    Field("spec.http[].rewrite.uri", STRING, "replaces what the match's prefix took"),
    Field("spec.http[].rewrite.authority", STRING),
    _must("spec.http[].rewrite.uriRegexRewrite.match", REGEX),
    _must("spec.http[].rewrite.uriRegexRewrite.rewrite", STRING),
    Field("spec.http[].timeout", DURATION, "none when absent"),
    Field("spec.http[].retries", note="absent: 2 retries; `{}`: none"),
    Field("spec.http[].retries.attempts", COUNT, "0 switches retries off"),
    Field("spec.http[].retries.retryOn", WORD, "conditions and HTTP codes, comma-separated without spaces"),
    Field("spec.http[].retries.perTryTimeout", DURATION),
    Field("spec.http[].retries.backoff", DURATION),
    Field("spec.http[].retries.retryIgnorePreviousHosts", BOOL, "true when absent"),
    Field("spec.http[].retries.retryRemoteLocalities", BOOL),
    *_headers("spec.http[].headers", "`set` before `add`; `host` in a request moves the authority"),
    *(
        _no(f"spec.http[].{name}")
        for name in (
            "delegate", "fault", "mirror", "mirrors", "mirrorPercent", "mirrorPercentage", "corsPolicy",
        )
    ),
    _no("spec.tls", f"{NOT_YET}; only HTTP is routed"),
    _no("spec.tcp", f"{NOT_YET}; only HTTP is routed"),
)  # fmt: skip


def _pool(path: str) -> tuple[Field, ...]:
    return (
        Field(f"{path}.tcp.maxConnections", COUNT, "no limit when absent"),
        Field(f"{path}.tcp.connectTimeout", DURATION, "10s when absent"),
        Field(f"{path}.tcp.maxConnectionDuration", DURATION),
        Field(f"{path}.tcp.idleTimeout", DURATION),
        _no(f"{path}.tcp.tcpKeepalive"),
        Field(f"{path}.http.http1MaxPendingRequests", COUNT, "no limit when absent"),
        Field(f"{path}.http.http2MaxRequests", COUNT, "no limit when absent"),
        Field(f"{path}.http.maxRequestsPerConnection", COUNT),
        Field(f"{path}.http.maxRetries", COUNT, "no limit when absent"),
        Field(f"{path}.http.idleTimeout", DURATION),
        Field(f"{path}.http.maxConcurrentStreams", COUNT, "HTTP/2 only"),
        Field(f"{path}.http.h2UpgradePolicy", one_of("DEFAULT", "DO_NOT_UPGRADE", "UPGRADE")),
        Field(f"{path}.http.useClientProtocol", BOOL),
        _no(f"{path}.http.http2KeepAlive"),
    )


def _balancer(path: str) -> tuple[Field, ...]:
    return (
        Field(path),
        Field(
            f"{path}.simple",
            one_of("UNSPECIFIED", "ROUND_ROBIN", "LEAST_REQUEST", "LEAST_CONN", "RANDOM"),
            "LEAST_REQUEST when absent; PASSTHROUGH needs interception",
        ),
        _must(f"{path}.warmup.duration", DURATION),
        Field(f"{path}.warmup.aggression", AGGRESSION),
        Field(f"{path}.warmup.minimumPercent", PERCENT),
        Field(f"{path}.warmupDurationSecs", DURATION),
        _no(f"{path}.consistentHash", f"{NOT_YET}; it wouldn't make a weighted split sticky either"),
        _no(f"{path}.localityLbSetting"),
    )


def _policy(path: str) -> tuple[Field, ...]:
    level = f"{path}.portLevelSettings[]"
    return (
        Field(path),
        Field(f"{path}.connectionPool"),
        *_pool(f"{path}.connectionPool"),
        *_balancer(f"{path}.loadBalancer"),
        Field(f"{path}.retryBudget.percent", PERCENT, "20 when absent"),
        Field(f"{path}.retryBudget.minRetryConcurrency", COUNT, "3 when absent"),
        Field(level, note="replaces the whole policy on its port: what it leaves out goes to the defaults"),
        _must(f"{level}.port.number", PORT),
        Field(f"{level}.connectionPool"),
        *_pool(f"{level}.connectionPool"),
        *_balancer(f"{level}.loadBalancer"),
        *(_no(f"{at}.{name}") for at in (path, level) for name in ("outlierDetection", "tls")),
        _no(f"{path}.tunnel"),
        _no(f"{path}.proxyProtocol"),
    )


_DESTINATION_RULE = (
    _must("spec.host", WORD, "a short name belongs to the document's namespace"),
    *_policy("spec.trafficPolicy"),
    Field("spec.subsets[]", note="each has a cluster for each port, at weight 0 too"),
    _must("spec.subsets[].name", WORD),
    Field("spec.subsets[].labels{}", STRING),
    *_policy("spec.subsets[].trafficPolicy"),
    Field("spec.exportTo[]", WORD),
    Field("spec.workloadSelector.matchLabels{}", STRING, "in the client's own namespace only"),
)


def _endpoint(path: str) -> tuple[Field, ...]:
    return (
        _must(f"{path}.address", WORD, "an address, a DNS name, or `unix:///path`"),
        Field(f"{path}.ports{{}}", PORT, "by the name of the service's port"),
        Field(f"{path}.labels{{}}", STRING),
        Field(f"{path}.weight", WEIGHT, "1 when absent or 0"),
        Field(f"{path}.locality", STRING, "region/zone/subzone"),
        Field(f"{path}.network", STRING, "there is one network; not read"),
        Field(f"{path}.serviceAccount", STRING, "there are no certificates; not read"),
    )


_SERVICE_ENTRY = (
    _must("spec.hosts[]", WORD, "in full: short names are not expanded here"),
    Field("spec.addresses[]", WORD, "more names for the virtual host"),
    Field("spec.ports[]"),
    _must("spec.ports[].number", PORT),
    _must("spec.ports[].protocol", PROTOCOL, "TCP, TLS and the like carry no HTTP: " + NOT_YET),
    _must("spec.ports[].name", WORD),
    Field("spec.ports[].targetPort", PORT),
    Field("spec.location", one_of("MESH_INTERNAL", "MESH_EXTERNAL")),
    _must("spec.resolution", one_of("STATIC", "DNS", "DNS_ROUND_ROBIN"), "NONE needs interception"),
    Field("spec.endpoints[]"),
    *_endpoint("spec.endpoints[]"),
    Field("spec.workloadSelector"),
    Field("spec.workloadSelector.labels{}", STRING, "picks WorkloadEntries of the same namespace"),
    Field("spec.exportTo[]", WORD),
    _no("spec.subjectAltNames"),
)

_SIDECAR = (
    Field("spec.workloadSelector.labels{}", STRING, "every workload of the namespace when absent"),
    Field("spec.ingress[]"),
    _must("spec.ingress[].port", OBJECT),
    *_port("spec.ingress[].port"),
    Field("spec.ingress[].bind", LOOPBACK, "the workload's address when absent"),
    Field("spec.ingress[].captureMode", one_of("DEFAULT", "NONE"), "nothing is intercepted"),
    Field(
        "spec.ingress[].defaultEndpoint", WORD, "127.0.0.1:port, 0.0.0.0:port (the workload's address), unix:///path"
    ),
    _no("spec.ingress[].tls"),
    _no("spec.ingress[].connectionPool"),
    Field("spec.egress[]"),
    *_port("spec.egress[].port", "without one only the hosts `~/*`: nothing goes out"),
    Field("spec.egress[].bind", LOOPBACK, "127.0.0.1 when absent"),
    Field("spec.egress[].captureMode", one_of("DEFAULT", "NONE"), "nothing is intercepted"),
    _must("spec.egress[].hosts[]", WORD, "namespace/host; `.` is the Sidecar's namespace, `*` any"),
    Field("spec.outboundTrafficPolicy.mode", one_of("ALLOW_ANY", "REGISTRY_ONLY")),
    _no("spec.outboundTrafficPolicy.egressProxy"),
    _no("spec.inboundConnectionPool"),
)

_GATEWAY = (
    Field("spec.selector{}", STRING, "a WorkloadEntry with these labels; one is implied when there is none"),
    _must("spec.servers[]", OBJECT),
    _must("spec.servers[].port", OBJECT),
    *_port("spec.servers[].port"),
    _must("spec.servers[].bind", LOOPBACK),
    _must("spec.servers[].hosts[]", WORD),
    Field("spec.servers[].name", STRING),
    _no("spec.servers[].port.targetPort"),
    _no("spec.servers[].tls"),
    _no("spec.servers[].defaultEndpoint"),
)

_WORKLOAD_ENTRY = _endpoint("spec")

_PEER_AUTHENTICATION = (
    _must("spec.mtls", OBJECT),
    _must("spec.mtls.mode", one_of("DISABLE"), "there are no certificates on a loopback mesh"),
    Field("spec.selector.matchLabels{}", STRING),
    _no("spec.portLevelMtls"),
)

TABLE: dict[str, tuple[Field, ...]] = {
    "VirtualService": _METADATA + _VIRTUAL_SERVICE,
    "DestinationRule": _METADATA + _DESTINATION_RULE,
    "Gateway": _METADATA + _GATEWAY,
    "ServiceEntry": _METADATA + _SERVICE_ENTRY,
    "WorkloadEntry": _METADATA + _WORKLOAD_ENTRY,
    "Sidecar": _METADATA + _SIDECAR,
    "PeerAuthentication": _METADATA + _PEER_AUTHENTICATION,
}
"""Every kind that the local mesh reads, with its fields."""
