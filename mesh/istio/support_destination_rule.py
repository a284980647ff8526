"""Which fields of a DestinationRule does the local mesh support, and why not the others?"""

from mesh.istio.support_fields import HTTP_ONLY, NO_CERTIFICATES, Field, must, no
from mesh.istio.support_types import (
    AGGRESSION,
    BALANCER,
    BOOL,
    COUNT,
    DURATION,
    IDLE,
    PERCENT,
    PORT,
    RING,
    STRING,
    TABLE_SIZE,
    TTL,
    WORD,
    integer,
    one_of,
)


def pool(path: str, note: str = "") -> tuple[Field, ...]:
    """Limits of connections and requests."""
    return (
        Field(path, note=note),
        Field(f"{path}.tcp.maxConnections", COUNT, "no limit when absent"),
        Field(f"{path}.tcp.connectTimeout", DURATION, "10s when absent"),
        Field(f"{path}.tcp.maxConnectionDuration", DURATION),
        Field(f"{path}.tcp.idleTimeout", IDLE, "0s: never"),
        Field(f"{path}.tcp.tcpKeepalive"),
        Field(f"{path}.tcp.tcpKeepalive.probes", COUNT, "the operating system's when absent or 0"),
        Field(f"{path}.tcp.tcpKeepalive.time", DURATION, "whole seconds count"),
        Field(f"{path}.tcp.tcpKeepalive.interval", DURATION, "whole seconds count"),
        Field(f"{path}.http.http1MaxPendingRequests", COUNT, "no limit when absent"),
        Field(f"{path}.http.http2MaxRequests", COUNT, "no limit when absent"),
        Field(f"{path}.http.maxRequestsPerConnection", COUNT),
        Field(f"{path}.http.maxRetries", COUNT, "no limit when absent"),
        Field(f"{path}.http.idleTimeout", DURATION),
        Field(f"{path}.http.maxConcurrentStreams", COUNT, "HTTP/2 only"),
        Field(f"{path}.http.h2UpgradePolicy", one_of("DEFAULT", "DO_NOT_UPGRADE", "UPGRADE")),
        Field(f"{path}.http.useClientProtocol", BOOL),
        must(f"{path}.http.http2KeepAlive.interval", DURATION, "HTTP/2 only"),
        must(f"{path}.http.http2KeepAlive.timeout", DURATION, "HTTP/2 only"),
    )


def _consistent_hash(path: str) -> tuple[Field, ...]:
    return (
        Field(path, note="doesn't make a weighted split sticky: the version is drawn first"),
        Field(f"{path}.httpHeaderName", WORD),
        must(f"{path}.httpCookie.name", WORD),
        Field(f"{path}.httpCookie.path", STRING),
        Field(f"{path}.httpCookie.ttl", TTL, "absent: the cookie is only read"),
        must(f"{path}.httpCookie.attributes[].name", WORD),
        Field(f"{path}.httpCookie.attributes[].value", STRING),
        Field(f"{path}.useSourceIp", BOOL),
        Field(f"{path}.httpQueryParameterName", WORD),
        Field(f"{path}.ringHash"),
        Field(f"{path}.ringHash.minimumRingSize", RING, "Envoy's 1024 when absent"),
        must(f"{path}.maglev.tableSize", TABLE_SIZE),
        Field(f"{path}.minimumRingSize", RING, "the older ringHash.minimumRingSize"),
    )


def _locality(path: str) -> tuple[Field, ...]:
    return (
        Field(path, note="failover acts only beside outlierDetection, which ranks by locality without it too"),
        Field(f"{path}.enabled", BOOL, "true when absent"),
        must(f"{path}.distribute[].from", WORD),
        Field(f"{path}.distribute[].to{{}}", integer("percent", 0, 100)),
        must(f"{path}.failover[].from", WORD),
        must(f"{path}.failover[].to", WORD),
        Field(f"{path}.failoverPriority[]", WORD, "labels, or label=value"),
    )


def _outlier(path: str) -> tuple[Field, ...]:
    return (
        Field(path, note="ejects by consecutive errors only"),
        Field(f"{path}.consecutive5xxErrors", COUNT, "Envoy's 5 when absent; 0 switches it off"),
        Field(f"{path}.consecutiveGatewayErrors", COUNT, "off when absent or 0"),
        Field(f"{path}.splitExternalLocalOriginErrors", BOOL),
        Field(f"{path}.consecutiveLocalOriginFailures", COUNT, "only with splitExternalLocalOriginErrors"),
        Field(f"{path}.interval", DURATION, "Envoy's 10s when absent"),
        Field(f"{path}.baseEjectionTime", DURATION, "Envoy's 30s when absent"),
        Field(f"{path}.maxEjectionPercent", integer("percent", 0, 100), "Envoy's 10 when absent or 0"),
        Field(f"{path}.minHealthPercent", integer("percent", 0, 100), "below it all endpoints are used; 0: never"),
        no(f"{path}.consecutiveErrors", "not supported by Istio any more: write consecutive5xxErrors"),
    )


def _tls(path: str) -> tuple[Field, ...]:
    others = ("clientCertificate", "privateKey", "caCertificates", "credentialName", "subjectAltNames", "sni")
    return (
        must(f"{path}.mode", one_of("DISABLE"), "there are no certificates on loopback"),
        *(no(f"{path}.{name}", NO_CERTIFICATES) for name in (*others, "insecureSkipVerify", "caCrl")),
    )


def _balancer(path: str) -> tuple[Field, ...]:
    return (
        Field(path),
        Field(
            f"{path}.simple",
            BALANCER,
            "LEAST_REQUEST when absent; PASSTHROUGH goes to the address that the caller dialled: it needs interception",
        ),
        must(f"{path}.warmup.duration", DURATION),
        Field(f"{path}.warmup.aggression", AGGRESSION),
        Field(f"{path}.warmup.minimumPercent", PERCENT),
        Field(f"{path}.warmupDurationSecs", DURATION),
        *_consistent_hash(f"{path}.consistentHash"),
        *_locality(f"{path}.localityLbSetting"),
        no(
            f"{path}.zoneAwareLbSetting",
            "not supported by the local mesh: it needs an Envoy that discovers its own zone's cluster",
        ),
    )


def _policy(path: str) -> tuple[Field, ...]:
    level = f"{path}.portLevelSettings[]"
    return (
        Field(path),
        *pool(f"{path}.connectionPool"),
        *_balancer(f"{path}.loadBalancer"),
        Field(f"{path}.retryBudget.percent", PERCENT, "20 when absent"),
        Field(f"{path}.retryBudget.minRetryConcurrency", COUNT, "3 when absent or 0"),
        Field(f"{path}.retryBudget.budgetInterval", DURATION),
        Field(level, note="replaces the whole policy on its port: what it leaves out goes to the defaults"),
        must(f"{level}.port.number", PORT),
        *pool(f"{level}.connectionPool"),
        *_balancer(f"{level}.loadBalancer"),
        *(row for at in (path, level) for row in (*_outlier(f"{at}.outlierDetection"), *_tls(f"{at}.tls"))),
        no(f"{path}.tunnel", HTTP_ONLY),
        no(f"{path}.proxyProtocol", "not supported by the local mesh: its Envoys don't expect a PROXY header"),
    )


DESTINATION_RULE = (
    must("spec.host", WORD, "a short name belongs to the document's namespace"),
    *_policy("spec.trafficPolicy"),
    Field("spec.subsets[]", note="each has a cluster for each port, at weight 0 too"),
    must("spec.subsets[].name", WORD),
    Field("spec.subsets[].labels{}", STRING),
    *_policy("spec.subsets[].trafficPolicy"),
    Field("spec.exportTo[]", WORD),
    Field("spec.workloadSelector.matchLabels{}", STRING, "in the client's own namespace only"),
)
