"""Which documents does chance think of? Written to `corpus/generated.yaml` once, so that everybody compares the same.

`python -m tests.conformance --generate` writes them anew: hypothesis draws without randomness of its own, and the file
keeps what it drew whichever version of hypothesis is installed later.
"""

import json
from collections.abc import Callable
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conformance.corpus import CORPUS

FILE = CORPUS / "generated.yaml"
ROUTED, RULED = 170, 110
_SUBSETS = ("v1", "v2")
_MILLISECONDS = st.integers(1, 90_000).map(lambda count: f"{count}ms")
_PERCENT = st.integers(0, 1_000_000).map(lambda count: count / 10_000)
_HEADERS = st.sampled_from(["x-a", "x-b", "x-c", "x-user", "user-agent"])
_WORDS = st.sampled_from(["a", "b", "canary", "1", "x y", "v2-.*", ""])
_PATHS = st.sampled_from(["/", "/a", "/a/", "/a/b", "/shop.v1.Shop/", "/shop.v1.Shop/Buy"])


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A block with any of these fields, none of them included."""
    return st.fixed_dictionaries({}, optional=fields)


def _one_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A block with just one of these fields."""
    return st.one_of(*(st.fixed_dictionaries({name: values}) for name, values in fields.items()))


def _string_match(values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    filled = values.filter(bool)
    return _one_of(exact=values, prefix=filled, regex=filled) | st.just({})


_NAMED = st.dictionaries(_HEADERS, _string_match(_WORDS), max_size=3)
_MATCH = _some(
    name=st.sampled_from(["one", "two"]),
    uri=_string_match(_PATHS),
    method=_string_match(st.sampled_from(["GET", "POST"])),
    authority=_string_match(st.sampled_from(["a.example.com", "shop"])),
    scheme=_string_match(st.just("http")),
    headers=_NAMED,
    withoutHeaders=_NAMED,
    queryParams=st.dictionaries(st.sampled_from(["q", "r"]), _string_match(_WORDS), max_size=2),
    ignoreUriCase=st.booleans(),
    port=st.sampled_from([50051, 8080, 7]),
    sourceLabels=st.sampled_from([{"app": "client"}, {"app": "else"}]),
    sourceNamespace=st.sampled_from(["$NS", "else"]),
    gateways=st.sampled_from([["mesh"], ["edge"], ["mesh", "edge"]]),
    statPrefix=st.just("stat"),
)
_VALUES = st.sampled_from(["1", "two words", "%REQ(x-a)%", "100%%"])
_OPERATIONS = _some(
    set=st.dictionaries(_HEADERS, _VALUES, max_size=2),
    add=st.dictionaries(_HEADERS, _VALUES, max_size=2),
    remove=st.lists(_HEADERS, max_size=2),
)
_HEADER_BLOCK = _some(request=_OPERATIONS, response=_OPERATIONS)
_DESTINATION = st.fixed_dictionaries(
    {"host": st.sampled_from(["shop", "other", "shop.$NS.svc.cluster.local"])},
    optional={"port": st.just({"number": 50051})},
) | st.fixed_dictionaries({"host": st.just("shop"), "subset": st.sampled_from(_SUBSETS)})
_ENTRY = st.fixed_dictionaries(
    {"destination": _DESTINATION, "weight": st.integers(0, 1000)}, optional={"headers": _HEADER_BLOCK}
)
_ROUTE = st.lists(_ENTRY, min_size=1, max_size=3).filter(
    lambda route: len(route) == 1 or sum(each["weight"] for each in route) > 0
)
_RETRIES = (
    st.just({})
    | st.just({"attempts": 0})
    | st.fixed_dictionaries(
        {"attempts": st.integers(1, 9)},
        optional={
            "retryOn": st.lists(
                st.sampled_from(["5xx", "503", "reset", "unavailable", "429", "retriable-status-codes"]),
                min_size=1,
                max_size=4,
            ).map(",".join),
            "perTryTimeout": _MILLISECONDS,
            "backoff": _MILLISECONDS,
            "retryIgnorePreviousHosts": st.booleans(),
            "retryRemoteLocalities": st.booleans(),
        },
    )
)
_FAULT = st.fixed_dictionaries(
    {
        "delay": st.fixed_dictionaries(
            {"fixedDelay": _MILLISECONDS}, optional={"percentage": st.fixed_dictionaries({"value": _PERCENT})}
        )
    }
) | st.fixed_dictionaries(
    {
        "abort": _one_of(
            httpStatus=st.integers(400, 599), grpcStatus=st.sampled_from(["UNAVAILABLE", "INTERNAL"])
        ).flatmap(
            lambda kind: st.fixed_dictionaries(
                {name: st.just(value) for name, value in kind.items()},
                optional={"percentage": st.fixed_dictionaries({"value": _PERCENT})},
            )
        )
    }
)
_FORWARDED = st.fixed_dictionaries(
    {"route": _ROUTE},
    optional={
        "timeout": _MILLISECONDS,
        "retries": _RETRIES,
        "headers": _HEADER_BLOCK,
        "rewrite": _one_of(uri=st.just("/r"), authority=st.just("b.example.com")),
        "fault": _FAULT,
        "mirror": _DESTINATION,
        "mirrorPercentage": st.fixed_dictionaries({"value": _PERCENT}),
        "corsPolicy": _some(
            allowOrigins=st.lists(_one_of(exact=st.just("*"), prefix=st.just("https://a")), min_size=1, max_size=2),
            allowMethods=st.just(["GET", "POST"]),
            maxAge=st.integers(1, 9999).map(lambda count: f"{count}s"),
            allowCredentials=st.booleans(),
        ),
    },
)
_ANSWERED = _one_of(
    redirect=st.fixed_dictionaries(
        {"uri": st.just("/there")}, optional={"redirectCode": st.sampled_from([301, 302, 307, 308])}
    ),
    directResponse=st.fixed_dictionaries(
        {"status": st.integers(200, 599)}, optional={"body": st.just({"string": "answer"})}
    ),
)
_HTTP = st.tuples(
    _FORWARDED | _FORWARDED | _ANSWERED,
    _some(name=st.sampled_from(["first", "second"]), match=st.lists(_MATCH, min_size=1, max_size=2)),
).map(lambda parts: {**parts[1], **parts[0]})
_POOL = _one_of(
    tcp=_some(
        maxConnections=st.integers(0, 2**31 - 1),
        connectTimeout=_MILLISECONDS,
        maxConnectionDuration=_MILLISECONDS,
        idleTimeout=_MILLISECONDS | st.just("0s"),
        tcpKeepalive=_some(probes=st.integers(0, 9), time=st.integers(1, 999).map(lambda count: f"{count}s")),
    ),
    http=_some(
        http1MaxPendingRequests=st.integers(0, 99),
        http2MaxRequests=st.integers(0, 99),
        maxRequestsPerConnection=st.integers(0, 99),
        maxRetries=st.integers(0, 99),
        idleTimeout=_MILLISECONDS,
        maxConcurrentStreams=st.integers(0, 99),
        h2UpgradePolicy=st.sampled_from(["DEFAULT", "DO_NOT_UPGRADE"]),
        useClientProtocol=st.booleans(),
        http2KeepAlive=st.just({"interval": "30s", "timeout": "5s"}),
    ),
)
_HASHED = _one_of(
    httpHeaderName=_HEADERS,
    useSourceIp=st.booleans(),
    httpQueryParameterName=st.just("q"),
    httpCookie=st.fixed_dictionaries({"name": st.just("user")}, optional={"ttl": st.just("60s"), "path": st.just("/")}),
)
_BALANCER = _one_of(
    simple=st.sampled_from(["ROUND_ROBIN", "RANDOM", "LEAST_REQUEST", "LEAST_CONN", "UNSPECIFIED"]),
    consistentHash=_HASHED,
    warmup=st.fixed_dictionaries(
        {"duration": _MILLISECONDS},
        optional={"aggression": st.sampled_from([1, 1.5, 3]), "minimumPercent": st.integers(0, 100)},
    ),
)
_OUTLIER = _some(
    consecutive5xxErrors=st.integers(0, 9),
    consecutiveGatewayErrors=st.integers(0, 9),
    interval=_MILLISECONDS,
    baseEjectionTime=_MILLISECONDS,
    maxEjectionPercent=st.integers(0, 100),
    minHealthPercent=st.integers(0, 100),
    splitExternalLocalOriginErrors=st.booleans(),
)
_BLOCKS: dict[str, st.SearchStrategy[Any]] = {
    "connectionPool": _POOL,
    "loadBalancer": _BALANCER,
    "outlierDetection": _OUTLIER,
}
_BUDGET = _some(percent=_PERCENT, minRetryConcurrency=st.integers(0, 9))
_LEVEL = _some(**_BLOCKS).filter(bool).map(lambda blocks: [{"port": {"number": 50051}, **blocks}])
_POLICY = _some(**_BLOCKS, retryBudget=_BUDGET, portLevelSettings=_LEVEL).filter(bool)
_RULE = st.fixed_dictionaries({}, optional={"trafficPolicy": _POLICY}).flatmap(
    lambda rule: st.tuples(_some(trafficPolicy=_POLICY), _some(trafficPolicy=_POLICY)).map(
        lambda policies: (
            rule
            | {
                "subsets": [
                    {"name": name, "labels": {"version": name}, **policy}
                    for name, policy in zip(_SUBSETS, policies, strict=True)
                ]
            }
        )
    )
)
_ROUTED = st.lists(_HTTP, min_size=1, max_size=3).map(lambda http: {"http": http, "rule": {}})
_RULED = st.tuples(_RULE, _ROUTE).map(lambda drawn: {"http": [{"route": drawn[1]}], "rule": drawn[0]})


def drawn(strategy: st.SearchStrategy[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The first `count` different values that hypothesis draws, always the same ones."""
    found: dict[str, dict[str, Any]] = {}

    @settings(
        derandomize=True,
        max_examples=count * 4,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def take(value: dict[str, Any]) -> None:
        if len(found) < count:
            found.setdefault(json.dumps(value, sort_keys=True), value)

    run: Callable[[], None] = take
    run()
    return list(found.values())


def generate() -> None:
    """Writes the file."""
    routed = [{"name": f"drawn-route-{index}", **each} for index, each in enumerate(drawn(_ROUTED, ROUTED))]
    ruled = [{"name": f"drawn-rule-{index}", **each} for index, each in enumerate(drawn(_RULED, RULED))]
    head = "# Drawn by hypothesis; `python -m tests.conformance --generate` writes it anew.\n"
    lines = [f"- {json.dumps(each)}\n" for each in (*routed, *ruled)]
    FILE.write_text(head + "".join(lines), encoding="utf-8")
    assert len(yaml.safe_load(FILE.read_text())) == len(lines)
