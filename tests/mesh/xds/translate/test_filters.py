"""What do a route's own filters do: faults, CORS, copies?"""

from typing import Any

import pytest

from tests.support.xlate_documents import full, route_of, to

FAULT, CORS = "envoy.filters.http.fault", "envoy.filters.http.cors"


def config(name: str, **http: Any) -> Any:
    found = dict(route_of(**http)["typedPerFilterConfig"][name])
    del found["@type"]
    return found


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(
            {"delay": {"fixedDelay": "1.5s", "percentage": {"value": 0.1}}},
            {"delay": {"fixedDelay": "1.500s", "percentage": {"numerator": 1000, "denominator": "MILLION"}}},
            id="a wait for some",
        ),
        pytest.param(
            {"delay": {"fixedDelay": "1s", "percent": 7}},
            {"delay": {"fixedDelay": "1s", "percentage": {"numerator": 7}}},
            id="the older integer is in hundredths",
        ),
        pytest.param({"delay": {"fixedDelay": "1s"}}, {"delay": {"fixedDelay": "1s", "percentage": {}}}, id="no share"),
        pytest.param({"delay": {"percent": 7}}, {}, id="no length, no wait"),
        pytest.param(
            {"abort": {"httpStatus": 503, "percentage": {"value": 100}}},
            {"abort": {"httpStatus": 503, "percentage": {"numerator": 1000000, "denominator": "MILLION"}}},
            id="an answer of HTTP",
        ),
        pytest.param(
            {"abort": {"grpcStatus": "UNAVAILABLE"}}, {"abort": {"grpcStatus": 14}}, id="an answer of gRPC, by number"
        ),
        pytest.param({"abort": {"grpcStatus": "OK"}}, {"abort": {"grpcStatus": 0}}, id="number 0 is written"),
        pytest.param({"abort": {"percentage": {"value": 1}}}, {}, id="no answer, no abort"),
    ],
)
def test_faults(fault: Any, expected: Any) -> None:
    assert config(FAULT, fault=fault) == expected


EVERY = {"filterEnabled": {"defaultValue": {"numerator": 100}}, "forwardNotMatchingPreflights": True}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param({}, EVERY, id="nothing said"),
        pytest.param(
            {"allowOrigins": [{"exact": "a"}, {"prefix": "b"}, {"regex": "c.*"}]},
            EVERY | {"allowOriginStringMatch": [{"exact": "a"}, {"prefix": "b"}, {"safeRegex": {"regex": "c.*"}}]},
            id="origins",
        ),
        pytest.param({"allowOrigin": ["a"]}, EVERY | {"allowOriginStringMatch": [{"exact": "a"}]}, id="old origins"),
        pytest.param(
            {"allowMethods": ["GET", "PUT"], "allowHeaders": ["x-a", "x-b"], "exposeHeaders": ["x-c"]},
            EVERY | {"allowMethods": "GET,PUT", "allowHeaders": "x-a,x-b", "exposeHeaders": "x-c"},
            id="lists are joined",
        ),
        pytest.param(
            {"maxAge": "24h", "allowCredentials": False},
            EVERY | {"maxAge": "86400", "allowCredentials": False},
            id="seconds, and a no that is written",
        ),
        pytest.param(
            {"unmatchedPreflights": "IGNORE"},
            EVERY | {"forwardNotMatchingPreflights": False},
            id="other preflights go no further",
        ),
    ],
)
def test_cors(policy: Any, expected: Any) -> None:
    assert config(CORS, corsPolicy=policy) == expected


def shadow(percent: Any, host: str = "other") -> Any:
    return {
        "cluster": f"outbound|50051||{full(host)}",
        "runtimeFraction": {"defaultValue": percent},
        "traceSampled": False,
        "disableShadowHostSuffixAppend": True,
    }


ALL = {"numerator": 100}


@pytest.mark.parametrize(
    ("http", "expected"),
    [
        pytest.param({"mirror": {"host": "other"}}, [shadow(ALL)], id="all requests"),
        pytest.param(
            {"mirror": {"host": "other"}, "mirrorPercentage": {"value": 0.29}},
            [shadow({"numerator": 2900, "denominator": "MILLION"})],
            id="a share in millionths",
        ),
        pytest.param({"mirror": {"host": "other"}, "mirrorPercent": 3}, [shadow({"numerator": 3})], id="the older one"),
        pytest.param({"mirror": {"host": "other"}, "mirrorPercentage": {"value": 0}}, None, id="0 mirrors nothing"),
        pytest.param({"mirror": {"host": "other"}, "mirrorPercentage": {}}, None, id="nothing in it is 0"),
        pytest.param({"mirrorPercentage": {"value": 5}}, None, id="a share of no mirror"),
        pytest.param(
            {
                "mirrors": [
                    {"destination": {"host": "other"}},
                    {"destination": {"host": "shop"}, "percentage": {"value": 50}},
                    {"destination": {"host": "nobody"}, "percentage": {"value": 0}},
                ]
            },
            [shadow(ALL), shadow({"numerator": 500000, "denominator": "MILLION"}, "shop")],
            id="several",
        ),
    ],
)
def test_copies(http: Any, expected: Any) -> None:
    assert route_of(**http)["route"].get("requestMirrorPolicies") == expected


def test_filters_of_a_redirect_stay() -> None:
    assert config(CORS, redirect={"uri": "/"}, corsPolicy={}) == EVERY


def test_a_route_without_filters_says_nothing_of_them() -> None:
    assert "typedPerFilterConfig" not in route_of(route=[to("shop")])
