"""Diff: what a person reads when a document changes."""

import pytest

from mesh.istio.diff import ABSENT, Change, diff
from tests.support.doc_documents import SPLIT_ROUTE, document, virtual_service

BASE = virtual_service(SPLIT_ROUTE)
FRONT = "    - name: front\n      redirect: {uri: /}\n"


def sentences(before: str, after: str) -> list[str]:
    return [str(change) for change in diff(document(before), document(after))]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(BASE, BASE, [], id="nothing"),
        pytest.param(BASE, BASE.replace("  hosts", "  # why\n  hosts"), [], id="a comment is no change of meaning"),
        pytest.param(
            BASE,
            BASE.replace("90", "80").replace("10", "20"),
            [
                "spec.http[primary].route[translator v1].weight: 90 -> 80",
                "spec.http[primary].route[translator v2].weight: 10 -> 20",
            ],
            id="weights",
        ),
        pytest.param(
            BASE,
            virtual_service(FRONT + SPLIT_ROUTE),
            ["spec.http[front]: added {name: front, redirect: {uri: /}}"],
            id="a route in front leaves the others alone",
        ),
        pytest.param(
            virtual_service(FRONT + SPLIT_ROUTE),
            BASE,
            ["spec.http[front]: removed {name: front, redirect: {uri: /}}"],
            id="a route that goes",
        ),
        pytest.param(
            virtual_service(FRONT + SPLIT_ROUTE),
            virtual_service(SPLIT_ROUTE + FRONT),
            ["spec.http (order): [front, primary] -> [primary, front]"],
            id="another order of routes",
        ),
        pytest.param(
            BASE.replace("name: primary", "timeout: 1s"),
            BASE.replace("name: primary", "timeout: 2s"),
            ["spec.http[0].timeout: 1s -> 2s"],
            id="routes without names go by position",
        ),
        pytest.param(
            BASE.replace("    - name: primary\n      route", "    - route"),
            BASE.replace("    - name: primary\n      route", "    - {timeout: 1s}\n    - route"),
            [
                "spec.http[0].timeout: added 1s",
                "spec.http[0].route: removed [{destination: {host: translator, subset: v1}, weight: 90},"
                " {destination: {host: translator, subs...",
                "spec.http[1]: added {route: [{destination: {host: translator, subset: v1}, weight: 90},"
                " {destination: {host: translat...",
            ],
            id="long values are cut",
        ),
        pytest.param(
            BASE.replace("subset: v1}", "subset: v1, port: {number: 1}}"),
            BASE.replace("subset: v1}", "subset: v1, port: {number: 2}}"),
            [
                "spec.http[primary].route[translator v1 2]: added"
                " {destination: {host: translator, subset: v1, port: {number: 2}}, weight: 90}",
                "spec.http[primary].route[translator v1 1]: removed"
                " {destination: {host: translator, subset: v1, port: {number: 1}}, weight: 90}",
            ],
            id="another port is another destination",
        ),
        pytest.param(
            virtual_service(FRONT, hosts="[a, b]"),
            virtual_service(FRONT, hosts="[b, c]"),
            ["spec.hosts[c]: added c", "spec.hosts[a]: removed a"],
            id="words",
        ),
        pytest.param(
            virtual_service("    - {name: a, x: null, y: true, z: [{port: {name: p, n: 1}}]}"),
            virtual_service("    - {name: a, x: 1, y: false, z: [{port: {name: p, n: 2}}]}"),
            ["spec.http[a].x: null -> 1", "spec.http[a].y: true -> false", "spec.http[a].z[p].port.n: 1 -> 2"],
            id="null, booleans and ports",
        ),
        pytest.param(
            virtual_service("    - {name: a, w: 1}"),
            virtual_service("    - {name: a, w: true}"),
            ["spec.http[a].w: 1 -> true"],
            id="1 is not true",
        ),
        pytest.param(
            virtual_service("    - {name: a, retries: {}}"),
            virtual_service("    - {name: a}"),
            ["spec.http[a].retries: removed {}"],
            id="an empty block is not an absent one",
        ),
    ],
)
def test_sentences(before: str, after: str, expected: list[str]) -> None:
    assert sentences(before, after) == expected


def test_a_new_document_is_one_change() -> None:
    subject = document(BASE)
    assert diff(None, subject) == (Change("document", ABSENT, dict(subject.data)),)
    assert diff(subject, None) == (Change("document", dict(subject.data), ABSENT),)
    assert diff(None, None) == ()
