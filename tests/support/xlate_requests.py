"""Requests through a gateway of real Envoys to backends that tell what arrived."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from mesh.istio.document import Document

NET = "127.254.254"
"""Stands for the mesh's own net in the documents."""


def files(documents: Iterable[Document]) -> dict[str, str]:
    """The documents as files of a running mesh, whose net they then have."""
    texts = {document.file: document.text.decode() for document in documents}
    return {file: text.replace("{", "{{").replace("}", "}}").replace(NET, "{net}") for file, text in texts.items()}


async def echo(request: web.Request) -> web.Response:
    """What arrived; answers 503 while the try's number is at most `fail` or its version is `sick`; late if asked to."""
    tries = int(request.headers.get("x-envoy-attempt-count", "0"))
    await asyncio.sleep(float(request.query.get("late", "0")))
    sick = request.query.get("sick") == request.app["version"]
    status = 503 if sick or tries <= int(request.query.get("fail", "0")) else 200
    request.app["requests"].append(request.path)
    seen = {"version": request.app["version"], "path": request.path, "tries": tries, "host": request.host}
    body = seen | {"headers": {name.lower(): request.headers.getall(name) for name in request.headers}}
    return web.json_response(body, status=status, headers={"x-backend": "yes"})


@asynccontextmanager
async def backend(version: str, *, host: str = "", socket: Path | None = None) -> AsyncIterator[list[str]]:
    """A server of this version; the paths of the requests that it got."""
    app = web.Application()
    requests: list[str] = []
    app["requests"] = requests
    app["version"] = version
    app.router.add_route("*", "/{tail:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.UnixSite(runner, str(socket)) if socket else web.TCPSite(runner, host, 8000)
    await site.start()
    try:
        yield requests
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


async def objections(session: aiohttp.ClientSession, url: str, case: Case) -> list[str]:
    """What is wrong with what came of a request."""
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
