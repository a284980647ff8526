"""What of a host's subsets is missing, and what adds it."""

from typing import Any

import pytest

from control.adapters.kubernetes.routes import Held, held
from control.adapters.kubernetes.subsets import addition

V1, V2 = ({"name": name, "labels": {"version": name}} for name in ("v1", "v2"))
PROOF = {"op": "test", "path": "/metadata/generation", "value": 4}
END = "/spec/subsets/-"
BOTH = ("v1", "v2")


def rule(host: str = "cart", *subsets: Any, **spec: Any) -> Held:
    given = {"host": host, **({"subsets": list(subsets)} if subsets else {}), **spec}
    metadata = {"name": "r", "namespace": "shop", "generation": 4}
    return held(
        {"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": metadata, "spec": given}
    )


CUSTOM = {"name": "v2", "labels": {"track": "canary"}}
CASES: dict[str, tuple[dict[tuple[str, str], Held], Any]] = {
    "all there": ({("shop", "r"): rule("cart", V1, V2)}, None),
    "there with labels of their own": ({("shop", "r"): rule("cart", V1, CUSTOM)}, None),
    "in two rules": ({("shop", "a"): rule("cart", V1), ("shop", "b"): rule("cart", V2)}, None),
    "by its full name": ({("shop", "r"): rule("cart.shop.svc.cluster.local", V1, V2)}, None),
    "one is missing": ({("shop", "r"): rule("cart", V1)}, [PROOF, {"op": "add", "path": END, "value": V2}]),
    "none is there": (
        {("shop", "r"): rule("cart")}, [PROOF, {"op": "add", "path": "/spec/subsets", "value": [V1, V2]}],
    ),
    "only of another host": ({("shop", "r"): rule("basket", V1, V2)}, "cart"),
    "only in a namespace that does not count": ({("other", "r"): rule("cart", V1, V2)}, "cart"),
    "no rule at all": ({}, "cart"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_added(case: str) -> None:
    rules, wanted = CASES[case]
    found = addition(rules, "shop", "cart", BOTH)
    if wanted is None:
        assert found is None
        return
    assert found is not None
    if isinstance(wanted, str):
        assert found.document is not None
        assert found.document["spec"] == {"host": "cart", "subsets": [V1, V2]}
        assert found.rule == "DestinationRule shop/cart"
    else:
        assert (list(found.patch), found.document) == (wanted, None)
