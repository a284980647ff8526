"""What do VirtualServices say that pass routes on?"""

from typing import Any

import pytest

from mesh.istio.string_match import MatchKind, StringMatch
from mesh.istio.views_virtual_service import virtual_service as view
from mesh.xds.translate.delegates import with_delegates
from tests.support.xlate_documents import make, to, virtual_service

ROUTE = {"route": [to("shop")]}


def leaf(*http: Any, **more: Any) -> Any:
    return make("VirtualService", "leaf", {"http": [ROUTE | each for each in http]} | more.pop("spec", {}), **more)


def merged(root: Any, *leaves: Any) -> Any:
    rules = with_delegates([view(document) for document in (virtual_service("shop", [root]), *leaves)])
    (only,) = rules
    return only


def matched(root: Any, own: Any) -> list[Any]:
    """The alternatives of the only route of both together; empty when it is left out."""
    found = merged({"match": root, "delegate": {"name": "leaf"}} if root else {"delegate": {"name": "leaf"}}, leaf(own))
    return [match for route in found.http for match in route.matches]


def prefix(value: str) -> dict[str, Any]:
    return {"uri": {"prefix": value}}


@pytest.mark.parametrize(
    ("root", "own", "fits"),
    [
        pytest.param([prefix("/a")], [prefix("/a/b")], True, id="a longer prefix"),
        pytest.param([prefix("/a")], [{"uri": {"exact": "/a/b"}}], True, id="a value with the prefix"),
        pytest.param([prefix("/a/b")], [prefix("/a")], False, id="a shorter prefix"),
        pytest.param([{"uri": {"exact": "/a"}}], [{"uri": {"exact": "/a"}}], True, id="one value"),
        pytest.param([{"uri": {"exact": "/a"}}], [prefix("/a")], False, id="a prefix of the one value"),
        pytest.param([{"uri": {"regex": "/a.*"}}], [prefix("/a")], False, id="a regex and anything"),
        pytest.param([prefix("/a")], [{"uri": {"regex": "/a.*"}}], False, id="anything and a regex"),
        pytest.param([{"uri": {"regex": "/a.*"}}], [{"method": {"exact": "GET"}}], True, id="a regex alone"),
        pytest.param([{"headers": {"a": {"exact": "1"}}}], [{"headers": {"a": {"exact": "2"}}}], False, id="a header"),
        pytest.param(
            [{"headers": {"a": {"exact": "1"}}}], [{"headers": {"b": {"exact": "2"}}}], True, id="two headers"
        ),
        pytest.param([{"withoutHeaders": {"a": {}}}], [{"withoutHeaders": {"a": {}}}], False, id="presence, twice"),
        pytest.param([{"queryParams": {"a": {"exact": "1"}}}], [{"queryParams": {"a": {}}}], False, id="a parameter"),
        pytest.param([{"ignoreUriCase": True}], [prefix("/a")], False, id="another case"),
        pytest.param([{"port": 1}], [{"port": 2}], False, id="another port"),
        pytest.param([{"port": 1}], [prefix("/a")], True, id="a port alone"),
        pytest.param([{"sourceNamespace": "a"}], [prefix("/a")], False, id="a namespace that the leaf doesn't name"),
        pytest.param([prefix("/a")], [{"sourceNamespace": "a"}], True, id="a namespace that only the leaf names"),
        pytest.param([{"sourceLabels": {"a": "1"}}], [{"sourceLabels": {"a": "2"}}], False, id="another label"),
        pytest.param([{"sourceLabels": {"a": "1"}}], [{"sourceLabels": {"b": "2"}}], True, id="one more label"),
        pytest.param([{"gateways": ["mesh"]}], [{"gateways": ["mesh", "a"]}], False, id="one more gateway"),
        pytest.param([{"gateways": ["mesh", "a"]}], [{"gateways": ["a"]}], True, id="fewer gateways"),
        pytest.param([prefix("/a"), prefix("/b")], [prefix("/b/c")], True, id="one of several"),
        pytest.param([prefix("/a")], [prefix("/a/b"), prefix("/c")], False, id="one outside leaves all out"),
    ],
)
def test_a_delegates_route_takes_only_what_its_root_takes(root: Any, own: Any, fits: bool) -> None:
    assert bool(matched(root, {"match": own})) is fits


def test_conditions_of_both() -> None:
    root = [{"name": "r", "headers": {"a": {"exact": "1"}}, "statPrefix": "s", "gateways": ["mesh"]}]
    (found,) = matched(root, {"match": [{"name": "l", "headers": {"b": {}}, "method": {"exact": "GET"}}]})
    assert (found.name, found.stat_prefix, found.gateways) == ("r-l", "s", ("mesh",))
    assert found.headers == (("a", StringMatch(MatchKind.EXACT, "1")), ("b", StringMatch(MatchKind.PRESENT)))
    assert found.method == StringMatch(MatchKind.EXACT, "GET")


@pytest.mark.parametrize(
    ("root", "own", "count"),
    [
        pytest.param([], {"match": [prefix("/a"), prefix("/b")]}, 2, id="the leaf's"),
        pytest.param([prefix("/a"), prefix("/b")], {}, 2, id="the root's"),
        pytest.param([], {}, 0, id="of nobody"),
        pytest.param([prefix("/a"), prefix("/a/b")], {"match": [prefix("/a/b/c")]}, 2, id="of each that fits"),
    ],
)
def test_whose_alternatives(root: Any, own: Any, count: int) -> None:
    assert len(matched(root, own)) == count


HEADERS = {"request": {"set": {"x": "1"}}}
BLOCKS: list[tuple[str, Any, str]] = [
    ("rewrite", {"uri": "/a"}, "rewrite"),
    ("timeout", "1s", "timeout"),
    ("retries", {"attempts": 3}, "retries"),
    ("fault", {"abort": {"httpStatus": 500}}, "fault"),
    ("mirror", {"host": "other"}, "mirror"),
    ("mirrorPercentage", {"value": 3}, "mirror_percentage"),
    ("mirrorPercent", 3, "mirror_percent"),
    ("mirrors", [{"destination": {"host": "other"}}], "mirrors"),
    ("corsPolicy", {"allowMethods": ["GET"]}, "cors"),
    ("headers", HEADERS, "headers"),
    ("directResponse", {"status": 200}, "direct_response"),
]


@pytest.mark.parametrize(("name", "value", "field"), BLOCKS, ids=[name for name, *_ in BLOCKS])
def test_a_block_of_the_root_stands_where_the_leaf_has_none(name: str, value: Any, field: str) -> None:
    (found,) = merged({name: value, "delegate": {"name": "leaf"}}, leaf({})).http
    assert getattr(found, field) not in (None, ())


def test_a_block_of_the_leaf_replaces_the_roots_as_a_whole() -> None:
    """The root's header operations are gone, though they touch other headers: istiod does so, and a lint warns."""
    own = {"headers": {"response": {"remove": ["y"]}}, "retries": {}}
    (found,) = merged({"headers": HEADERS, "retries": {"attempts": 5}, "delegate": {"name": "leaf"}}, leaf(own)).http
    assert found.headers is not None
    assert (found.headers.request.set, found.headers.response.remove) == ((), ("y",))
    assert found.retries is not None
    assert found.retries.attempts == 0


@pytest.mark.parametrize(
    ("root", "own", "name"),
    [
        pytest.param("r", "l", "r-l", id="both"),
        pytest.param("", "l", "l", id="the leaf's"),
        pytest.param("r", "", "r", id="the root's"),
        pytest.param("", "", "", id="none"),
    ],
)
def test_names(root: str, own: str, name: str) -> None:
    (found,) = merged({"name": root, "delegate": {"name": "leaf"}}, leaf({"name": own})).http
    assert found.name == name


@pytest.mark.parametrize(
    ("where", "leaves", "count"),
    [
        pytest.param({"name": "leaf"}, [leaf({})], 1, id="in the same namespace"),
        pytest.param({"name": "leaf"}, [leaf({}, namespace="far")], 0, id="not elsewhere"),
        pytest.param({"name": "leaf", "namespace": "far"}, [leaf({}, namespace="far")], 1, id="elsewhere by name"),
        pytest.param(
            {"name": "leaf", "namespace": "far"},
            [leaf({}, namespace="far", spec={"exportTo": ["."]})],
            0,
            id="not exported",
        ),
        pytest.param({"name": "nobody"}, [leaf({})], 0, id="missing"),
    ],
)
def test_where_delegates_are_found(where: Any, leaves: Any, count: int) -> None:
    assert len(merged({"delegate": where}, *leaves).http) == count


def test_a_root_is_made_from_its_delegates_too() -> None:
    found = merged({"delegate": {"name": "leaf"}}, leaf({}))
    assert [key[2] for key in found.sources] == ["shop", "leaf"]
    other = merged({"delegate": {"name": "leaf"}}, leaf({"timeout": "1s"}))
    assert found.revision != other.revision
