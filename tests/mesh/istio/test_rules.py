"""Which documents would istiod's webhook refuse, though every field is fine?"""

import json
from typing import Any

import pytest

from mesh.istio.document import Document, read_documents
from mesh.istio.rules import broken_rules
from mesh.istio.support import unsupported

TO = {"destination": {"host": "a"}}


def document(kind: str, spec: Any) -> Document:
    data = {"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": {"name": "it"}, "spec": spec}
    found, problems = read_documents("it.yaml", json.dumps(data).encode())
    assert not problems, problems
    assert not unsupported(found[0]), unsupported(found[0])
    return found[0]


def found(kind: str, spec: Any) -> list[str]:
    return [problem.message for problem in broken_rules(document(kind, spec))]


def http(**route: Any) -> Any:
    return {
        "hosts": ["a"],
        "http": [({} if route.keys() & {"redirect", "directResponse"} else {"route": [TO]}) | route],
    }


def headers(**operations: Any) -> Any:
    return http(headers={"request": operations})


def test_peer_authentications_have_no_rules() -> None:
    data = {
        "apiVersion": "security.istio.io/v1",
        "kind": "PeerAuthentication",
        "metadata": {"name": "it"},
        "spec": {"mtls": {"mode": "DISABLE"}},
    }
    (only,), _ = read_documents("it.yaml", json.dumps(data).encode())
    assert broken_rules(only) == []


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(http(), id="the least"),
        pytest.param({"hosts": ["a", "b.example.com", "*.example.org"], "http": [{"route": [TO]}]}, id="several hosts"),
        pytest.param({"hosts": ["*"], "gateways": ["edge"], "http": [{"route": [TO]}]}, id="every host at a gateway"),
        pytest.param(
            {"hosts": ["a.b"], "gateways": ["edge", "mesh"], "http": [{"route": [TO]}]}, id="gateway and mesh"
        ),
        pytest.param({"hosts": ["a"], "exportTo": [".", "other"], "http": [{"route": [TO]}]}, id="exported"),
        pytest.param(http(route=[TO | {"weight": 0}]), id="a single destination of weight 0"),
        pytest.param(http(route=[TO | {"weight": 0}, TO | {"weight": 3}]), id="one weight is enough"),
        pytest.param(http(retries={}), id="retries off"),
        pytest.param(http(retries={"attempts": 0}), id="retries off by number"),
        pytest.param(
            http(retries={"attempts": 1, "retryOn": "5xx,503,unavailable", "perTryTimeout": "1s"}), id="retries"
        ),
        pytest.param(
            http(match=[{"uri": {}, "headers": {"x-a": {}}, "queryParams": {"q": {"exact": ""}}}]), id="matches"
        ),
        pytest.param(http(match=[{"headers": {":path": {"exact": "/"}}}]), id="a pseudo header in a match"),
        pytest.param(headers(set={"host": "b", "x": "1"}, add={"y": "%REQ(x)%"}, remove=["z"]), id="headers"),
        pytest.param(http(redirect={"uri": "/x", "port": 81}), id="redirect"),
        pytest.param(http(redirect={"scheme": "https", "derivePort": "FROM_REQUEST_PORT"}), id="redirect by scheme"),
        pytest.param(http(rewrite={"uri": "/x", "authority": "b"}), id="rewrite"),
        pytest.param(http(rewrite={"uriRegexRewrite": {"match": "a", "rewrite": "b"}}), id="rewrite by regex"),
        pytest.param(http(directResponse={"status": 200, "body": {"string": "x" * 1024}}), id="direct response"),
        pytest.param({"hosts": ["a"], "gateways": ["edge"], "http": [{"route": [TO]}]}, id="a short name at a gateway"),
        pytest.param(http(match=[{"uri": {"prefix": ""}}]), id="an empty prefix of a path"),
        pytest.param(http(match=[{"withoutHeaders": {"x": {"regex": "*"}}}]), id="* of a header that must be away"),
        pytest.param(http(route=[{"destination": {"host": "*.example.com"}}]), id="a wildcard destination"),
        pytest.param(http(mirror={"host": "b"}, mirrorPercentage={"value": 1}), id="a mirror"),
        pytest.param(http(fault={"abort": {"httpStatus": 500}, "delay": {"fixedDelay": "1s"}}), id="a fault"),
        pytest.param(http(corsPolicy={"allowOrigins": [{"exact": "*"}]}), id="CORS"),
        pytest.param({"http": [{"route": [TO]}]}, id="a delegate"),
        pytest.param({"hosts": ["a"], "http": [{"delegate": {"name": "b"}, "timeout": "1s"}]}, id="a root"),
    ],
)
def test_virtual_services_that_are_fine(spec: Any) -> None:
    assert found("VirtualService", spec) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"hosts": ["a"]}, ["the document has no routes"], id="no routes"),
        pytest.param({"hosts": ["a_b!"], "http": [{"route": [TO]}]}, ["'a_b!' is not a host name"], id="no host"),
        pytest.param({"hosts": ["a..b"], "http": [{"route": [TO]}]}, ["'a..b' is not a host name"], id="two dots"),
        pytest.param(
            {"hosts": ["*"], "http": [{"route": [TO]}]},
            ["the host * is not allowed for calls inside the mesh"],
            id="every host in the mesh",
        ),
        pytest.param(
            {"hosts": ["a.b", "A.b"], "http": [{"route": [TO]}]},
            ["'A.b' overlaps with a host before it"],
            id="a host twice",
        ),
        pytest.param(
            {"hosts": ["*.b", "a.b"], "http": [{"route": [TO]}]},
            ["'a.b' overlaps with a host before it"],
            id="under a wildcard",
        ),
        pytest.param(
            {"hosts": ["a"], "exportTo": [".", "."], "http": [{"route": [TO]}]},
            ["exportTo names 'default' twice"],
            id="exported twice",
        ),
        pytest.param(
            http(route=[]),
            ["a route needs exactly one of route, redirect and directResponse; this one has none of them"],
            id="no action",
        ),
        pytest.param(
            http(route=[TO], redirect={"uri": "/"}),
            ["a route needs exactly one of route, redirect and directResponse; this one has route and redirect"],
            id="two actions",
        ),
        pytest.param(
            http(redirect={"uri": "/"}, rewrite={"uri": "/"}),
            ["nothing is rewritten beside a redirect or a direct response"],
            id="rewrite beside redirect",
        ),
        pytest.param(
            http(route=[TO | {"weight": 0}, TO]),
            ["the weights of a route with several destinations sum to 0"],
            id="weights of 0",
        ),
        pytest.param(
            http(route=[TO | {"weight": 2**31 - 1}] * 3),
            ["the weights of a route sum to more than 4294967295"],
            id="weights beyond Envoy",
        ),
        pytest.param(
            http(route=[{"destination": {"host": "*"}}]),
            ["'*' is not the name of one host"],
            id="a wildcard destination",
        ),
        pytest.param(
            http(route=[{"destination": {"host": "a", "subset": "V_1"}}]),
            ["'V_1' is not a DNS label"],
            id="a subset's name",
        ),
        pytest.param(
            http(retries={"attempts": 0, "perTryTimeout": "1s"}),
            ["perTryTimeout needs attempts greater than 0"],
            id="time for tries that are off",
        ),
        pytest.param(
            http(retries={"retryOn": "5xx"}),
            ["retryOn needs attempts greater than 0"],
            id="conditions without attempts",
        ),
        pytest.param(
            http(retries={"attempts": 1, "retryOn": "5xx, reset"}),
            ["' reset' is not a retry condition or an HTTP code"],
            id="a space",
        ),
        pytest.param(
            http(retries={"attempts": 1, "retryOn": "never,99"}),
            ["'never' is not a retry condition or an HTTP code", "'99' is not a retry condition or an HTTP code"],
            id="no conditions",
        ),
        pytest.param(
            http(match=[{"uri": {"exact": "/a", "prefix": "/b"}}]),
            ["a match is one of exact, prefix and regex"],
            id="two matches in one",
        ),
        pytest.param(
            http(match=[{"method": {"prefix": ""}}]),
            ["an empty prefix or regex matches nothing in particular"],
            id="an empty prefix",
        ),
        pytest.param(http(match=[{"headers": {"a b": {}}}]), ["'a b' is not the name of a header"], id="no header"),
        pytest.param(
            http(match=[{"withoutHeaders": {"": {}}}]), ["'' is not the name of a header"], id="a header without name"
        ),
        pytest.param(
            http(match=[{"queryParams": {"": {}}}]), ["a query parameter needs a name"], id="a parameter without name"
        ),
        pytest.param(
            http(match=[{"headers": {"@request.auth.claims[a]": {"exact": "b"}}}]),
            ["claims of a token are not supported by the local mesh: nobody checks tokens here"],
            id="claims",
        ),
        pytest.param(headers(remove=["host"]), ["the header 'host' can't be changed here"], id="host removed"),
        pytest.param(headers(set={":path": "/"}), ["the header ':path' can't be changed here"], id="a pseudo header"),
        pytest.param(headers(add={"": "x"}), ["'' is not the name of a header"], id="added without name"),
        pytest.param(
            http(headers={"response": {"set": {"host": "x"}}}),
            ["the header 'host' can't be changed here"],
            id="the host of a response",
        ),
        pytest.param(
            http(route=[TO | {"headers": {"request": {"remove": ["x y"]}}}]),
            ["'x y' is not the name of a header"],
            id="at a destination",
        ),
        pytest.param(
            http(rewrite={"authority": "b"}, headers={"request": {"set": {"Host": "c"}}}),
            ["the authority is rewritten in several places: Host, rewrite.authority"],
            id="two authorities",
        ),
        pytest.param(
            http(redirect={}), ["a redirect needs a uri, an authority, a scheme or a port"], id="an empty redirect"
        ),
        pytest.param(
            http(redirect={"port": 1, "derivePort": "FROM_REQUEST_PORT"}),
            ["a redirect has either port or derivePort"],
            id="two ports",
        ),
        pytest.param(
            http(rewrite={}), ["a rewrite needs a uri, an authority or a uriRegexRewrite"], id="an empty rewrite"
        ),
        pytest.param(http(redirect={"scheme": "ftp"}), ["a redirect's scheme is http or https"], id="another scheme"),
        pytest.param(
            http(redirect={"uri": "/a", "prefixRewrite": "/b"}),
            ["a redirect has either uri or prefixRewrite"],
            id="two redirects of the path",
        ),
        pytest.param(
            http(match=[{"uri": {"exact": "/a"}}], redirect={"prefixRewrite": "/b"}),
            ["a prefix is rewritten only where the match is a prefix"],
            id="a prefix of an exact path",
        ),
        pytest.param(
            http(mirror={"host": "b"}, mirrors=[{"destination": {"host": "b"}}]),
            ["a route has either mirror or mirrors"],
            id="mirrors twice",
        ),
        pytest.param(http(mirror={"host": "*"}), ["'*' is not the name of one host"], id="a mirror to everybody"),
        pytest.param(http(fault={}), ["a fault needs a delay or an abort"], id="an empty fault"),
        pytest.param(
            http(fault={"abort": {"httpStatus": 500, "grpcStatus": "OK"}}),
            ["an abort has either httpStatus or grpcStatus"],
            id="two answers in one abort",
        ),
        pytest.param(
            http(fault={"abort": {"httpStatus": 500, "percentage": {"value": 0.00001}}}),
            ["a percentage is 0 or at least 0.0001"],
            id="a share too small",
        ),
        pytest.param(
            http(redirect={"uri": "/"}, fault={"abort": {"httpStatus": 500}}),
            ["no fault beside a redirect or a direct response"],
            id="a fault of a redirect",
        ),
        pytest.param(
            http(corsPolicy={"allowOrigins": [{"exact": ""}]}),
            ["an origin is one of exact, prefix and regex, and not empty"],
            id="an empty origin",
        ),
        pytest.param(
            {"gateways": ["edge"], "http": [{"route": [TO]}]},
            ["without hosts it is a delegate, which has no gateways of its own"],
            id="a delegate at a gateway",
        ),
        pytest.param(
            {"http": [{"delegate": {"name": "b"}}]},
            ["a delegate can't pass its routes on to another"],
            id="a delegate of a delegate",
        ),
        pytest.param(
            http(delegate={"name": "b"}), ["a route with a delegate has no route of its own"], id="beside a delegate"
        ),
        pytest.param(
            http(match=[{"headers": {"x": {"regex": "*"}}}]), ["* is no regular expression"], id="* of a header"
        ),
        pytest.param(
            http(match=[{"sourceNamespace": "A_B"}]), ["'A_B' is not a DNS label"], id="no namespace of a caller"
        ),
        pytest.param(
            http(match=[{"sourceLabels": {"a b": "c"}}]), ["'a b': 'c' is not a label"], id="no label of a caller"
        ),
        pytest.param(
            http(retries={"attempts": 1, "retryOn": "499"}),
            ["'499' is not a retry condition or an HTTP code"],
            id="a code that has no name",
        ),
        pytest.param(
            http(retries={"attempts": 0, "retryRemoteLocalities": True}),
            ["retryRemoteLocalities needs attempts greater than 0"],
            id="remote retries that are off",
        ),
        pytest.param(
            http(rewrite={"uri": "/", "uriRegexRewrite": {"match": "a", "rewrite": "b"}}),
            ["a rewrite has either uri or uriRegexRewrite"],
            id="two rewrites",
        ),
    ],
)
def test_virtual_services_that_are_refused(spec: Any, expected: list[str]) -> None:
    assert found("VirtualService", spec) == expected


def pool(**more: Any) -> Any:
    return {"host": "a", "trafficPolicy": more}


RANDOM = {"loadBalancer": {"simple": "RANDOM"}}
LEVEL = {"port": {"number": 80}, **RANDOM}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"host": "*.example.com", "subsets": [{"name": "v1"}, {"name": "v2"}]}, [], id="fine"),
        pytest.param(
            pool(
                portLevelSettings=[LEVEL, LEVEL | {"port": {"number": 81}}], loadBalancer={"warmup": {"duration": "1s"}}
            ),
            [],
            id="a policy that is fine",
        ),
        pytest.param({"host": "a b"}, ["'a b' is not a host name"], id="no host"),
        pytest.param(pool(), ["a policy needs at least one block"], id="an empty policy"),
        pytest.param(pool(connectionPool={}), ["a connection pool needs tcp or http"], id="an empty pool"),
        pytest.param(
            pool(connectionPool={"http": {"useClientProtocol": True, "h2UpgradePolicy": "UPGRADE"}}),
            ["the client's protocol is not kept where HTTP/2 is forced"],
            id="two protocols",
        ),
        pytest.param(
            pool(portLevelSettings=[{"port": {"number": 80}}]),
            ["settings of a port need at least one block"],
            id="nothing for a port",
        ),
        pytest.param(
            pool(loadBalancer={"simple": "RANDOM", "consistentHash": {"useSourceIp": True}}),
            ["a load balancer has either simple or consistentHash"],
            id="two balancers",
        ),
        pytest.param(
            pool(loadBalancer={"consistentHash": {"useSourceIp": True, "httpHeaderName": "a"}}),
            ["one key is hashed, not several of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName"],
            id="two keys",
        ),
        pytest.param(
            pool(loadBalancer={"consistentHash": {"useSourceIp": True, "ringHash": {}, "minimumRingSize": 9}}),
            ["only one of ringHash, maglev and minimumRingSize"],
            id="two rings",
        ),
        pytest.param(
            pool(loadBalancer={"localityLbSetting": {"distribute": [{"from": "eu", "to": {"us": 50}}]}}),
            ["shares are from 1 to 100 and sum to 100"],
            id="half of the work",
        ),
        pytest.param(
            pool(loadBalancer={"localityLbSetting": {"failover": [{"from": "eu/a", "to": "us"}]}}),
            ["failover is from one region to another"],
            id="failover of a zone",
        ),
        pytest.param(
            pool(outlierDetection={"consecutiveLocalOriginFailures": 3}),
            ["local failures are counted apart only with splitExternalLocalOriginErrors"],
            id="local failures",
        ),
        pytest.param(
            {"host": "a", "exportTo": ["*"], "workloadSelector": {"matchLabels": {"a": "b"}}},
            ["a rule for some workloads can't be exported to other namespaces"],
            id="a selector for others",
        ),
        pytest.param(
            {"host": "a", "subsets": [{"name": "v1"}, {"name": "v1"}]},
            ["there is a subset 'v1' already"],
            id="a subset twice",
        ),
        pytest.param({"host": "a", "subsets": [{"name": "V1"}]}, ["'V1' is not a DNS label"], id="no label"),
        pytest.param(
            pool(portLevelSettings=[LEVEL, LEVEL]), ["there are settings for port 80 already"], id="a port twice"
        ),
        pytest.param(
            pool(portLevelSettings=[RANDOM]), ["settings of a port need the port's number"], id="a port without number"
        ),
        pytest.param(
            pool(loadBalancer={"warmup": {"duration": "1s"}, "warmupDurationSecs": "1s"}),
            ["warmup and warmupDurationSecs say the same: keep warmup"],
            id="said twice",
        ),
        pytest.param(
            pool(loadBalancer={"simple": "RANDOM", "warmup": {"duration": "1s"}}),
            ["endpoints warm up with ROUND_ROBIN and LEAST_REQUEST only"],
            id="random doesn't warm up",
        ),
        pytest.param(
            pool(portLevelSettings=[LEVEL | {"loadBalancer": {"simple": "RANDOM", "warmupDurationSecs": "1s"}}]),
            ["endpoints warm up with ROUND_ROBIN and LEAST_REQUEST only"],
            id="nor on a port",
        ),
        pytest.param(
            {"host": "a", "subsets": [{"name": "v1", "trafficPolicy": {"portLevelSettings": [LEVEL, LEVEL]}}]},
            ["there are settings for port 80 already"],
            id="in a subset",
        ),
    ],
)
def test_destination_rules(spec: Any, expected: list[str]) -> None:
    assert found("DestinationRule", spec) == expected


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        pytest.param(["*"], [], id="every host"),
        pytest.param(
            ["a.example.com", "./b.example.com", "*/c.example.com", "shop/*.example.com"], [], id="by namespace"
        ),
        pytest.param(["a"], ["'a' is not a full host name, * or namespace/host"], id="a short name"),
        pytest.param(["./a_b!c.d"], ["'./a_b!c.d' is not a full host name, * or namespace/host"], id="no host"),
    ],
)
def test_gateways(hosts: list[str], expected: list[str]) -> None:
    server = {"port": {"number": 80, "protocol": "HTTP"}, "bind": "127.0.0.2", "hosts": hosts}
    assert found("Gateway", {"servers": [server]}) == expected


PORT = {"number": 80, "name": "http", "protocol": "HTTP"}


def entry(**more: Any) -> Any:
    return {"hosts": ["a.example.com"], "ports": [PORT], "resolution": "STATIC"} | more


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(entry(), [], id="fine"),
        pytest.param(
            entry(
                addresses=["127.0.0.9"],
                endpoints=[{"address": "127.0.0.2", "ports": {"http": 81}}, {"address": "unix:///run/a"}],
            ),
            [],
            id="endpoints",
        ),
        pytest.param(entry(resolution="DNS", endpoints=[{"address": "b.example.com"}]), [], id="names"),
        pytest.param(entry(workloadSelector={"labels": {"a": "b"}}), [], id="by workload"),
        pytest.param(entry(hosts=["*.example.com"]), [], id="a wildcard with addresses"),
        pytest.param(entry(hosts=["*"]), ["the host * is not allowed"], id="every host"),
        pytest.param(entry(hosts=["a b"]), ["'a b' is not a host name"], id="no host"),
        pytest.param(entry(hosts=["a.b", "A.b"]), ["'a.b' stands there already"], id="a host twice"),
        pytest.param(
            entry(hosts=["*.example.com"], resolution="DNS"),
            ["a wildcard host can't be looked up by DNS"],
            id="a wildcard in DNS",
        ),
        pytest.param({"hosts": ["a.b"], "resolution": "STATIC"}, [], id="no ports"),
        pytest.param(
            entry(ports=[PORT, PORT | {"name": "other"}]), ["there is a port 80 already"], id="a number twice"
        ),
        pytest.param(
            entry(ports=[PORT, PORT | {"number": 81}]), ["there is a port called 'http' already"], id="a name twice"
        ),
        pytest.param(
            entry(endpoints=[{"address": "127.0.0.1"}], workloadSelector={"labels": {"a": "b"}}),
            ["a service has either endpoints or a workloadSelector"],
            id="both",
        ),
        pytest.param(
            entry(workloadSelector={}), ["a workloadSelector without labels picks nothing"], id="a selector of nothing"
        ),
        pytest.param(
            entry(endpoints=[{"address": "b.example.com"}]),
            ["'b.example.com' is not an address"],
            id="a name that isn't looked up",
        ),
        pytest.param(
            entry(endpoints=[{"address": "127.0.0.1", "ports": {"grpc": 1}}]),
            ["the service has no port called 'grpc'"],
            id="an unknown port",
        ),
        pytest.param(
            entry(endpoints=[{"address": "unix://a"}]), ["'unix://a' has no absolute path"], id="a relative socket"
        ),
        pytest.param(entry(addresses=["10.0.0.0/8"]), ["'10.0.0.0/8' is not an address"], id="a range"),
        pytest.param(entry(exportTo=["*", "*"]), ["exportTo names '*' twice"], id="exported twice"),
    ],
)
def test_service_entries(spec: Any, expected: list[str]) -> None:
    assert found("ServiceEntry", spec) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"address": "127.0.0.2"}, [], id="an address"),
        pytest.param({"address": "::1"}, [], id="by IPv6"),
        pytest.param({"address": "a.example.com"}, [], id="a name"),
        pytest.param({"address": "unix:///run/a"}, [], id="a socket"),
        pytest.param(
            {"address": "unix:///run/a", "ports": {"http": 1}}, ["a unix socket has no ports"], id="a socket's port"
        ),
        pytest.param({"address": "a b"}, ["'a b' is neither an address nor a name nor unix:///path"], id="nothing"),
    ],
)
def test_workload_entries(spec: Any, expected: list[str]) -> None:
    assert found("WorkloadEntry", spec) == expected


NOTHING_OUT = [{"hosts": ["~/*"]}]


def ingress(endpoint: str, number: int = 80) -> Any:
    return {"port": {"number": number, "protocol": "HTTP"}, "defaultEndpoint": endpoint}


def egress(*hosts: str, number: int | None = 80) -> Any:
    return ({} if number is None else {"port": {"number": number, "protocol": "HTTP"}}) | {"hosts": list(hosts)}


FORM = "is not 127.0.0.1:port, [::1]:port, 0.0.0.0:port or unix:///path"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"egress": NOTHING_OUT}, [], id="nothing"),
        pytest.param(
            {
                "egress": NOTHING_OUT,
                "ingress": [
                    ingress("127.0.0.1:1"),
                    ingress("0.0.0.0:1", 81),
                    ingress("[::1]:1", 82),
                    ingress("unix:///a", 83),
                ],
            },
            [],
            id="ways in",
        ),
        pytest.param(
            {"egress": [egress("./*", "*/a.b", "shop/*.b"), egress("./*", number=81), egress("~/*", number=None)]},
            [],
            id="ways out",
        ),
        pytest.param(
            {},
            ["without egress istiod would open a listener at 127.0.0.1 for every service of the mesh"],
            id="nothing said about ways out",
        ),
        pytest.param(
            {"egress": NOTHING_OUT, "ingress": [ingress("127.0.0.2:1")]},
            [f"'127.0.0.2:1' {FORM}"],
            id="another address",
        ),
        pytest.param({"egress": NOTHING_OUT, "ingress": [ingress("127.0.0.1")]}, [f"'127.0.0.1' {FORM}"], id="no port"),
        pytest.param(
            {"egress": NOTHING_OUT, "ingress": [ingress("127.0.0.1:0")]}, [f"'127.0.0.1:0' {FORM}"], id="port 0"
        ),
        pytest.param(
            {"egress": NOTHING_OUT, "ingress": [ingress("unix://a")]}, [f"'unix://a' {FORM}"], id="a relative socket"
        ),
        pytest.param(
            {"egress": NOTHING_OUT, "ingress": [ingress("0.0.0.0:1"), ingress("0.0.0.0:2")]},
            ["there is a listener on port 80 already"],
            id="a port twice, in",
        ),
        pytest.param(
            {"egress": [egress("./*"), egress("./a.b")]},
            ["there is a listener on port 80 already"],
            id="a port twice, out",
        ),
        pytest.param(
            {"egress": [egress("./*", number=None)]},
            ["without a port istiod would listen at every service's port"],
            id="out at every port",
        ),
        pytest.param(
            {"egress": [egress("~/*", number=None), egress("./*")]},
            ["only the last listener may have no port"],
            id="the rest comes last",
        ),
        pytest.param({"egress": [egress("a.b")]}, ["'a.b' is not namespace/host"], id="no namespace"),
        pytest.param({"egress": [egress("A/*")]}, ["'A/*' is not namespace/host"], id="no namespace's name"),
        pytest.param({"egress": [egress("./a b")]}, ["'./a b' is not namespace/host"], id="no host"),
    ],
)
def test_sidecars(spec: Any, expected: list[str]) -> None:
    assert found("Sidecar", spec) == expected


def test_a_hint_says_what_to_write() -> None:
    (problem,) = broken_rules(document("Sidecar", {"egress": NOTHING_OUT, "ingress": [ingress("127.0.0.2:7")]}))
    assert problem.hint == "0.0.0.0:7 is the workload's own address"
    (problem,) = broken_rules(document("VirtualService", http(retries={"attempts": 1, "retryOn": "5xx, reset"})))
    assert problem.hint == "no spaces around commas"


def test_all_findings_come_together() -> None:
    spec = {
        "hosts": ["*"],
        "http": [{}, {"route": [TO | {"weight": 0}, TO], "retries": {"attempts": 1, "retryOn": "x"}}],
    }
    assert len(found("VirtualService", spec)) == 4
