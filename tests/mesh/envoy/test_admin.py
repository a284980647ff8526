"""The admin client: what a dead Envoy and a refusal look like. The living one is seen in the component tests."""

import aiohttp
import pytest
from aiohttp import web

from mesh.envoy.admin import Admin, Unreachable
from mesh.runner.taken import free_port


async def test_nobody_there_is_unreachable() -> None:
    async with aiohttp.ClientSession() as session:
        admin = Admin(session, f"127.0.0.1:{free_port('127.0.0.1')}")
        for call in (admin.stats("x"), admin.drain()):
            with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1"):
                await call


async def test_another_answer_than_200_is_unreachable_too() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=503)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    async with aiohttp.ClientSession() as session:
        with pytest.raises(Unreachable, match="answered 503"):
            await Admin(session, f"{host}:{port}").drain()
    await runner.cleanup()
