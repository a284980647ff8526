"""A real redis-server on a unix socket, and a real connection to it that can be made to stall."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from redis.asyncio import Redis

from tests.support.mesh_wait import until


@dataclass
class RedisServer:
    """A server that can be killed and started again. Its folder is short, as socket paths must be."""

    folder: Path
    process: asyncio.subprocess.Process | None = None

    @property
    def socket(self) -> Path:
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    async def start(self) -> None:
        """Start it and wait for its first answer."""
        self.process = await asyncio.create_subprocess_exec(
            "redis-server",
            *("--port", "0", "--unixsocket", str(self.socket), "--save", "", "--dir", str(self.folder)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await until(self._answers, within_s=90, what="redis-server answers")

    async def kill(self) -> None:
        """End it at once."""
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def _answers(self) -> bool:
        async with Redis.from_url(self.url, socket_timeout=1) as client:
            with contextlib.suppress(Exception):
                return bool(await client.ping())
        return False


@asynccontextmanager
async def redis_server() -> AsyncIterator[RedisServer]:
    """A running server, killed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tg-redis-"))
    server = RedisServer(folder)
    try:
        await server.start()
        yield server
    finally:
        await server.kill()
        shutil.rmtree(folder)


@dataclass
class StallingProxy:
    """Passes bytes on to a unix socket while `flowing`; holds them, connections open, while not."""

    target: Path
    address: str = ""
    flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _links: set[asyncio.Task[None]] = field(default_factory=set)

    async def link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._links.add(task)
        upstream, downstream = await asyncio.open_unix_connection(str(self.target))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, downstream))
                both.create_task(self._pass(upstream, writer))
        finally:
            writer.close()
            downstream.close()
            self._links.discard(task)

    async def end(self) -> None:
        for task in list(self._links):
            task.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                await self.flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def stalling_proxy(target: Path) -> AsyncIterator[StallingProxy]:
    """A TCP proxy to the unix socket `target`."""
    proxy = StallingProxy(target)
    proxy.flowing.set()
    server = await asyncio.start_server(proxy.link, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    proxy.address = f"redis://{host}:{port}/0"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
