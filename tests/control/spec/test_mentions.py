"""What a text names of the mesh, however much else is wrong with it."""

from fractions import Fraction

import pytest

from control.spec import read_draft
from control.spec.strategy import RUNGS
from mesh.traffic import RouteRef

TEXT = """\
metadata: {name: translator, namespace: shop}
spec:
  target:
    host: translator
    routes: [{virtualService: translator, route: primary}, {virtualService: edge, namespace: ingress}]
  stable: v1
  canary: v2
  strategy: {steps: [5%, 100%]}
"""
HOST = "translator.shop.svc.cluster.local"
PRIMARY, EDGE = RouteRef("shop", "translator", "primary"), RouteRef("ingress", "edge")


@pytest.mark.parametrize(
    ("old", "new", "refs"),
    [
        pytest.param("", "", [PRIMARY, EDGE], id="all of them"),
        pytest.param("virtualService: translator", "virtualService: T", [EDGE], id="a name that can't be one"),
        pytest.param("route: primary", "rout: primary", [EDGE], id="an unknown field: who knows what is meant"),
        pytest.param("namespace: shop", "namespace: S", [EDGE], id="a namespace that can't be one"),
        pytest.param("metadata: {", "metadata: [{}]\nm: {", [RouteRef("default", "translator", "primary"), EDGE],
                     id="no namespace at all"),
        pytest.param("routes: [", "routes: 7 #", [], id="no list of routes"),
        pytest.param("{", "{{", [], id="no YAML"),
        pytest.param(TEXT, "7", [], id="no mapping"),
    ],
)  # fmt: skip
def test_routes_that_can_be_read(old: str, new: str, refs: list[RouteRef]) -> None:
    found = read_draft((TEXT.replace(old, new) if old else TEXT).encode(), "x").mentions()
    assert [each.ref for each in found.routes] == refs


@pytest.mark.parametrize(
    ("old", "new", "shares"),
    [
        pytest.param("", "", [Fraction(1, 20), Fraction(1)], id="all of them"),
        pytest.param("5%", "500%", [Fraction(1)], id="without those that are none"),
        pytest.param("strategy", "strtegy", [*RUNGS, Fraction(1)], id="those of evidence, where no plan is given"),
        pytest.param("{steps: [5%, 100%]}", "{steps: 7}", [Fraction(1)], id="the last one is always meant"),
        pytest.param(
            "{steps: [5%, 100%]}",
            "{rungs: [2%, x], first: 1%, bake: {at: 30%}}",
            [Fraction(1, 100), Fraction(1, 50), Fraction(3, 10), Fraction(1)],
            id="rungs, the first share and that of the bake",
        ),
        pytest.param("stable: v1", "stable: [", [], id="no stable"),
        pytest.param("canary: v2", "canary: v1", [], id="one version only"),
        pytest.param("host: translator", "host: 7", [], id="no host"),
        pytest.param("namespace: shop", "namespace: S", [], id="no namespace that can be one"),
    ],
)
def test_splits_that_can_be_read(old: str, new: str, shares: list[Fraction]) -> None:
    found = read_draft((TEXT.replace(old, new) if old else TEXT).encode(), "x").mentions()
    assert [each.canary_share for each in found.splits] == shares
    assert {(each.host, each.stable, each.canary) for each in found.splits} <= {(HOST, "v1", "v2")}
