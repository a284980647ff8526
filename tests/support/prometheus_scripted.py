"""A server that speaks Prometheus's API and says what a test tells it to: for faults that a real one has seldom."""

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

EMPTY: dict[str, Any] = {"status": "success", "data": {"resultType": "matrix", "result": []}}


@dataclass
class ScriptedPrometheus:
    """`body` is what it answers (JSON, or a text as it is), by name of the metric in `bodies`; with `hangs` it doesn't
    until the end of the test. Requests are kept.
    """

    status: int = 200
    body: Any = field(default_factory=lambda: EMPTY)
    bodies: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    queries: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    shown: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        self.queries.append(form.get("query", ""))
        self.shown.append(dict(request.headers))
        self.paths.append(request.path)
        if self.hangs:
            await self.over.wait()
        body = next((each for name, each in self.bodies.items() if name in self.queries[-1]), self.body)
        text = body if isinstance(body, str) else json.dumps(body)
        return web.Response(status=self.status, text=text, headers=self.headers)


@asynccontextmanager
async def scripted(server: ScriptedPrometheus, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """The server on a free port. Yields its URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        server.over.set()
        await runner.cleanup()


@dataclass(frozen=True)
class Certificates:
    """A certificate of 127.0.0.1 that signs itself, so that it is its own authority, and its key."""

    certificate: Path
    key: Path


def certificates(folder: Path) -> Certificates:
    made = Certificates(folder / "cert.pem", folder / "key.pem")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(made.key), "-out", str(made.certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return made
