"""Which DestinationRule holds for a call?"""

from typing import Any

import pytest

from tests.support.xlate_documents import client, full, resources, rule, service

ROOT = "istio-system"


def subset(name: str) -> dict[str, Any]:
    return {"subsets": [{"name": name}]}


def found_subsets(*rules: Any, of: str = "default", at: str = "shops") -> set[str]:
    """The subsets of `shop` in namespace `at` that a client in namespace `of` has clusters for."""
    documents = [*client(hosts=["*/*"], namespace=of), service("shop", namespace=at), *rules]
    found = resources(documents, f"client.{of}")
    return {name.split("|")[2] for name in found.clusters if name.startswith("outbound")} - {""}


SHOP = full("shop", "shops")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param([], set(), id="none"),
        pytest.param([rule("shop", namespace="shops", **subset("s"))], {"s"}, id="the service's namespace"),
        pytest.param([rule(SHOP, namespace=ROOT, **subset("r"))], {"r"}, id="the root namespace"),
        pytest.param([rule(SHOP, namespace="third", **subset("t"))], set(), id="a third namespace counts for nothing"),
        pytest.param(
            [rule(SHOP, **subset("c")), rule("shop", namespace="shops", **subset("s"))], {"c"}, id="the client's first"
        ),
        pytest.param(
            [rule("shop", namespace="shops", **subset("s")), rule(SHOP, namespace=ROOT, **subset("r"))],
            {"s"},
            id="the service's before the root",
        ),
        pytest.param(
            [rule("shop", namespace="shops", exportTo=["."], **subset("s")), rule(SHOP, namespace=ROOT, **subset("r"))],
            {"r"},
            id="not exported",
        ),
        pytest.param(
            [rule("shop", namespace="shops", exportTo=["default"], **subset("s"))], {"s"}, id="exported to the client"
        ),
        pytest.param([rule(SHOP, exportTo=["nowhere"], **subset("c"))], set(), id="what is for others is not its own"),
        pytest.param([rule(SHOP, exportTo=["default"], **subset("c"))], {"c"}, id="exported to its own by name"),
        pytest.param([rule("*.svc.cluster.local", **subset("w"))], {"w"}, id="a wildcard"),
        pytest.param([rule("*", name="all", **subset("w"))], {"w"}, id="everything"),
        pytest.param(
            [rule("*.svc.cluster.local", **subset("w")), rule(SHOP, name="x", **subset("e"))],
            {"e"},
            id="exact before wildcard",
        ),
        pytest.param(
            [
                rule("*.svc.cluster.local", name="a", **subset("w")),
                rule("*.shops.svc.cluster.local", name="b", **subset("l")),
            ],
            {"l"},
            id="the longest wildcard",
        ),
        pytest.param([rule("*.example.com", **subset("w"))], set(), id="another wildcard"),
        pytest.param([rule("shop", **subset("mine"))], set(), id="a short name is its own namespace's"),
    ],
)
def test_where_rules_are_looked_up(rules: Any, expected: set[str]) -> None:
    assert found_subsets(*rules) == expected


def test_a_client_in_the_root_namespace_asks_the_services_first() -> None:
    rules = [rule(SHOP, namespace=ROOT, **subset("r")), rule("shop", namespace="shops", **subset("s"))]
    assert found_subsets(*rules, of=ROOT) == {"s"}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(subset("a"), subset("b"), {"a", "b"}, id="subsets of both"),
        pytest.param(
            subset("a") | {"exportTo": ["*"]}, subset("b"), {"b"}, id="another exportTo stands apart: the last counts"
        ),
        pytest.param(
            subset("a") | {"exportTo": ["."]},
            subset("b") | {"exportTo": [".", "else"]},
            {"a", "b"},
            id="a wider exportTo is taken in",
        ),
        pytest.param(
            subset("a"),
            subset("b") | {"workloadSelector": {"matchLabels": {"app": "client"}}},
            {"b"},
            id="a selector that fits comes first",
        ),
        pytest.param(
            subset("a"),
            subset("b") | {"workloadSelector": {"matchLabels": {"app": "else"}}},
            {"a"},
            id="one that doesn't is nothing",
        ),
    ],
)
def test_several_rules_for_one_host(first: Any, second: Any, expected: set[str]) -> None:
    rules = [rule("shop", name="first", **first), rule("shop", name="second", **second)]
    assert found_subsets(*rules, at="default") == expected


def test_only_a_selector_that_does_not_fit_leaves_no_rule() -> None:
    only = rule("shop", workloadSelector={"matchLabels": {"app": "else"}}, **subset("a"))
    assert found_subsets(only, at="default") == set()


def test_a_selector_counts_in_the_clients_namespace_only() -> None:
    theirs = rule("shop", namespace="shops", workloadSelector={"matchLabels": {"app": "client"}}, **subset("s"))
    assert found_subsets(theirs) == set()


def test_of_two_subsets_with_one_name_the_older_is_kept_and_so_is_the_first_policy() -> None:
    old = rule("shop", name="z", created="2026-01-01T00:00:00Z", subsets=[{"name": "v", "labels": {"version": "v1"}}])
    new = rule(
        "shop",
        name="a",
        created="2026-02-01T00:00:00Z",
        subsets=[{"name": "v", "labels": {"version": "v2"}}],
        trafficPolicy={"connectionPool": {"tcp": {"connectTimeout": "1s"}}},
    )
    from tests.support.xlate_envoy import as_json

    found = resources([*client(), service("shop"), new, old])
    name = f"outbound|50051|v|{full('shop')}"
    (locality,) = as_json(found.endpoints[name])["endpoints"]
    assert [place["endpoint"]["address"]["socketAddress"]["address"] for place in locality["lbEndpoints"]] == [
        "127.9.0.1"
    ]
    assert as_json(found.clusters[name])["connectTimeout"] == "1s"
