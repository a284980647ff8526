"""Is every field looked up, and nothing ignored?"""

import json
import re
from typing import Any

import pytest

from mesh.istio.document import Document, read_documents
from mesh.istio.support import dotted, unsupported
from mesh.istio.support_table import TABLE


def document(kind: str, spec: Any, **more: Any) -> Document:
    group = "security" if kind == "PeerAuthentication" else "networking"
    data = {"apiVersion": f"{group}.istio.io/v1", "kind": kind, "metadata": {"name": "it"}, "spec": spec} | more
    found, problems = read_documents("it.yaml", json.dumps(data).encode())
    assert not problems, problems
    return found[0]


def messages(kind: str, spec: Any, **more: Any) -> list[str]:
    return [problem.message for problem in unsupported(document(kind, spec, **more))]


def http(**route: Any) -> Any:
    return {"hosts": ["a"], "http": [{"route": [{"destination": {"host": "a"}}]} | route]}


NOTHING = "nothing (leave the field out, or write {} for an empty block)"
RE2 = "a regular expression of RE2: no look-around, no back-references, nothing possessive"
DOUBLED = "text in which % stands doubled or around an Envoy operator"
LOOPBACK = "a loopback address such as 127.0.0.2, for the local mesh listens nowhere else"
PROTOCOLS = "HTTP, HTTP2, GRPC, GRPC-WEB, http, http2, grpc, grpc-web"
SERVER = {"port": {"number": 80, "protocol": "HTTP"}, "bind": "127.0.0.2", "hosts": ["*"]}
PORT = {"number": 80, "protocol": "HTTP", "name": "http"}
FINE = {
    "VirtualService": http(),
    "DestinationRule": {"host": "a"},
    "Gateway": {"servers": [SERVER]},
    "ServiceEntry": {"hosts": ["a.b"], "ports": [PORT], "resolution": "STATIC"},
    "WorkloadEntry": {"address": "127.0.0.2"},
    "Sidecar": {"egress": [{"hosts": ["~/*"]}]},
    "PeerAuthentication": {"mtls": {"mode": "DISABLE"}},
}


@pytest.mark.parametrize("kind", TABLE)
def test_the_least_of_each_kind_is_fine(kind: str) -> None:
    assert messages(kind, FINE[kind]) == []


def test_what_the_api_server_adds_is_fine() -> None:
    metadata = {
        "name": "it",
        "labels": {"a": "b"},
        "annotations": {"tidegate.dev/hands-off": "true"},
        "creationTimestamp": None,
        "resourceVersion": "7",
        "managedFields": [{"manager": "kubectl"}],
    }
    assert messages("DestinationRule", FINE["DestinationRule"], metadata=metadata, status={"any": ["thing"]}) == []


REFUSED = [
    (kind, row.path, row.refused)
    for kind, rows in TABLE.items()
    for row in rows
    if row.refused and not row.path.startswith("spec.subsets[].trafficPolicy.")
]


def grown(path: str, base: Any) -> Any:
    """The spec with something at this path, everything on the way made up."""
    spec = json.loads(json.dumps(base))
    node = spec
    *parents, last = path.split(".")[1:]
    for name in parents:
        inner = node.setdefault(name.removesuffix("[]"), [{}] if name.endswith("[]") else {})
        node = inner[0] if isinstance(inner, list) else inner
    node[last] = {"some": "thing"}
    return spec


@pytest.mark.parametrize(("kind", "path", "reason"), REFUSED, ids=[f"{kind} {path}" for kind, path, _ in REFUSED])
def test_what_is_not_supported_is_refused_with_its_reason(kind: str, path: str, reason: str) -> None:
    place = path.replace("[]", "[0]")
    assert f"{place} is {reason}" in messages(kind, grown(path, FINE[kind]))


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        pytest.param(
            "VirtualService",
            http(retires={}),
            [("unknown field 'retires' in spec.http[0]", "did you mean 'retries'?")],
            id="near miss",
        ),
        pytest.param(
            "VirtualService",
            http(direct_response={}),
            [("unknown field 'direct_response' in spec.http[0]", "did you mean 'directResponse'?")],
            id="snake case",
        ),
        pytest.param(
            "VirtualService",
            http(match=[{"URI": {}}]),
            [("unknown field 'URI' in spec.http[0].match[0]", "did you mean 'uri'?")],
            id="wrong case",
        ),
        pytest.param(
            "PeerAuthentication",
            {"mtls": {"mode": "DISABLE"}, "zzz": 1},
            [("unknown field 'zzz' in spec", "fields here: mtls, selector")],
            id="nothing near: what there is",
        ),
        pytest.param("DestinationRule", {}, [("spec.host is missing", "")], id="missing"),
        pytest.param(
            "DestinationRule",
            {"host": None},
            [
                (
                    f"spec.host must be text that isn't empty, not {NOTHING}",
                    "",
                )
            ],
            id="null",
        ),
        pytest.param(
            "DestinationRule",
            {"host": 5},
            [("spec.host must be text that isn't empty, not 5", "")],
            id="a number for text",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "subsets": {}},
            [("spec.subsets must be a list, not an object", "")],
            id="an object for a list",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "subsets": ["v1"]},
            [("spec.subsets[0] must be an object, not 'v1'", "")],
            id="text for an object",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "subsets": [{"name": "v1", "labels": ["a"]}]},
            [("spec.subsets[0].labels must be an object, not a list", "")],
            id="a list for a map",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "subsets": [{"name": "v1", "labels": {"version": 1}}]},
            [("spec.subsets[0].labels.version must be text (put it in quotes), not 1", "")],
            id="a number for a label",
        ),
        pytest.param(
            "VirtualService",
            http(retries=None),
            [
                (
                    f"spec.http[0].retries must be an object, not {NOTHING}",
                    "",
                )
            ],
            id="retries without a value",
        ),
        pytest.param("Gateway", {"servers": []}, [("spec.servers must not be empty", "")], id="an empty list"),
        pytest.param(
            "VirtualService",
            http(timeout="5"),
            [("spec.http[0].timeout must be a duration such as 1.5s or 100ms, not '5'", "")],
            id="a duration without unit",
        ),
        pytest.param(
            "VirtualService",
            http(timeout=5),
            [("spec.http[0].timeout must be a duration such as 1.5s or 100ms, not 5", "")],
            id="a number for a duration",
        ),
        pytest.param(
            "VirtualService",
            http(timeout="0s"),
            [("spec.http[0].timeout must be at least 1ms, in whole milliseconds, not '0s'", "")],
            id="no duration",
        ),
        pytest.param(
            "VirtualService",
            http(timeout="1.5ms"),
            [("spec.http[0].timeout must be at least 1ms, in whole milliseconds, not '1.5ms'", "")],
            id="part of a millisecond",
        ),
        pytest.param(
            "VirtualService",
            http(route=[{"destination": {"host": "a"}, "weight": -1}]),
            [("spec.http[0].route[0].weight must be from 0 to 2147483647, not -1", "")],
            id="negative",
        ),
        pytest.param(
            "VirtualService",
            http(route=[{"destination": {"host": "a"}, "weight": True}]),
            [("spec.http[0].route[0].weight must be a whole number, not true", "")],
            id="true is no number",
        ),
        pytest.param(
            "VirtualService",
            http(route=[{"destination": {"host": "a"}, "weight": 1.5}]),
            [("spec.http[0].route[0].weight must be a whole number, not 1.5", "")],
            id="half a weight",
        ),
        pytest.param(
            "VirtualService",
            http(match=[{"ignoreUriCase": "yes"}]),
            [("spec.http[0].match[0].ignoreUriCase must be a boolean, not 'yes'", "")],
            id="text for a boolean",
        ),
        pytest.param(
            "VirtualService",
            http(match=[{"uri": {"regex": "("}}]),
            [("spec.http[0].match[0].uri.regex must be a regular expression, not '('", "")],
            id="no regex",
        ),
        pytest.param(
            "VirtualService",
            http(match=[{"uri": {"regex": "(?=a)"}}]),
            [
                (
                    f"spec.http[0].match[0].uri.regex must be {RE2}, not '(?=a)'",
                    "",
                )
            ],
            id="not RE2",
        ),
        pytest.param(
            "VirtualService",
            http(match=[{"uri": {"regex": 1}}]),
            [("spec.http[0].match[0].uri.regex must be text, not 1", "")],
            id="a number for a regex",
        ),
        pytest.param(
            "VirtualService",
            http(headers={"request": {"set": {"a": "50%"}}}),
            [
                (
                    f"spec.http[0].headers.request.set.a must be {DOUBLED}, not '50%'",
                    "",
                )
            ],
            id="a lone percent",
        ),
        pytest.param(
            "VirtualService",
            http(headers={"request": {"set": {"a": "b\u0001"}}}),
            [("spec.http[0].headers.request.set.a must be text without control characters, not 'b\\x01'", "")],
            id="control characters",
        ),
        pytest.param(
            "VirtualService",
            http(headers={"request": {"set": {"a": 1}}}),
            [("spec.http[0].headers.request.set.a must be text (put it in quotes), not 1", "")],
            id="a number for a header",
        ),
        pytest.param(
            "Gateway",
            {"servers": [SERVER | {"bind": "0.0.0.0"}]},
            [
                (
                    f"spec.servers[0].bind must be {LOOPBACK}, not '0.0.0.0'",
                    "",
                )
            ],
            id="every address",
        ),
        pytest.param(
            "Gateway",
            {"servers": [SERVER | {"bind": "here"}]},
            [
                (
                    f"spec.servers[0].bind must be {LOOPBACK}, not 'here'",
                    "",
                )
            ],
            id="no address",
        ),
        pytest.param(
            "Gateway",
            {"servers": [SERVER | {"port": {"number": 0, "protocol": "TCP"}}]},
            [
                ("spec.servers[0].port.number must be from 1 to 65535, not 0", ""),
                (
                    f"spec.servers[0].port.protocol must be one of {PROTOCOLS}, not 'TCP'",
                    "",
                ),
            ],
            id="two at once",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "trafficPolicy": {"retryBudget": {"percent": 101}}},
            [("spec.trafficPolicy.retryBudget.percent must be a number from 0 to 100, not 101", "")],
            id="over 100 percent",
        ),
        pytest.param(
            "DestinationRule",
            {"host": "a", "trafficPolicy": {"loadBalancer": {"simple": "PASSTHROUGH"}}},
            [
                (
                    "spec.trafficPolicy.loadBalancer.simple must be a balancer that chooses: passing on to the dialled "
                    "address needs interception, not 'PASSTHROUGH'",
                    "",
                )
            ],
            id="needs interception",
        ),
        pytest.param(
            "PeerAuthentication",
            {"mtls": {"mode": "STRICT"}},
            [("spec.mtls.mode must be one of DISABLE, not 'STRICT'", "")],
            id="certificates",
        ),
        pytest.param(
            "VirtualService",
            http(redirect={"redirectCode": 300}),
            [("spec.http[0].redirect.redirectCode must be a redirect code, not 300", "")],
            id="no redirect code",
        ),
        pytest.param(
            "WorkloadEntry",
            {"address": "x" * 100, "weight": [1]},
            [("spec.weight must be a whole number, not a list", "")],
            id="a list for a number",
        ),
        pytest.param(
            "WorkloadEntry",
            {"address": "a", "zzzzzzz": 1},
            [
                (
                    "unknown field 'zzzzzzz' in spec",
                    "fields here: address, labels, locality, network, ports, serviceAccount, weight",
                )
            ],
            id="all fields when they are few",
        ),
    ],
)
def test_what_is_said(kind: str, spec: Any, expected: Any) -> None:
    assert [(problem.message, problem.hint) for problem in unsupported(document(kind, spec))] == expected


@pytest.mark.parametrize(
    ("regex", "fine"),
    [
        pytest.param("/v[12]/.*", True, id="plain"),
        pytest.param("*", True, id="Istio's star"),
        pytest.param(r"\pL+", True, id="RE2 alone: classes of letters"),
        pytest.param("a(?i)b", True, id="RE2 alone: flags in the middle"),
        pytest.param("(?P<n>a)", True, id="names"),
        pytest.param("(", False, id="open"),
        pytest.param("(?=a)", False, id="look-ahead"),
        pytest.param("(?<!a)b", False, id="look-behind"),
        pytest.param(r"(a)\1", False, id="back-reference"),
        pytest.param("a++", False, id="possessive"),
        pytest.param("(?>a)", False, id="atomic"),
        pytest.param("a\\Z", False, id="an end that RE2 spells otherwise"),
    ],
)
def test_regular_expressions(regex: str, fine: bool) -> None:
    assert (messages("VirtualService", http(match=[{"uri": {"regex": regex}}])) == []) == fine


@pytest.mark.parametrize(
    ("value", "fine"),
    [
        ("plain", True),
        ("100%%", True),
        ("%REQ(x-a)%", True),
        ("a %DYNAMIC_METADATA(a:b)% b", True),
        ("%REQ(x):10%", True),
        ("50%", False),
        ("50% of 100%", False),
        ("%%%", False),
    ],
)
def test_operators_in_header_values(value: str, fine: bool) -> None:
    assert (messages("VirtualService", http(headers={"request": {"set": {"a": value}}})) == []) == fine


@pytest.mark.parametrize(("aggression", "fine"), [(1, True), (2.5, True), (0.5, False), ("1", False), (True, False)])
def test_aggression(aggression: Any, fine: bool) -> None:
    policy = {"loadBalancer": {"warmup": {"duration": "1s", "aggression": aggression}}}
    assert (messages("DestinationRule", {"host": "a", "trafficPolicy": policy}) == []) == fine


def test_unknown_fields_at_the_top() -> None:
    (problem,) = unsupported(document("DestinationRule", {"host": "a"}, extra=1))
    assert problem.message == "unknown field 'extra'"


def test_many_fields_are_cut_short() -> None:
    (problem,) = unsupported(document("VirtualService", http(zzzzzzzzzz=1)))
    assert (
        problem.hint
        == "fields here: corsPolicy, delegate, directResponse, fault, headers, match, mirror, mirrorPercent, ..."
    )


def test_all_mistakes_come_together_each_with_its_place() -> None:
    text = b"""\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: it}
spec:
  hosts: [a]
  http:
    - retires: {}
      timeouts: {}
      timeout: 5
"""
    (only,), _ = read_documents("it.yaml", text)
    assert [(problem.line, problem.column) for problem in unsupported(only)] == [(7, 7), (8, 7), (9, 7)]
    assert all(problem.document == only.key for problem in unsupported(only))


def test_a_long_value_is_cut() -> None:
    (problem,) = unsupported(document("VirtualService", http(timeout="x" * 100)))
    assert len(problem.message) < 140
    assert "..." in problem.message


def test_paths_as_people_write_them() -> None:
    assert dotted(("spec", "http", 0, "timeout")) == "spec.http[0].timeout"
    assert dotted(()) == "the document"


def test_each_reason_says_who_does_not_support_it_and_why() -> None:
    reasons = {row.refused for rows in TABLE.values() for row in rows if row.refused}
    assert all(re.match("not supported by (the local mesh|Istio)", reason) for reason in reasons)
    assert all(":" in reason for reason in reasons)
