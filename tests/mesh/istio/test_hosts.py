"""Which host does a name mean, and does it match?"""

import pytest

from mesh.istio.hosts import covers, full_name, overlap, specificity


@pytest.mark.parametrize(
    ("host", "namespace", "expected"),
    [
        ("a", "shop", "a.shop.svc.cluster.local"),
        ("A", "shop", "a.shop.svc.cluster.local"),
        ("a.b", "shop", "a.b"),
        ("*", "shop", "*"),
        ("*.example.com", "shop", "*.example.com"),
    ],
)
def test_short_names(host: str, namespace: str, expected: str) -> None:
    assert full_name(host, namespace) == expected


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("a.b", "a.b", True),
        ("a.b", "c.b", False),
        ("*", "a.b", True),
        ("*", "*.b", True),
        ("*.b", "a.b", True),
        ("*.b", "a.c.b", True),
        ("*.b", "b", False),
        ("*.b", "*.c.b", True),
        ("*.c.b", "*.b", False),
        ("a.b", "*.b", False),
    ],
)
def test_covers(pattern: str, host: str, expected: bool) -> None:
    assert covers(pattern, host) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("*.b", "a.b", "a.b"), ("a.b", "*.b", "a.b"), ("a.b", "a.b", "a.b"), ("a.b", "c.b", None), ("*", "*.b", "*.b")],
)
def test_overlap(left: str, right: str, expected: str | None) -> None:
    assert overlap(left, right) == expected


def test_the_most_specific_host_comes_first() -> None:
    assert sorted(["*", "*.b", "*.a.b", "x.a.b"], key=specificity) == ["x.a.b", "*.a.b", "*.b", "*"]
