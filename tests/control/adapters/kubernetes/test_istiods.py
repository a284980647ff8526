"""An istiod that is silent keeps nobody waiting twice, and is heard again when it speaks."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from control.adapters.kubernetes.istiod import Istiods
from control.errors import Unavailable

NEVER_S = 60.0
"""A deadline that no call of these tests may wait for."""


class Debug:
    """An istiod's debug interface: fails, is silent until told to speak, or answers."""

    def __init__(self) -> None:
        self.status = 500
        self.silent = False
        self.speaks = asyncio.Event()
        self.asked = 0

    async def syncz(self, _request: web.Request) -> web.Response:
        self.asked += 1
        if self.silent:
            await self.speaks.wait()
        return web.json_response([{"proxy": "a"}], status=self.status)


@pytest_asyncio.fixture
async def debug() -> AsyncIterator[tuple[Debug, str]]:
    found, app = Debug(), web.Application()
    app.router.add_get("/debug/syncz", found.syncz)
    async with TestServer(app) as server:
        yield found, str(server.make_url("")).rstrip("/")


async def test_who_did_not_answer_is_asked_again_and_nobody_waits(debug: tuple[Debug, str]) -> None:
    istiod, url = debug
    nobody: Any = None
    asked = Istiods(nobody, [url], deadline_s=NEVER_S)
    try:
        with pytest.raises(Unavailable):
            await asked.syncz(url)
        istiod.silent, istiod.status = True, 200
        async with asyncio.timeout(NEVER_S / 2):
            for _ in range(5):
                asked.forget()
                with pytest.raises(Unavailable, match="does not answer"):
                    await asked.syncz(url)
                await asyncio.sleep(0.06)
            assert istiod.asked == 2
            istiod.speaks.set()
            while True:
                try:
                    assert await asked.syncz(url) == [{"proxy": "a"}]
                    break
                except Unavailable:
                    await asyncio.sleep(0.01)
    finally:
        await asked.close()


@pytest.mark.parametrize("status", [401, 403])
async def test_one_that_wants_to_know_who_asks_is_told_apart(debug: tuple[Debug, str], status: int) -> None:
    istiod, url = debug
    istiod.status = status
    nobody: Any = None
    asked = Istiods(nobody, [url], deadline_s=NEVER_S)
    try:
        with pytest.raises(Unavailable, match=f"wants to know who asks \\({status}\\)"):
            await asked.syncz(url)
    finally:
        await asked.close()
