"""Lint: each rule with texts that it must find and texts that it must leave alone.

A row is a rule, the documents, and what it says (nothing: it must not fire). Every row looks at all rules, so that a
text made for one of them says nothing about the others either.
"""

from collections import Counter

import pytest

from mesh.istio.document import read_documents
from mesh.istio.lint import RULES, Finding, Level, lint
from tests.support.doc_documents import documents, virtual_service

HOST = "translator.default.svc.cluster.local"


def service(
    host: str = HOST,
    *,
    ports: str = "[{number: 50051, name: grpc, protocol: GRPC}]",
    app: str = "translator",
    more: str = "",
) -> str:
    selector = more or f"workloadSelector: {{labels: {{app: {app}}}}}"
    return (
        f"---\napiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: {app}}}\n"
        f"spec:\n  hosts: [{host}]\n  resolution: STATIC\n  ports: {ports}\n  {selector}\n"
    )


def workload(version: str, *, app: str = "translator", namespace: str = "default") -> str:
    return (
        "---\napiVersion: networking.istio.io/v1\nkind: WorkloadEntry\n"
        f"metadata: {{name: {app}-{version}, namespace: {namespace}}}\n"
        f"spec: {{address: 127.0.0.1, labels: {{app: {app}, version: {version}}}}}\n"
    )


def subsets(*names: str, name: str = "translator", host: str = "translator", namespace: str = "default") -> str:
    entries = "".join(f"    - {{name: {subset}, labels: {{version: {subset}}}}}\n" for subset in names)
    return (
        "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\nspec:\n  host: {host}\n  subsets:\n{entries}"
    )


def gateway(hosts: str = "['*']", *, name: str = "edge", namespace: str = "default") -> str:
    return (
        "---\napiVersion: networking.istio.io/v1\nkind: Gateway\n"
        f"metadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec: {{servers: [{{port: {{number: 80, name: http, protocol: HTTP}}, bind: 127.0.0.1, hosts: {hosts}}}]}}\n"
    )


def rules(http: str, **more: str) -> str:
    return "---\n" + virtual_service(http, **more)


def to(*versions: str, weight: str = "1", host: str = "translator") -> str:
    """A route's list of destinations in flow style."""
    return (
        "[" + ", ".join(f"{{destination: {{host: {host}, subset: {one}}}, weight: {weight}}}" for one in versions) + "]"
    )


def route(more: str = "", *, name: str = "primary") -> str:
    return f"    - name: {name}\n      route: {to('v1', 'v2')}\n" + (f"      {more}\n" if more else "")


BASE = service() + workload("v1") + workload("v2") + subsets("v1", "v2")
MESH = BASE + rules(route())


def findings(text: str) -> list[Finding]:
    return list(lint(documents(text)))


WHOLE = [
    pytest.param(
        BASE
        + rules(
            f"    - {{match: [{{uri: {{prefix: /a}}}}], retries: {{attempts: 2}}, route: {to('v1')}}}\n"
            f"    - {{retries: {{attempts: 2}}, route: {to('v2')}}}\n"
        ),
        id="versions that are retried alike",
    ),
    pytest.param(
        BASE + rules(route("headers: {request: {set: {x-forwarded-for: a}}}")), id="a header that isn't Envoy's"
    ),
    pytest.param(BASE + rules(route("mirror: {host: translator, subset: v2}")), id="a mirror"),
    pytest.param(MESH, id="a plain split of two versions"),
    pytest.param(
        BASE + rules(route("retries: {attempts: 3, retryOn: '503,unavailable', perTryTimeout: 1s}")), id="retries"
    ),
    pytest.param(BASE + rules(route("retries: {attempts: 0}")), id="retries switched off in so many words"),
    pytest.param(BASE + rules(route("timeout: 1.5s")), id="a timeout"),
    pytest.param(BASE + rules(route('headers: {request: {set: {x: "%REQ(y)%", p: 5%%, host: a}}}')), id="headers"),
    pytest.param(BASE + rules(route("headers: {response: {remove: [x], add: {y: 'a\tb'}}}")), id="response headers"),
    pytest.param(BASE + rules(route("rewrite: {authority: a}")), id="one rewrite of the authority"),
    pytest.param(BASE + rules("    - redirect: {uri: /}\n", hosts="[x]"), id="a redirect"),
    pytest.param(BASE + rules("    - directResponse: {status: 204}\n", hosts="[x]"), id="a direct response"),
    pytest.param(BASE + rules(f"    - route: {to('v1', weight='100')}\n"), id="a single destination with a weight"),
    pytest.param(
        BASE + rules("    - route: [{destination: {host: translator}}]\n"), id="a host without subset inside the mesh"
    ),
    pytest.param(
        BASE + rules("    - {match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n" + route()), id="a narrow route first"
    ),
    pytest.param(
        BASE
        + rules(
            "    - {match: [{uri: {prefix: /a}, headers: {x: {exact: y}}}], redirect: {uri: /}}\n"
            "    - {match: [{uri: {prefix: /a/b}}], redirect: {uri: /}}\n" + route()
        ),
        id="a prefix with another condition hides nothing",
    ),
    pytest.param(
        BASE
        + rules(
            "    - {match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n"
            "    - {match: [{uri: {prefix: /a/b}, ignoreUriCase: true}], redirect: {uri: /}}\n" + route()
        ),
        id="a path in any case is wider",
    ),
    pytest.param(
        BASE
        + rules(
            "    - {match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n"
            "    - {match: [{uri: {prefix: /b}}, {method: {exact: GET}}, {uri: {regex: /a.*}}], redirect: {uri: /}}\n"
            + route()
        ),
        id="other conditions",
    ),
    pytest.param(
        MESH + gateway() + rules(route(), name="edge", gateways="[edge]", hosts="[a.example.com]"),
        id="the same split at the gateway",
    ),
    pytest.param(
        MESH
        + gateway("['default/*.example.com']")
        + rules(route(), name="edge", gateways="[edge]", hosts="[a.example.com]"),
        id="a gateway for this namespace",
    ),
    pytest.param(
        MESH
        + gateway("['./a.example.com']")
        + rules(route(), name="edge", gateways="[default/edge]", hosts="[a.example.com]"),
        id="a gateway for its own namespace",
    ),
    pytest.param(
        MESH + gateway() + rules(route(), name="edge", gateways="[edge, mesh]", hosts="[a.example.com, b.example.com]"),
        id="bound to both",
    ),
    pytest.param(
        MESH + gateway() + rules(route(), name="edge", gateways="[edge]", hosts="['*']"),
        id="every host, at a gateway",
    ),
    pytest.param(
        BASE
        + rules(route(), hosts="[a.b]").replace("  hosts:", "  exportTo: [.]\n  hosts:")
        + rules(
            route().replace("host: translator", f"host: {HOST}"), hosts="[a.b]", namespace="other", name="theirs"
        ).replace("  hosts:", "  exportTo: [.]\n  hosts:"),
        id="one host in two namespaces that don't see each other",
    ),
    pytest.param(
        service(
            more="endpoints: [{address: 127.0.0.1, labels: {version: v1}}, {address: 127.0.0.2, labels: {version: v2}}]"
        )
        + subsets("v1", "v2")
        + rules(route()),
        id="inline endpoints",
    ),
    pytest.param(
        service(more="exportTo: ['*']").replace("STATIC", "DNS") + subsets("v1", "v2") + rules(route()),
        id="a host whose endpoints nobody knows here",
    ),
    pytest.param(
        service("'*.default.svc.cluster.local'")
        + workload("v1")
        + workload("v2")
        + subsets("v1", "v2")
        + rules(route()),
        id="a wildcard host",
    ),
    pytest.param(
        service(ports="[{number: 1, name: grpc-a, protocol: GRPC}, {number: 2, name: http, protocol: HTTP}]")
        + workload("v1")
        + subsets("v1")
        + rules("    - route: [{destination: {host: translator, subset: v1, port: {number: 2}}}]\n"),
        id="a port of several",
    ),
    pytest.param(MESH + subsets("v1", name="theirs", namespace="other", host=HOST), id="a rule of another namespace"),
    pytest.param(
        BASE
        + rules(
            "    - {match: [{gateways: [mesh], port: 80}, {sourceLabels: {a: b}}], redirect: {uri: /}}\n" + route()
        ),
        id="gateways and labels in two matches",
    ),
    pytest.param(
        "apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: default}\n"
        "spec: {mtls: {mode: DISABLE}}\n",
        id="nothing that routes",
    ),
    pytest.param(
        BASE + rules(route()).replace("  hosts:", "  exportTo: [., other]\n  hosts:"), id="exported to two namespaces"
    ),
]


@pytest.mark.parametrize("text", WHOLE)
def test_must_not_fire(text: str) -> None:
    assert [str(finding) for finding in findings(text)] == []


MULTI = "[{number: 1, name: http-a, protocol: HTTP}, {number: 2, name: http-b, protocol: HTTP}]"
SIDECAR = (
    "---\napiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: front}\n"
    "spec:\n  workloadSelector: {labels: {app: front}}\n"
    "  egress: [{port: {number: 50051, name: out, protocol: GRPC}, bind: 127.0.0.1, hosts: [./*]}]\n"
)
TWO_LAYERS = (
    MESH.replace("      route:", "      retries: {attempts: 3}\n      route:")
    + service("front.example.com", app="front")
    + workload("v1", app="front")
    + SIDECAR
    + gateway()
    + rules("    - route: [{destination: {host: front.example.com}}]\n", name="in", hosts="[a.b]", gateways="[edge]")
)
LEAF = (
    "---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: leaf}\n"
    f"spec:\n  http:\n    - headers: {{request: {{set: {{x: y}}}}}}\n      route: {to('v1')}\n"
)
BROKEN = [
    (
        "unknown-subset",
        BASE + rules(route("mirror: {host: translator, subset: v9}")),
        f"no DestinationRule gives {HOST} a subset v9",
    ),
    (
        "envoy-header",
        BASE + rules(route("headers: {request: {set: {x-envoy-max-retries: '3'}}}")),
        "set x-envoy-max-retries reaches into what Envoys tell each other",
    ),
    (
        "retries-differ",
        BASE
        + rules(
            f"    - {{match: [{{uri: {{prefix: /a}}}}], retries: {{attempts: 1}}, route: {to('v1')}}}\n"
            f"    - {{retries: {{attempts: 3}}, route: {to('v2')}}}\n"
        ),
        "route 2 retries otherwise than route 1, which leads to another version",
    ),
    (
        "retries-multiply",
        TWO_LAYERS,
        "3 tries here and 4 each by VirtualService default/translator make 12 tries of one request",
    ),
    (
        "delegate-headers",
        BASE + rules("    - {headers: {request: {remove: [z]}}, delegate: {name: leaf}}\n") + LEAF,
        "these operations are dropped where the delegate has headers of its own",
    ),
    (
        "unknown-delegate",
        BASE + rules("    - {match: [{uri: {prefix: /a}}], delegate: {name: nobody}}\n" + route()),
        "there is no delegate nobody",
    ),
    (
        "gateway-host-shared",
        BASE
        + gateway()
        + rules(
            "    - {match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n", name="a", hosts="[a.b]", gateways="[edge]"
        )
        + rules(
            "    - {match: [{uri: {prefix: /b}}], redirect: {uri: /}}\n", name="b", hosts="[a.b]", gateways="[edge]"
        ),
        "VirtualService default/a has the host a.b at the gateway default/edge too",
    ),
    ("deprecated", BASE + rules(route("mirrorPercent: 3")), "mirrorPercent is deprecated (write mirrorPercentage)"),
    (
        "refused",
        BASE + rules(route().replace("weight: 1", "weight: 0")),
        "the weights of a route with several destinations sum to 0",
    ),
    ("refused", BASE + rules(route().replace("weight: 1}]", "weight: -1}]")), "must be from 0 to 2147483647, not -1"),
    ("refused", BASE + rules(route("retries: {retryOn: reset}")), "retryOn needs attempts greater than 0"),
    ("refused", BASE + rules(route("headers: {request: {remove: [host]}}")), "the header 'host' can't be changed here"),
    (
        "refused",
        BASE + rules(route("fault: {abort: {http2Error: CANCEL}}")),
        "spec.http[0].fault.abort.http2Error is not supported by Istio",
    ),
    (
        "host-twice",
        BASE + rules(route(), hosts=f"[translator, {HOST}]"),
        f"{HOST} is the same host as translator (remove one of them)",
    ),
    (
        "unknown-host",
        BASE + rules("    - route: [{destination: {host: elsewhere}}]\n"),
        f"no ServiceEntry declares the host elsewhere.default.svc.cluster.local (known hosts: {HOST})",
    ),
    (
        "unknown-subset",
        BASE + rules(f"    - route: {to('v1', 'v3')}\n"),
        f"no DestinationRule gives {HOST} a subset v3 (its subsets: v1, v2)",
    ),
    (
        "unknown-subset",
        service() + rules(f"    - route: {to('v1')}\n"),
        f"no DestinationRule gives {HOST} a subset v1 (add a DestinationRule with this subset first)",
    ),
    (
        "unknown-gateway",
        MESH + gateway() + rules(route(), name="edge", gateways="[edge, other]", hosts="[a.example.com]"),
        "there is no Gateway default/other (known gateways: default/edge)",
    ),
    (
        "port-needed",
        service(ports=MULTI) + rules("    - route: [{destination: {host: translator}}]\n"),
        f"{HOST} has several ports: name one (port: {{number: ...}} of 1, 2)",
    ),
    (
        "port-unknown",
        BASE + rules("    - route: [{destination: {host: translator, port: {number: 7}}}]\n"),
        f"{HOST} has no port 7 (its ports: 50051)",
    ),
    (
        "empty-subset-in-use",
        service() + workload("v1") + subsets("v1", "v2") + rules(route()),
        f"the subset v2 gets traffic but selects no endpoint of {HOST} (it wants the labels version: v2)",
    ),
    (
        "empty-subset-in-use",
        service() + workload("v1", namespace="other") + subsets("v1") + rules(f"    - route: {to('v1', weight='0')}\n"),
        "the subset v1 gets traffic",
    ),
    (
        "empty-subset",
        service() + workload("v1") + subsets("v1", "v2") + rules(route().replace("weight: 1}]", "weight: 0}]")),
        f"the subset v2 selects no endpoint of {HOST}",
    ),
    (
        "empty-subset",
        service() + subsets("v1").replace(", labels: {version: v1}", ""),
        f"the subset v1 selects no endpoint of {HOST} (it has no labels, and the host no endpoints)",
    ),
    (
        "port-not-http",
        service(ports="[{number: 1, name: tcp, protocol: TCP}]")
        + workload("v1")
        + workload("v2")
        + subsets("v1", "v2")
        + rules(route()),
        "TCP is not routed by request, so weights have no effect on this port",
    ),
    (
        "grpc-as-http1",
        service(ports="[{number: 1, name: grpc-web, protocol: http}]"),
        "the port grpc-web is declared HTTP: its calls would go out as HTTP/1.1",
    ),
    (
        "unreachable-route",
        BASE + rules(route(name="front") + route()),
        "route primary is never reached: route front takes all its requests (its weights have no effect; put it first)",
    ),
    (
        "unreachable-route",
        BASE + rules("    - {match: [{uri: {prefix: /}}], redirect: {uri: /}}\n" + route()),
        "route primary is never reached: route 1",
    ),
    (
        "unreachable-route",
        BASE + rules("    - {match: [{uri: {regex: .*}, name: all}], redirect: {uri: /}}\n" + route()),
        "route primary is never reached: route 1",
    ),
    (
        "unreachable-route",
        BASE
        + rules(
            "    - {match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n"
            "    - {name: b, match: [{uri: {exact: /a/b}, method: {exact: GET}}], redirect: {uri: /}}\n"
        ),
        "route b is never reached: route 1 takes all its requests (put it first)",
    ),
    (
        "unreachable-route",
        BASE
        + rules(
            "    - {name: a, match: [{headers: {x: {exact: y}}}], redirect: {uri: /}}\n"
            "    - {name: b, match: [{headers: {x: {exact: y}}, name: again}], redirect: {uri: /}}\n"
        ),
        "route b is never reached: route a",
    ),
    (
        "ineffective-match",
        BASE
        + rules(
            "    - {name: a, match: [{uri: {prefix: /a}}], redirect: {uri: /}}\n"
            "    - {name: b, match: [{uri: {prefix: /b}}, {uri: {prefix: /aa}}], redirect: {uri: /}}\n"
        ),
        "this match has no effect: route a takes its requests",
    ),
    (
        "host-not-in-gateway",
        MESH + gateway("[b.example.com]") + rules(route(), name="edge", gateways="[edge]", hosts="[a.example.com]"),
        "none of these hosts is served by the Gateway default/edge (it serves b.example.com)",
    ),
    (
        "host-not-in-gateway",
        MESH + gateway("['other/*']") + rules(route(), name="edge", gateways="[edge]", hosts="[a.example.com]"),
        "none of these hosts is served",
    ),
    (
        "gateway-past-weights",
        MESH
        + gateway()
        + rules(
            "    - route: [{destination: {host: translator}}]\n",
            name="edge",
            gateways="[edge]",
            hosts="[a.example.com]",
        ),
        f"this sends the gateway's traffic to all versions of {HOST}, past the weights in the mesh",
    ),
    ("unknown-rule-host", MESH + subsets("v1", name="x", host="nobody"), "no ServiceEntry declares the host nobody."),
    (
        "subset-shadowed",
        MESH + subsets("v1", name="again"),
        "the subset v1 is declared by DestinationRule default/translator already, which counts",
    ),
    (
        "attempt-count",
        BASE + rules(route("headers: {request: {remove: [X-Envoy-Attempt-Count]}}")),
        "remove x-envoy-attempt-count changes the first try only",
    ),
    (
        "attempt-count",
        BASE
        + rules(route().replace("weight: 1}]", "weight: 1, headers: {request: {set: {x-envoy-attempt-count: '1'}}}}]")),
        "set x-envoy-attempt-count changes the first try only",
    ),
    (
        "destination-twice",
        BASE + rules(f"    - route: {to('v1', 'v1')}\n"),
        f"{HOST} v1 is a destination of this route twice",
    ),
    (
        "match-gateways",
        BASE + rules("    - {match: [{gateways: [mesh], sourceLabels: {a: b}}], redirect: {uri: /}}\n"),
        "sourceLabels is not looked at in a match that names gateways",
    ),
    ("weight-idle", BASE + rules(f"    - route: {to('v1', weight='0')}\n"), "the only destination gets all traffic"),
    ("retries-off", BASE + rules(route("retries: {}")), "an empty retries block switches retries off"),
]
# What else is true of a text that was made for one rule.
ALSO = {
    "the subset v1 gets traffic": {"weight-idle"},
    "TCP is not routed by request": {"refused"},
    "it has no labels": {"refused"},
}


@pytest.mark.parametrize(
    ("rule", "text", "message"), BROKEN, ids=[f"{rule}: {message[:50]}" for rule, _, message in BROKEN]
)
def test_must_fire(rule: str, text: str, message: str) -> None:
    found = findings(text)
    own = [finding for finding in found if finding.rule == rule]
    assert len(own) == 1, found
    assert message in str(own[0].problem)
    others = {finding.rule for finding in found} - {rule}
    assert others <= next((also for beginning, also in ALSO.items() if beginning in message), set()), found


def test_hosts_taken_twice_are_told_to_both() -> None:
    found = findings(MESH + rules(route(), name="again"))
    assert [(finding.rule, finding.problem.document) for finding in found] == [
        ("host-taken", ("VirtualService", "default", "translator")),
        ("host-taken", ("VirtualService", "default", "again")),
    ]
    assert f"VirtualService default/again has the host {HOST} in the mesh too" in str(found[0])


def test_a_tcp_port_that_no_route_names_is_no_matter_of_weights() -> None:
    redis = service("redis.example.com", ports="[{number: 6379, name: tcp, protocol: TCP}]", app="redis")
    assert {finding.rule for finding in findings(MESH + redis)} == {"refused"}


def test_every_rule_has_a_row() -> None:
    assert {rule.name for rule in RULES} == {rule for rule, _, _ in BROKEN} | {"host-taken"}


def test_rules_are_named_once_and_say_what_they_are_about() -> None:
    assert max(Counter(rule.name for rule in RULES).values()) == 1
    assert all(rule.about and rule.code[:2] in ("IS", "TG") for rule in RULES)


def test_a_finding_reads_as_one_line_with_its_place() -> None:
    (found,) = findings(BASE + rules(route("retries: {}")))
    assert str(found).endswith("[info TG006 retries-off]")
    assert str(found).startswith("mesh.yaml:38:7: an empty retries block")
    assert found.level is Level.INFO


ODD = ["5", "x", "[]", "[5]", "{}", "null", "[{route: 5}]", "[{route: [5]}]", "[{match: 5, headers: {request: 5}}]"]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "kind", ["VirtualService", "DestinationRule", "ServiceEntry", "Gateway", "WorkloadEntry", "Sidecar"]
)
def test_odd_shapes_are_left_to_the_support_table(kind: str, odd: str) -> None:
    fields = ("http", "hosts", "gateways", "subsets", "host", "ports", "servers", "exportTo", "endpoints", "labels")
    text = f"apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata: {{name: odd}}\nspec: "
    for spec in (odd, "{" + ", ".join(f"{name}: {odd}" for name in fields) + "}"):
        found, problems = read_documents("odd.yaml", (text + spec).encode())
        assert not problems
        assert all(finding.problem.document == (kind, "default", "odd") for finding in lint(found))
