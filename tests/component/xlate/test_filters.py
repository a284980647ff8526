"""Do faults, copies, CORS, hashing, ejection and delegates do on a real Envoy what the documents ask for?"""

import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from mesh.istio.document import Document
from tests.support.mesh_running import running_mesh
from tests.support.mesh_wait import until
from tests.support.xlate_documents import edge, make, rule, service, to
from tests.support.xlate_requests import NET, Case, backend, files, objections

pytestmark = pytest.mark.envoy

WAIT_S = 0.3
EVERY = {"value": 100}
ORIGIN = {"origin": "https://a.example.com", "access-control-request-method": "GET"}
ROUTES: list[dict[str, Any]] = [
    {
        "match": [{"uri": {"prefix": "/delay"}}],
        "fault": {"delay": {"fixedDelay": f"{WAIT_S}s", "percentage": EVERY}},
        "route": [to("echo", "v1")],
    },
    {
        "match": [{"uri": {"prefix": "/abort"}}],
        "fault": {"abort": {"httpStatus": 418, "percentage": EVERY}},
        "route": [to("echo", "v1")],
    },
    {"match": [{"uri": {"prefix": "/never"}}], "fault": {"abort": {"httpStatus": 418}}, "route": [to("echo", "v1")]},
    {
        "match": [{"uri": {"prefix": "/cors"}}],
        "corsPolicy": {"allowOrigins": [{"exact": ORIGIN["origin"]}], "allowMethods": ["GET"], "maxAge": "60s"},
        "route": [to("echo", "v1")],
    },
    {"match": [{"uri": {"prefix": "/copy"}}], "mirror": {"host": "echo", "subset": "v2"}, "route": [to("echo", "v1")]},
    {"match": [{"uri": {"prefix": "/ring"}}], "route": [to("ring")]},
    {"match": [{"uri": {"prefix": "/sick"}}], "retries": {}, "route": [to("sick")]},
    {"match": [{"uri": {"prefix": "/leaf"}}], "delegate": {"name": "leaf"}},
    {"match": [{"uri": {"prefix": "/raw"}}], "directResponse": {"status": 200, "body": {"bytes": "e30="}}},
    {"route": [to("echo", "v1")]},
]
HASHED = {"loadBalancer": {"consistentHash": {"httpHeaderName": "x-user"}}}
EJECTING = {"outlierDetection": {"consecutive5xxErrors": 1, "baseEjectionTime": "60s", "maxEjectionPercent": 100}}


def documents() -> list[Document]:
    endpoints = [{"address": f"{NET}.1{number}", "labels": {"version": f"v{number}"}} for number in (1, 2)]
    services = [service(name, port=8000, protocol="HTTP", endpoints=endpoints) for name in ("echo", "ring", "sick")]
    return [
        edge("*.example.com", bind=f"{NET}.2"),
        *services,
        rule("echo"),
        rule("ring", trafficPolicy=HASHED, subsets=[]),
        rule("sick", trafficPolicy=EJECTING, subsets=[]),
        make("VirtualService", "edge", {"hosts": ["a.example.com"], "gateways": ["edge"], "http": ROUTES}),
        make("VirtualService", "leaf", {"http": [{"rewrite": {"uri": "/under"}, "route": [to("echo", "v2")]}]}),
    ]


@dataclass(frozen=True)
class Scene:
    """A gateway's address, a client, and the paths that each version was asked for."""

    url: str
    session: aiohttp.ClientSession
    v1: list[str]
    v2: list[str]

    async def version(self, path: str, **headers: str) -> tuple[int, str]:
        """Status, and the version that answered."""
        async with self.session.get(self.url + path, headers={"host": "a.example.com", **headers}) as answer:
            return answer.status, json.loads(await answer.text())["version"]


@pytest_asyncio.fixture(name="scene")
async def running(tmp_path: Path) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        mesh = await stack.enter_async_context(running_mesh(tmp_path, files(documents())))
        v1 = await stack.enter_async_context(backend("v1", host=f"{mesh.net}.11"))
        v2 = await stack.enter_async_context(backend("v2", host=f"{mesh.net}.12"))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        yield Scene(f"http://{mesh.gateway}", session, v1, v2)


CASES = {
    "an injected answer": Case("/abort", 418),
    "a fault without a share never happens": Case("/never", seen={"version": "v1"}),
    "a preflight of a known site": Case(
        "/cors",
        method="OPTIONS",
        sent=ORIGIN,
        answered={"access-control-allow-origin": ORIGIN["origin"], "access-control-max-age": "60"},
    ),
    "a preflight of another site goes to the service": Case(
        "/cors",
        method="OPTIONS",
        sent=ORIGIN | {"origin": "https://b.example.com"},
        answered={"access-control-allow-origin": None},
        seen={"version": "v1"},
    ),
    "a delegate's route under its root's match": Case("/leaf/a", seen={"version": "v2", "path": "/under/a"}),
    "an answer in bytes": Case("/raw"),
}


async def test_requests(scene: Scene) -> None:
    wrong = {name: await objections(scene.session, scene.url, case) for name, case in CASES.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


async def test_a_delay_comes_before_the_service(scene: Scene) -> None:
    begin = time.monotonic()
    assert await scene.version("/delay") == (200, "v1")
    assert time.monotonic() - begin >= WAIT_S


async def test_a_copy_reaches_the_other_version_and_its_answer_nobody(scene: Scene) -> None:
    assert await scene.version("/copy?sick=v2") == (200, "v1")
    await until(lambda: "/copy" in scene.v2)
    assert scene.v1.count("/copy") == scene.v2.count("/copy") == 1


async def test_equal_keys_go_to_the_same_endpoint(scene: Scene) -> None:
    users = [f"user-{number}" for number in range(30)]
    first = {user: await scene.version("/ring", **{"x-user": user}) for user in users}
    again = {user: await scene.version("/ring", **{"x-user": user}) for user in users}
    assert first == again
    assert {version for _, version in first.values()} == {"v1", "v2"}


async def test_an_endpoint_that_fails_is_left_alone(scene: Scene) -> None:
    statuses = [(await scene.version("/sick?sick=v2"))[0] for _ in range(40)]
    assert statuses.count(503) == 1
    assert statuses[-10:] == [200] * 10
