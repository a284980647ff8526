"""By what is a request told apart, and where does a retry of it go?"""

from typing import Any

import pytest

from tests.support.xlate_documents import PORT, client, full, rule, service, to, virtual_hosts, virtual_service


def routes(rules: Any, *http: Any) -> list[Any]:
    documents = [*client(), service("shop"), service("other"), *rules]
    documents += [virtual_service("shop", http)] if http else []
    found: list[Any] = virtual_hosts(documents)[f"{full('shop')}:{PORT}"]["routes"]
    return found


def policies(rules: Any, *http: Any) -> list[Any]:
    return [route["route"].get("hashPolicy", []) for route in routes(rules, *http)]


def hashed(key: Any, **more: Any) -> dict[str, Any]:
    return {"loadBalancer": {"consistentHash": key}} | more


def by(header: str) -> dict[str, Any]:
    return hashed({"httpHeaderName": header})


def header(name: str) -> list[Any]:
    return [{"header": {"headerName": name}}]


ONE = {"route": [to("shop")]}
COOKIE = {"name": "c", "ttl": "0s", "path": "/", "attributes": [{"name": "Secure"}]}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        pytest.param({"httpHeaderName": "x-a"}, header("x-a"), id="a header"),
        pytest.param({"httpQueryParameterName": "q"}, [{"queryParameter": {"name": "q"}}], id="a parameter"),
        pytest.param({"useSourceIp": True}, [{"connectionProperties": {"sourceIp": True}}], id="who calls"),
        pytest.param({"useSourceIp": False}, [{"connectionProperties": {}}], id="not who calls"),
        pytest.param(
            {"httpCookie": COOKIE},
            [{"cookie": {"name": "c", "ttl": "0s", "path": "/", "attributes": [{"name": "Secure"}]}}],
            id="a cookie of the session",
        ),
        pytest.param({"httpCookie": {"name": "c"}}, [{"cookie": {"name": "c"}}], id="a cookie that is only read"),
        pytest.param({"ringHash": {}}, [], id="nothing"),
    ],
)
@pytest.mark.parametrize("http", [(), (ONE,)], ids=["without a VirtualService", "with one"])
def test_keys(key: Any, expected: Any, http: Any) -> None:
    assert policies([rule("shop", trafficPolicy=hashed(key))], *http) == [expected]


LEVEL = {"portLevelSettings": [{"port": {"number": PORT}, **by("x-port")}]}
AT_PORT = {"destination": {"host": "shop", "port": {"number": PORT}}}


def with_subset(**policy: Any) -> list[Any]:
    return [{"name": "v1", "labels": {"version": "v1"}, "trafficPolicy": policy}]


@pytest.mark.parametrize(
    ("rules", "route", "expected"),
    [
        pytest.param([], [to("shop")], [], id="no rule"),
        pytest.param([rule("shop", trafficPolicy=by("x-a") | LEVEL)], [AT_PORT], header("x-port"), id="a named port's"),
        pytest.param([rule("shop", trafficPolicy=by("x-a") | LEVEL)], [to("shop")], header("x-a"), id="no port named"),
        pytest.param(
            [rule("shop", trafficPolicy=by("x-a"), subsets=with_subset(**by("x-v1")))],
            [to("shop", "v1")],
            header("x-v1"),
            id="a subset's",
        ),
        pytest.param(
            [rule("shop", trafficPolicy=by("x-a"))],
            [to("shop", "v1", 1), to("shop", "v2", 1), to("other", weight=1)],
            header("x-a") * 2,
            id="of each destination that hashes",
        ),
        pytest.param(
            [rule("shop", trafficPolicy=by("x-a"))],
            [to("shop", "v1", 0), to("other", weight=1)],
            [],
            id="of none that gets nothing",
        ),
    ],
)
def test_whose_key_counts(rules: Any, route: Any, expected: Any) -> None:
    assert policies(rules, {"route": route}) == [expected]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param(by("x-a") | LEVEL, header("x-port"), id="the port's"),
        pytest.param(
            by("x-a") | {"portLevelSettings": [{"port": {"number": PORT}, "loadBalancer": {"simple": "RANDOM"}}]},
            header("x-a"),
            id="the rule's where the port says nothing of it",
        ),
    ],
)
def test_a_services_own_route_looks_at_its_port(policy: Any, expected: Any) -> None:
    assert policies([rule("shop", trafficPolicy=policy)]) == [expected]


@pytest.mark.parametrize(
    ("http", "elsewhere"),
    [
        pytest.param(ONE, False, id="one destination: the same endpoint again"),
        pytest.param(ONE | {"retries": {"attempts": 3}}, False, id="with retries of its own"),
        pytest.param(
            ONE | {"retries": {"attempts": 3, "retryIgnorePreviousHosts": True}}, True, id="unless the document says so"
        ),
        pytest.param({"route": [to("shop", "v1", 1), to("shop", "v2", 1)]}, True, id="several: another endpoint"),
    ],
)
def test_retries_of_what_is_hashed(http: Any, elsewhere: bool) -> None:
    (only,) = routes([rule("shop", trafficPolicy=by("x-a"))], http)
    assert bool(only["route"]["retryPolicy"].get("retryHostPredicate")) is elsewhere


def test_a_rule_for_some_callers_hashes_for_them_only() -> None:
    chosen = rule("shop", trafficPolicy=by("x-a"), workloadSelector={"matchLabels": {"app": "else"}})
    assert policies([chosen], ONE) == [[]]
