"""What happens to headers, and at which level?"""

from typing import Any

import pytest

from tests.support.xlate_documents import route_of, to

HEADERS = ("requestHeadersToAdd", "requestHeadersToRemove", "responseHeadersToAdd", "responseHeadersToRemove")


def put(name: str, value: str) -> dict[str, Any]:
    return {"header": {"key": name, "value": value}, "appendAction": "OVERWRITE_IF_EXISTS_OR_ADD"}


def added(name: str, value: str) -> dict[str, Any]:
    return {"header": {"key": name, "value": value}}


def lists(owner: Any) -> dict[str, Any]:
    return {name: owner[name] for name in HEADERS if name in owner}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"request": {"add": {"a": "3"}, "set": {"c": "1", "b": "2"}}},
            {"requestHeadersToAdd": [put("b", "2"), put("c", "1"), added("a", "3")]},
            id="set before add, each sorted",
        ),
        pytest.param(
            {"request": {"remove": ["b", "a"]}}, {"requestHeadersToRemove": ["b", "a"]}, id="removed in document order"
        ),
        pytest.param(
            {"response": {"set": {"a": "1"}, "remove": ["x"]}},
            {"responseHeadersToAdd": [put("a", "1")], "responseHeadersToRemove": ["x"]},
            id="on the way back",
        ),
        pytest.param({"request": {"set": {"host": "x"}}}, {}, id="the host is no header"),
    ],
)
def test_a_routes_own_operations(headers: Any, expected: Any) -> None:
    assert lists(route_of(headers=headers)) == expected


def test_a_single_destinations_operations_follow_the_routes() -> None:
    found = route_of(
        headers={"request": {"add": {"z": "route"}}},
        route=[to("shop", headers={"request": {"add": {"a": "destination"}}, "response": {"remove": ["x"]}})],
    )
    assert lists(found) == {
        "requestHeadersToAdd": [added("z", "route"), added("a", "destination")],
        "responseHeadersToRemove": ["x"],
    }


def test_several_destinations_keep_their_own() -> None:
    found = route_of(
        headers={"request": {"set": {"z": "route"}}},
        route=[to("shop", "v1", 1, headers={"request": {"set": {"a": "1"}, "remove": ["r"]}}), to("shop", "v2", 1)],
    )
    first, second = found["route"]["weightedClusters"]["clusters"]
    assert lists(found) == {"requestHeadersToAdd": [put("z", "route")]}
    assert lists(first) == {"requestHeadersToAdd": [put("a", "1")], "requestHeadersToRemove": ["r"]}
    assert lists(second) == {}


HOST = {"request": {"set": {"host": "by-destination"}}}


@pytest.mark.parametrize(
    ("http", "authority"),
    [
        pytest.param({}, None, id="untouched"),
        pytest.param({"headers": {"request": {"set": {"Host": "a"}}}}, "a", id="set host"),
        pytest.param({"headers": {"request": {"add": {":authority": "a"}}}}, "a", id="add authority"),
        pytest.param({"headers": {"request": {"add": {"host": "a"}, "set": {"host": "s"}}}}, "s", id="set before add"),
        pytest.param({"rewrite": {"authority": "r"}}, "r", id="rewrite"),
        pytest.param(
            {"rewrite": {"authority": "r"}, "headers": {"request": {"set": {"host": "h"}}}},
            "r",
            id="rewrite over headers",
        ),
        pytest.param({"route": [to("shop", headers=HOST)]}, "by-destination", id="a single destination's"),
        pytest.param(
            {"rewrite": {"authority": "r"}, "route": [to("shop", headers=HOST)]},
            "r",
            id="the route's over the destination's",
        ),
        pytest.param({"headers": {"response": {"set": {"host": "a"}}}}, None, id="a response has no authority"),
    ],
)
def test_authority(http: Any, authority: str | None) -> None:
    assert route_of(**http)["route"].get("hostRewriteLiteral") == authority


def test_the_authority_of_one_destination_of_several_is_its_own() -> None:
    found = route_of(route=[to("shop", "v1", 1, headers=HOST), to("shop", "v2", 1)])
    first, second = found["route"]["weightedClusters"]["clusters"]
    assert (first.get("hostRewriteLiteral"), second.get("hostRewriteLiteral")) == ("by-destination", None)
    assert "hostRewriteLiteral" not in found["route"]
