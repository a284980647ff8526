"""Do documents mean on a real Envoy what they mean on Istio? Requests through a gateway, and what came of them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.support.mesh_running import running_mesh
from tests.support.xlate_documents import edge, make, service, to

pytestmark = pytest.mark.envoy

NET = "127.254.254"
"""Stands for the mesh's own net in the documents."""
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
    texts = {document.file: document.text.decode() for document in found}
    return {file: text.replace("{", "{{").replace("}", "}}").replace(NET, "{net}") for file, text in texts.items()}


async def echo(request: web.Request) -> web.Response:
    """What arrived; answers 503 while the try's number is at most `fail`, and late when asked to."""
    tries = int(request.headers.get("x-envoy-attempt-count", "0"))
    await asyncio.sleep(float(request.query.get("late", "0")))
    status = 503 if tries <= int(request.query.get("fail", "0")) else 200
    seen = {"version": request.app["version"], "path": request.path, "tries": tries, "host": request.host}
    body = seen | {"headers": {name.lower(): request.headers.getall(name) for name in request.headers}}
    return web.json_response(body, status=status, headers={"x-backend": "yes"})


@asynccontextmanager
async def backend(version: str, *, host: str = "", socket: Path | None = None) -> AsyncIterator[None]:
    app = web.Application()
    app["version"] = version
    app.router.add_route("*", "/{tail:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.UnixSite(runner, str(socket)) if socket else web.TCPSite(runner, host, 8000)
    await site.start()
    try:
        yield
    finally:
        await runner.cleanup()


@dataclass(frozen=True)
class Case:
    """A request and what must come of it. `headers` are those that arrive, by name."""

    path: str
    status: int = 200
    method: str = "GET"
    sent: dict[str, str] = field(default_factory=dict)
    seen: dict[str, Any] = field(default_factory=dict)
    arrived: dict[str, list[str] | None] = field(default_factory=dict)
    answered: dict[str, str | None] = field(default_factory=dict)


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


async def objections(session: aiohttp.ClientSession, url: str, case: Case) -> list[str]:
    headers = {"host": "a.example.com"} | case.sent
    async with session.request(case.method, url + case.path, headers=headers, allow_redirects=False) as answer:
        text = await answer.text()
        found: dict[str, Any] = json.loads(text) if text.startswith("{") else {}
        wrong = [] if answer.status == case.status else [f"status {answer.status}"]
        wrong += [f"{name} {found.get(name)!r}" for name, value in case.seen.items() if found.get(name) != value]
        arrived = {name: _split(values) for name, values in found.get("headers", {}).items()}
        wrong += [f"{name} {arrived.get(name)}" for name, value in case.arrived.items() if arrived.get(name) != value]
        given = answer.headers
        wrong += [f"{name} {given.get(name)!r}" for name, value in case.answered.items() if given.get(name) != value]
        return wrong


def _split(values: list[str]) -> list[str]:
    return [part for value in values for part in value.split(",")]


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
