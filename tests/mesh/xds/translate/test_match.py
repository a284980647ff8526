"""Which requests does a route take?"""

from typing import Any

import pytest

from tests.support.xlate_documents import client, full, route_of, routes_of, service, to, virtual_hosts, virtual_service

LEAD = {"route": [to("shop")]}


def header(name: str, **match: Any) -> dict[str, Any]:
    return {"name": name} | match


def exact(value: str) -> dict[str, Any]:
    return {"stringMatch": {"exact": value}}


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        pytest.param(None, {"prefix": "/"}, id="no match at all: nothing about case either"),
        pytest.param({}, {"prefix": "/", "caseSensitive": True}, id="an empty match"),
        pytest.param({"uri": {}}, {"prefix": "/", "caseSensitive": True}, id="an empty uri"),
        pytest.param({"uri": {"exact": "/a"}}, {"path": "/a", "caseSensitive": True}, id="exact"),
        pytest.param({"uri": {"prefix": "/foo"}}, {"prefix": "/foo", "caseSensitive": True}, id="prefix is plain"),
        pytest.param(
            {"uri": {"regex": "/v[12]"}}, {"safeRegex": {"regex": "/v[12]"}, "caseSensitive": True}, id="regex"
        ),
        pytest.param({"ignoreUriCase": True}, {"prefix": "/", "caseSensitive": False}, id="ignore case"),
    ],
)
def test_paths(match: Any, expected: Any) -> None:
    found = route_of(**({} if match is None else {"match": [match]}))
    assert found["match"] == expected


@pytest.mark.parametrize(
    ("match", "headers"),
    [
        pytest.param(
            {"headers": {"b": {"exact": "1"}, "a": {"prefix": "x"}}},
            [header("a", stringMatch={"prefix": "x"}), header("b", **exact("1"))],
            id="sorted by name",
        ),
        pytest.param(
            {"headers": {"a": {"regex": ".+"}}}, [header("a", stringMatch={"safeRegex": {"regex": ".+"}})], id="regex"
        ),
        pytest.param({"headers": {"a": {}}}, [header("a", presentMatch=True)], id="empty: present"),
        pytest.param({"headers": {"a": {"regex": "*"}}}, [header("a", presentMatch=True)], id="the star: present"),
        pytest.param(
            {"withoutHeaders": {"a": {"exact": "1"}}},
            [header("a", **exact("1"), invertMatch=True, treatMissingHeaderAsEmpty=True)],
            id="without a value",
        ),
        pytest.param(
            {"withoutHeaders": {"a": {}}}, [header("a", presentMatch=True, invertMatch=True)], id="without it at all"
        ),
        pytest.param(
            {
                "method": {"exact": "GET"},
                "authority": {"exact": "x"},
                "scheme": {"exact": "http"},
                "headers": {"z": {"exact": "1"}},
            },
            [
                header("z", **exact("1")),
                header(":method", **exact("GET")),
                header(":authority", **exact("x")),
                header(":scheme", **exact("http")),
            ],
            id="pseudo headers stand behind",
        ),
        pytest.param(
            {"withoutHeaders": {"a": {"exact": "1"}}, "headers": {"b": {"exact": "2"}}},
            [header("a", **exact("1"), invertMatch=True, treatMissingHeaderAsEmpty=True), header("b", **exact("2"))],
            id="both kinds in one order",
        ),
    ],
)
def test_headers(match: Any, headers: Any) -> None:
    assert route_of(match=[match])["match"]["headers"] == headers


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({"q": {"exact": "1"}}, {"name": "q", "stringMatch": {"exact": "1"}}, id="exact"),
        pytest.param({"q": {"prefix": "1"}}, {"name": "q", "stringMatch": {"prefix": "1"}}, id="prefix"),
        pytest.param({"q": {}}, {"name": "q", "presentMatch": True}, id="present"),
    ],
)
def test_query_parameters(query: Any, expected: Any) -> None:
    assert route_of(match=[{"queryParams": query}])["match"]["queryParameters"] == [expected]


@pytest.mark.parametrize(
    ("match", "carried"),
    [
        pytest.param({"port": 50051}, True, id="the listener's port"),
        pytest.param({"port": 80}, False, id="another port"),
        pytest.param({"sourceLabels": {"app": "client"}}, True, id="the client's label"),
        pytest.param({"sourceLabels": {"app": "other"}}, False, id="another client's label"),
        pytest.param({"sourceLabels": {"app": "client", "more": "x"}}, False, id="one label of two"),
        pytest.param({"sourceNamespace": "default"}, True, id="the client's namespace"),
        pytest.param({"sourceNamespace": "other"}, False, id="another namespace"),
        pytest.param({"gateways": ["mesh"]}, True, id="calls inside the mesh"),
        pytest.param({"gateways": ["edge"]}, False, id="a gateway only"),
        pytest.param(
            {"gateways": ["mesh"], "sourceLabels": {"app": "other"}}, True, id="gateways switch sourceLabels off"
        ),
        pytest.param({"gateways": ["mesh"], "sourceNamespace": "other"}, True, id="and sourceNamespace"),
    ],
)
def test_what_is_settled_before_any_request(match: Any, carried: bool) -> None:
    special = {"name": "special", "match": [match], "route": [to("other")]}
    names = [route.get("name", "") for route in routes_of(special, LEAD)]
    assert ("special" in names) == carried


def test_each_alternative_is_a_route_of_its_own() -> None:
    matches = [{"uri": {"prefix": "/a"}, "name": "one", "statPrefix": "stat"}, {"uri": {"prefix": "/b"}}]
    first, second, last = routes_of({"name": "both", "match": matches, "route": [to("shop")]}, LEAD)
    assert (first["name"], first["statPrefix"], second["name"]) == ("both.one", "stat", "both")
    assert first["route"] == second["route"]
    assert last["match"] == {"prefix": "/"}


@pytest.mark.parametrize(
    ("match", "hides"),
    [
        pytest.param([], True, id="no match"),
        pytest.param([{}], True, id="empty match"),
        pytest.param([{"uri": {"prefix": "/"}}], True, id="root prefix"),
        pytest.param([{"uri": {"regex": ".*"}}], True, id="regex for everything"),
        pytest.param([{"uri": {"prefix": "/a"}}, {"uri": {"prefix": "/"}}], True, id="second alternative"),
        pytest.param([{"uri": {"regex": ".+"}}], False, id="any other regex"),
        pytest.param([{"uri": {"exact": "/"}}], False, id="exact root"),
        pytest.param([{"headers": {"a": {}}}], False, id="a header"),
        pytest.param([{"withoutHeaders": {"a": {}}}], False, id="without a header"),
        pytest.param([{"queryParams": {"a": {}}}], False, id="a query parameter"),
        pytest.param([{"method": {"exact": "GET"}}], False, id="a method"),
        pytest.param([{"port": 80}, {"uri": {"prefix": "/a"}}], False, id="dropped for its port"),
    ],
)
def test_nothing_stands_behind_a_catch_all(match: Any, hides: bool) -> None:
    behind = {"name": "behind", "route": [to("other")]}
    names = [route.get("name", "") for route in routes_of({"match": match, "route": [to("shop")]}, behind)]
    assert ("behind" in names) != hides


def test_a_rule_without_a_carried_route_leaves_the_default_one() -> None:
    documents = [*client(), service("shop"), virtual_service("shop", [{"match": [{"port": 1}], "route": [to("shop")]}])]
    (only,) = virtual_hosts(documents)[f"{full('shop')}:50051"]["routes"]
    assert only["name"] == "default"
