"""What does an Envoy say about itself? A client of its admin interface.

Raises nothing but `Unreachable`, so that a dead Envoy is one case and not twenty.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

READY_EVERY_S = 0.02


class Unreachable(Exception):
    """The Envoy's admin interface did not answer, or not with 200."""


class Admin:
    """The admin interface at `host:port`. Units: `deadline_s` is seconds for one whole answer."""

    def __init__(self, session: aiohttp.ClientSession, address: str, *, deadline_s: float = 2.0) -> None:
        self.address = address
        self._session = session
        self._deadline = aiohttp.ClientTimeout(total=deadline_s)

    async def stats(self, pattern: str) -> dict[str, int]:
        """Counters and gauges whose name matches the regular expression."""
        async with self._answer("GET", "/stats", {"format": "json", "filter": pattern}) as answer:
            found: dict[str, Any] = await answer.json(content_type=None)
        return {stat["name"]: stat["value"] for stat in found["stats"] if "name" in stat}

    async def live(self) -> None:
        """Returns when the Envoy has everything it needs and takes requests. Waits for ever: give it a deadline."""
        while not await self._is_live():  # noqa: ASYNC110 (another process: there is nothing to be woken by)
            await asyncio.sleep(READY_EVERY_S)

    async def drain(self) -> None:
        """Asks it to close its listeners gracefully: running requests end, new connections are refused."""
        await self._text("POST", "/drain_listeners?graceful&skip_exit")

    async def _is_live(self) -> bool:
        try:
            return (await self._text("GET", "/ready")).strip() == "LIVE"
        except Unreachable:
            return False

    async def _text(self, method: str, path: str) -> str:
        async with self._answer(method, path) as answer:
            return await answer.text()

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, query: dict[str, str] | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = f"http://{self.address}{path}"
        try:
            async with self._session.request(method, url, params=query, timeout=self._deadline) as answer:
                if answer.status != 200:
                    raise Unreachable(f"{url} answered {answer.status}")
                yield answer
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unreachable(f"{url}: {error or type(error).__name__}") from error
