"""In what do callers of two versions wait and retry differently?"""

from typing import Any

import pytest

from mesh.xds.translate import differences
from tests.support.xlate_documents import client, full, rule, service, virtual_service

V1, V2 = ({"destination": {"host": "shop", "subset": version}, "weight": 50} for version in ("v1", "v2"))
BOTH = [V1, V2]


def subsets(first: Any = None, second: Any = None) -> list[dict[str, Any]]:
    return [
        {"name": name, "labels": {"version": name}} | ({"trafficPolicy": policy} if policy else {})
        for name, policy in (("v1", first), ("v2", second))
    ]


def pool(**http: Any) -> dict[str, Any]:
    return {"connectionPool": {"http": http}}


def connect(timeout: str) -> dict[str, Any]:
    return {"connectionPool": {"tcp": {"connectTimeout": timeout}}}


def found(*documents: Any) -> dict[str, tuple[str, ...]]:
    everything = [*client(hosts=["*/*"]), service("shop"), *documents]
    return {each.field: each.values for each in differences(everything, full("shop"), ("v1", "v2"))}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param([], {}, id="no rule, no versions"),
        pytest.param([rule("shop")], {}, id="two versions without a policy"),
        pytest.param([rule("shop", trafficPolicy=connect("1s"))], {}, id="one policy for both"),
        pytest.param(
            [rule("shop", subsets=subsets(None, connect("2s")))],
            {"connectionPool.tcp.connectTimeout": ("10s", "2s")},
            id="one waits as by default",
        ),
        pytest.param([rule("shop", subsets=subsets(None, connect("10s")))], {}, id="the default, written out"),
        pytest.param(
            [rule("shop", subsets=subsets(None, pool(maxRetries=3)), trafficPolicy=connect("1s"))],
            {"connectionPool.tcp.connectTimeout": ("1s", "10s"), "connectionPool.http.maxRetries": ("no limit", "3")},
            id="a subset's block stands for the whole block of the destination",
        ),
        pytest.param(
            [rule("shop", subsets=subsets(pool(idleTimeout="30s"), pool(idleTimeout="1m30s")))],
            {"connectionPool.http.idleTimeout": ("30s", "90s")},
            id="idle time",
        ),
        pytest.param(
            [rule("shop", subsets=subsets(None, {"retryBudget": {"percent": 10}}))],
            {"retryBudget": ("none", "10 %, at least 3")},
            id="a budget of retries",
        ),
        pytest.param(
            [rule("shop", subsets=subsets(None, {"loadBalancer": {"simple": "RANDOM"}}))],
            {},
            id="a load balancer is neither waiting nor retrying",
        ),
        pytest.param(
            [
                rule(
                    "shop", subsets=subsets(None, {"portLevelSettings": [{"port": {"number": 50051}, **connect("3s")}]})
                )
            ],
            {"connectionPool.tcp.connectTimeout": ("10s", "3s")},
            id="on the service's port",
        ),
        pytest.param(
            [rule("shop", subsets=subsets(None, {"portLevelSettings": [{"port": {"number": 9}, **connect("3s")}]}))],
            {},
            id="on a port that the service has not",
        ),
        pytest.param([rule("shop", subsets=subsets()[:1])], {}, id="one of the two is not declared"),
    ],
)
def test_what_rules_say(rules: Any, expected: dict[str, tuple[str, ...]]) -> None:
    assert found(*rules) == expected


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        pytest.param([{"route": BOTH, "timeout": "5s"}], {}, id="one route for both"),
        pytest.param(
            [{"match": [{"headers": {"x": {}}}], "route": [V2], "timeout": "5s"}, {"route": BOTH}],
            {"timeout": ("no limit", "5s or no limit")},
            id="some callers of one version have a time-out",
        ),
        pytest.param(
            [{"match": [{"headers": {"x": {}}}], "route": [V2], "timeout": "0s"}, {"route": BOTH}],
            {},
            id="no time-out, written out",
        ),
        pytest.param(
            [{"match": [{"headers": {"x": {}}}], "route": [V2], "retries": {}}, {"route": [V1]}],
            {
                "retries.attempts": ("2", "no retries"),
                "retries.retryOn": (
                    "cancelled,connect-failure,refused-stream,retriable-status-codes,unavailable",
                    "no retries",
                ),
                "retries.perTryTimeout": ("no limit", "no retries"),
                "retries.backoff": ("no limit", "no retries"),
                "retries.retryIgnorePreviousHosts": ("yes", "no retries"),
                "retries.retryRemoteLocalities": ("no", "no retries"),
            },
            id="retries switched off for one",
        ),
        pytest.param(
            [
                {"match": [{"headers": {"x": {}}}], "route": [V1], "retries": {"attempts": 3, "retryOn": "5xx,503"}},
                {"route": [V2], "retries": {"attempts": 3, "retryOn": "503,5xx", "perTryTimeout": "1s"}},
            ],
            {"retries.perTryTimeout": ("no limit", "1s")},
            id="the same conditions in another order",
        ),
        pytest.param(
            [{"match": [{"headers": {"x": {}}}], "route": [V1], "timeout": "1s"}, {"route": [V1], "timeout": "2s"}],
            {},
            id="no route leads to one of the two",
        ),
    ],
)
def test_what_routes_say(routes: Any, expected: dict[str, tuple[str, ...]]) -> None:
    assert found(rule("shop"), virtual_service("shop", routes)) == expected


def test_another_service_with_the_same_versions_is_not_looked_at() -> None:
    other = [service("till"), rule("till", subsets=subsets(None, connect("1s")))]
    assert found(rule("shop"), *other) == {}
