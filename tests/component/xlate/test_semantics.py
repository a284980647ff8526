"""Do documents mean on a real Envoy what they mean on Istio? Requests through a gateway, and what came of them."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.mesh_running import running_mesh
from tests.support.xlate_documents import edge, make, service, to
from tests.support.xlate_requests import NET, Case, backend, files, objections

pytestmark = pytest.mark.envoy

ROUTES: list[dict[str, Any]] = [
    {"match": [{"uri": {"exact": "/exact"}}], "route": [to("echo", "v2")]},
    {"match": [{"uri": {"prefix": "/pre"}}], "route": [to("echo", "v2")]},
    {"match": [{"uri": {"regex": "/re[0-9]"}}], "route": [to("echo", "v2")]},
    {"match": [{"uri": {"prefix": "/CASE"}, "ignoreUriCase": True}], "route": [to("echo", "v2")]},
    {"match": [{"headers": {"x-user": {"exact": "tester"}}}], "route": [to("echo", "v2")]},
    {
        "match": [{"uri": {"prefix": "/without"}, "withoutHeaders": {"x-old": {"exact": "1"}}}],
        "route": [to("echo", "v2")],
    },
    {"match": [{"queryParams": {"v": {"exact": "2"}}}], "route": [to("echo", "v2")]},
    {"match": [{"method": {"exact": "PUT"}}], "route": [to("echo", "v2")]},
    {"match": [{"sourceLabels": {"not": "here"}}], "directResponse": {"status": 500}},
    {
        "match": [{"uri": {"prefix": "/moved"}}],
        "redirect": {"uri": "/here", "authority": "b.example.com", "redirectCode": 302},
    },
    {"match": [{"uri": {"exact": "/fine"}}], "directResponse": {"status": 299, "body": {"string": "fine"}}},
    {
        "match": [{"uri": {"prefix": "/cut/"}}],
        "rewrite": {"uri": "/", "authority": "other"},
        "route": [to("echo", "v1")],
    },
    {
        "match": [{"uri": {"prefix": "/swap"}}],
        "rewrite": {"uriRegexRewrite": {"match": "^/swap/(.*)/(.*)$", "rewrite": "/\\2/\\1"}},
        "route": [to("echo", "v1")],
    },
    {
        "match": [{"uri": {"prefix": "/headers"}}],
        "headers": {
            "request": {"set": {"x-set": "route"}, "add": {"x-both": "route"}, "remove": ["x-gone"]},
            "response": {"set": {"x-answer": "yes"}, "remove": ["x-backend"]},
        },
        "route": [to("echo", "v1", headers={"request": {"add": {"x-both": "destination"}}})],
    },
    {
        "match": [{"uri": {"prefix": "/retry"}}],
        "retries": {"attempts": 3, "retryOn": "503"},
        "route": [to("echo", "v1")],
    },
    {"match": [{"uri": {"prefix": "/off"}}], "retries": {}, "route": [to("echo", "v1")]},
    {"match": [{"uri": {"prefix": "/slow"}}], "timeout": "150ms", "retries": {}, "route": [to("echo", "v1")]},
    {"match": [{"uri": {"prefix": "/socket"}}], "route": [to("echo", "v3")]},
    {"match": [{"uri": {"prefix": "/nobody"}}], "route": [to("echo", "v4")]},
    {"match": [{"uri": {"prefix": "/zero"}}], "route": [to("echo", "v1", 0), to("echo", "v2", 3)]},
    {"route": [to("echo", "v1")]},
]


def documents(socket: Path) -> dict[str, str]:
    """The mesh: a gateway, two plain workloads, and one behind an Envoy that reaches it by a unix socket."""
    versions = ("v1", "v2", "v3", "v4")
    labels = {"app": "socket", "version": "v3"}
    ingress = {"port": {"number": 8000, "protocol": "HTTP"}, "bind": f"{NET}.13", "defaultEndpoint": f"unix://{socket}"}
    found = [
        edge("*.example.com", bind=f"{NET}.2"),
        service(
            "echo",
            port=8000,
            protocol="HTTP",
            endpoints=[
                {"address": f"{NET}.{10 + number}", "labels": {"version": f"v{number}"}} for number in (1, 2, 3)
            ],
        ),
        make(
            "DestinationRule",
            "echo",
            {"host": "echo", "subsets": [{"name": v, "labels": {"version": v}} for v in versions]},
        ),
        make("VirtualService", "edge", {"hosts": ["a.example.com"], "gateways": ["edge"], "http": ROUTES}),
        make("WorkloadEntry", "socket", {"address": f"{NET}.13", "labels": labels}),
        make(
            "Sidecar",
            "socket",
            {"workloadSelector": {"labels": labels}, "ingress": [ingress], "egress": [{"hosts": ["~/*"]}]},
        ),
    ]
    return files(found)


V1, V2 = {"version": "v1"}, {"version": "v2"}
CASES = {
    "the rest": Case("/", seen=V1 | {"tries": 1}),
    "a client's count is overwritten": Case("/", sent={"x-envoy-attempt-count": "9"}, seen={"tries": 1}),
    "exact": Case("/exact", seen=V2),
    "exact takes nothing longer": Case("/exact/", seen=V1),
    "a prefix is a string prefix": Case("/prefix", seen=V2),
    "a regex is whole": Case("/re1", seen=V2),
    "a regex is not a part": Case("/re12", seen=V1),
    "ignored case": Case("/case", seen=V2),
    "a header": Case("/", sent={"x-user": "tester"}, seen=V2),
    "another value of it": Case("/", sent={"x-user": "else"}, seen=V1),
    "without the header": Case("/without", seen=V2),
    "with it": Case("/without", sent={"x-old": "1"}, seen=V1),
    "with another value of it": Case("/without", sent={"x-old": "2"}, seen=V2),
    "a query parameter": Case("/?v=2", seen=V2),
    "a method": Case("/", method="PUT", seen=V2),
    "a redirect": Case("/moved/x", 302, answered={"location": "http://b.example.com/here"}),
    "an answer of its own": Case("/fine", 299),
    "a rewritten prefix": Case("/cut/a", seen={"path": "/a", "host": "other"}),
    "a rewritten path": Case("/swap/a/b", seen={"path": "/b/a"}),
    "header operations": Case(
        "/headers",
        sent={"x-set": "client", "x-both": "client", "x-gone": "client"},
        arrived={"x-set": ["route"], "x-both": ["client", "route", "destination"], "x-gone": None},
        answered={"x-answer": "yes", "x-backend": None},
    ),
    "other routes leave headers alone": Case(
        "/", sent={"x-gone": "client"}, arrived={"x-gone": ["client"]}, answered={"x-backend": "yes", "x-answer": None}
    ),
    "503 is not retried by default": Case("/?fail=1", 503, seen={"tries": 1}),
    "503 is retried when asked for": Case("/retry?fail=2", seen={"tries": 3}),
    "no more often than asked for": Case("/retry?fail=9", 503, seen={"tries": 4}),
    "retries that are off": Case("/off?fail=1", 503, seen={"tries": 1}),
    "a timeout": Case("/slow?late=5", 504),
    "through a unix socket": Case("/socket", seen={"version": "v3", "tries": 1}),
    "a subset without endpoints": Case("/nobody", 503),
    "weight 0 is never drawn": Case("/zero", seen=V2),
}


async def test_requests_go_where_the_documents_send_them(tmp_path: Path) -> None:
    socket = tmp_path / "v3.sock"
    async with AsyncExitStack() as stack:
        mesh = await stack.enter_async_context(running_mesh(tmp_path, documents(socket)))
        await stack.enter_async_context(backend("v1", host=f"{mesh.net}.11"))
        await stack.enter_async_context(backend("v2", host=f"{mesh.net}.12"))
        await stack.enter_async_context(backend("v3", socket=socket))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        wrong = {name: await objections(session, f"http://{mesh.gateway}", case) for name, case in CASES.items()}
    assert {name: found for name, found in wrong.items() if found} == {}
