"""One mesh that uses every supported field."""

from typing import Any

from mesh.istio.document import Document
from tests.support.xlate_documents import client, edge, make, rule, service, to, virtual_service

HEADERS = {
    "request": {"set": {"x-a": "1", "host": "b.example.com"}, "add": {"x-b": "%REQ(x-a)%"}, "remove": ["x-c"]},
    "response": {"set": {"x-d": "100%%"}, "remove": ["x-e"]},
}
MATCHES: list[dict[str, Any]] = [
    {"uri": {"exact": "/exact"}, "method": {"exact": "GET"}, "scheme": {"exact": "http"}, "authority": {"prefix": "a"}},
    {
        "uri": {"prefix": "/prefix"},
        "headers": {"x-a": {"exact": ""}, "x-b": {}, "x-c": {"regex": "a+"}},
        "statPrefix": "s",
    },
    {"uri": {"regex": "/v[0-9]+/.*"}, "withoutHeaders": {"x-a": {}, "x-b": {"prefix": "b"}}, "ignoreUriCase": True},
    {"queryParams": {"q": {"exact": "1"}, "r": {}, "s": {"regex": "[a-z]+"}}, "name": "query"},
]
CORS = {
    "allowOrigins": [{"exact": "https://a"}, {"prefix": "https://b"}, {"regex": "https://c.*"}],
    "allowMethods": ["GET"],
    "allowHeaders": ["x-a"],
    "exposeHeaders": ["x-b"],
    "maxAge": "60s",
    "allowCredentials": True,
    "unmatchedPreflights": "IGNORE",
}
ROUTES: list[dict[str, Any]] = [
    {
        "name": "redirect",
        "match": [MATCHES[0]],
        "redirect": {"uri": "/x", "authority": "b", "scheme": "https", "port": 81, "redirectCode": 307},
    },
    {"name": "bare", "match": [MATCHES[1]], "redirect": {"authority": "b"}},
    {
        "name": "answer",
        "match": [MATCHES[2]],
        "directResponse": {"status": 200, "body": {"string": "fine"}},
        "headers": HEADERS,
    },
    {"name": "empty", "match": [MATCHES[3]], "directResponse": {"status": 503}},
    {
        "name": "rewrite",
        "match": [{"uri": {"prefix": "/w"}}],
        "rewrite": {"uri": "/", "authority": "b"},
        "route": [to("shop")],
    },
    {
        "name": "regex",
        "match": [{"uri": {"prefix": "/r"}}],
        "rewrite": {"uriRegexRewrite": {"match": "^/r(.*)$", "rewrite": "/\\1"}},
        "route": [to("shop")],
    },
    {"name": "moved", "match": [{"uri": {"prefix": "/m"}}], "redirect": {"prefixRewrite": "/n"}},
    {
        "name": "bytes",
        "match": [{"uri": {"prefix": "/b"}}],
        "directResponse": {"status": 200, "body": {"bytes": "AAE="}},
    },
    {
        "name": "faulty",
        "match": [{"uri": {"prefix": "/f"}}],
        "fault": {
            "delay": {"fixedDelay": "1s", "percentage": {"value": 0.1}},
            "abort": {"grpcStatus": "UNAVAILABLE", "percentage": {"value": 1}},
        },
        "corsPolicy": CORS,
        "mirror": {"host": "plain"},
        "mirrorPercentage": {"value": 12.5},
        "route": [to("shop")],
    },
    {
        "name": "aborted",
        "match": [{"uri": {"prefix": "/g"}}],
        "fault": {"delay": {"fixedDelay": "1s", "percent": 3}, "abort": {"httpStatus": 503}},
        "mirrors": [{"destination": {"host": "plain"}}, {"destination": {"host": "shop"}, "percentage": {"value": 1}}],
        "route": [to("shop")],
    },
    {"name": "passed", "match": [{"uri": {"prefix": "/d"}}], "delegate": {"name": "leaf"}},
    {"name": "off", "match": [{"uri": {"prefix": "/o"}}], "retries": {}, "timeout": "1s", "route": [to("shop", "v1")]},
    {
        "name": "split",
        "headers": HEADERS,
        "retries": {
            "attempts": 3,
            "retryOn": "5xx,503,unavailable",
            "perTryTimeout": "500ms",
            "backoff": "10ms",
            "retryRemoteLocalities": True,
            "retryIgnorePreviousHosts": False,
        },
        "route": [to("shop", "v1", 99, headers=HEADERS), to("shop", "v2", 1), to("nobody", weight=0)],
    },
]
POOL = {
    "tcp": {
        "maxConnections": 9,
        "connectTimeout": "1s",
        "maxConnectionDuration": "60s",
        "idleTimeout": "5s",
        "tcpKeepalive": {"probes": 3, "time": "60s", "interval": "5s"},
    },
    "http": {
        "http1MaxPendingRequests": 9,
        "http2MaxRequests": 9,
        "maxRequestsPerConnection": 9,
        "maxRetries": 9,
        "idleTimeout": "9s",
        "maxConcurrentStreams": 9,
        "http2KeepAlive": {"interval": "30s", "timeout": "5s"},
    },
}
POLICY = {
    "connectionPool": POOL,
    "loadBalancer": {"simple": "ROUND_ROBIN", "warmup": {"duration": "30s", "aggression": 1.5, "minimumPercent": 20}},
    "retryBudget": {"percent": 25, "budgetInterval": "10s"},
    "outlierDetection": {
        "consecutive5xxErrors": 3,
        "consecutiveGatewayErrors": 0,
        "splitExternalLocalOriginErrors": True,
        "consecutiveLocalOriginFailures": 2,
        "interval": "5s",
        "baseEjectionTime": "10s",
        "maxEjectionPercent": 50,
        "minHealthPercent": 20,
    },
    "portLevelSettings": [{"port": {"number": 9}, "loadBalancer": {"simple": "RANDOM"}}],
}
SLOW_LEAST = {
    "loadBalancer": {"warmup": {"duration": "5s"}},
    "connectionPool": {"http": {"h2UpgradePolicy": "UPGRADE"}},
}
COOKIE = {"name": "user", "ttl": "60s", "path": "/", "attributes": [{"name": "SameSite", "value": "Lax"}]}
HASHED = {"loadBalancer": {"consistentHash": {"httpCookie": COOKIE, "maglev": {"tableSize": 65537}}}}
FAILOVER = {
    "outlierDetection": {},
    "loadBalancer": {
        "consistentHash": {"httpHeaderName": "x-user", "ringHash": {"minimumRingSize": 64}},
        "localityLbSetting": {"failover": [{"from": "eu", "to": "us"}], "failoverPriority": ["version"]},
    },
}
SHARED = {"loadBalancer": {"localityLbSetting": {"distribute": [{"from": "*", "to": {"eu": 80, "us": 20}}]}}}
INGRESS = [
    {"port": {"number": 9001, "protocol": "GRPC"}, "bind": "127.8.0.1", "defaultEndpoint": "unix:///run/app.sock"},
    {"port": {"number": 9002, "protocol": "HTTP"}, "bind": "127.8.0.1", "defaultEndpoint": "0.0.0.0:9102"},
    {"port": {"number": 9003, "protocol": "HTTP2"}, "bind": "127.8.0.1"},
]


def everything() -> list[Document]:
    """One mesh that uses every supported field."""
    endpoints = [
        {"address": "127.9.0.1", "labels": {"version": "v1"}, "locality": "eu/a/1", "weight": 3},
        {"address": "unix:///run/v2.sock", "labels": {"version": "v2"}},
    ]
    subsets = [
        {"name": "v1", "labels": {"version": "v1"}},
        {"name": "v2", "labels": {"version": "v2"}, "trafficPolicy": SLOW_LEAST},
    ]
    client_protocol = {"connectionPool": {"http": {"useClientProtocol": True}}}
    return [
        *client(ingress=INGRESS, outboundTrafficPolicy={"mode": "REGISTRY_ONLY"}),
        edge("*"),
        service("shop", endpoints=endpoints, addresses=["127.7.0.1"]),
        service("plain", protocol="HTTP"),
        service("names", hosts=["names.example.com"], resolution="DNS", endpoints=[]),
        service(
            "turns", hosts=["turns.example.com"], resolution="DNS_ROUND_ROBIN", endpoints=[{"address": "127.0.0.1"}]
        ),
        service("wild", hosts=["*.wild.example.com"], endpoints=[]),
        rule("shop", trafficPolicy=POLICY, subsets=subsets),
        rule("plain", trafficPolicy=client_protocol, subsets=[]),
        service("hashed"),
        rule("hashed", trafficPolicy=HASHED),
        service(
            "near", endpoints=[{"address": "127.9.0.1", "locality": "eu"}, {"address": "127.9.0.2", "locality": "us"}]
        ),
        rule("near", trafficPolicy=FAILOVER),
        service(
            "shared", endpoints=[{"address": "127.9.0.1", "locality": "eu"}, {"address": "127.9.0.2", "locality": "us"}]
        ),
        rule("shared", trafficPolicy=SHARED),
        virtual_service("leaf", [{"match": [{"uri": {"prefix": "/d/e"}}], "route": [to("hashed")]}], hosts=[]),
        virtual_service("shop", ROUTES),
        virtual_service("edge", ROUTES, hosts=["a.example.com", "*.b.example.com"], gateways=["edge"]),
        make("PeerAuthentication", "default", {"mtls": {"mode": "DISABLE"}}),
    ]
