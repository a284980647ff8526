"""What do the replicas share, and what happens when Redis is dead, slow or absent?

One MGET for the keys of a whole batch, one pipeline of SETs for its answers. Each has a few milliseconds; failures in
a row open the breaker and then the first level goes on alone. Nothing in here raises to a caller: a second level that
can't be asked is a miss.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from services.cache_proxy.breaker import Breaker, probe_delays

CONNECTIONS = 16
FIRST_CONTACT = timedelta(seconds=1)
FAILURES = (exceptions.RedisError, OSError, TimeoutError)


class SharedState(StrEnum):
    """Of the second level. Absent: none was configured."""

    ABSENT = "absent"
    UP = "up"
    DOWN = "down"


class SharedLevel(Protocol):
    """The second level as the service sees it."""

    @property
    def state(self) -> SharedState: ...

    async def get(self, names: Sequence[str]) -> Sequence[bytes | None]:
        """The values, in order; None for a miss and for everything when the level can't be asked."""

    async def put(self, items: Sequence[tuple[str, bytes, timedelta]]) -> bool:
        """Whether every item was stored."""


@dataclass(frozen=True, slots=True)
class NoSharedLevel:
    """No Redis was configured: the first level is all there is."""

    state: SharedState = SharedState.ABSENT

    async def get(self, names: Sequence[str]) -> Sequence[bytes | None]:
        return [None] * len(names)

    async def put(self, items: Sequence[tuple[str, bytes, timedelta]]) -> bool:  # noqa: ARG002
        return False


@dataclass(slots=True)
class RedisLevel:
    """A Redis server behind a time-out and a breaker.

    `changed` is told the new state and the failure that led to it ("" for none).
    """

    redis: Redis
    timeout: timedelta
    changed: Callable[[SharedState, str], None] = lambda _state, _reason: None
    breaker: Breaker = field(default_factory=Breaker)
    _prober: asyncio.Task[None] | None = None

    @property
    def state(self) -> SharedState:
        return SharedState.DOWN if self.breaker.is_open else SharedState.UP

    async def open(self) -> None:
        """Make first contact; without an answer the level starts as down and is probed on."""
        reason = await self._failure_of_ping(FIRST_CONTACT)
        if reason:
            self.breaker.trip()
            self._down(reason)
        else:
            self.changed(SharedState.UP, "")

    async def close(self) -> None:
        if self._prober:
            self._prober.cancel()
            await asyncio.gather(self._prober, return_exceptions=True)
        await self.redis.aclose()

    async def get(self, names: Sequence[str]) -> Sequence[bytes | None]:
        found = await self._ask(lambda: self.redis.mget(names)) if names else []
        return found if found is not None else [None] * len(names)

    async def put(self, items: Sequence[tuple[str, bytes, timedelta]]) -> bool:
        pipeline = self.redis.pipeline(transaction=False)
        for name, value, ttl in items:
            pipeline.set(name, value, px=max(1, ttl // timedelta(milliseconds=1)))
        return await self._ask(pipeline.execute) is not None

    async def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        if self.breaker.is_open:
            return None
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                answer = await question()
        except FAILURES as error:
            self._failed(_sentence(error))
            return None
        self.breaker.succeed()
        return answer

    def _failed(self, reason: str) -> None:
        if self.breaker.fail():
            self._down(reason)

    def _down(self, reason: str) -> None:
        self.changed(SharedState.DOWN, reason)
        self._prober = asyncio.create_task(self._probe())

    async def _probe(self) -> None:
        for delay in probe_delays():
            await asyncio.sleep(delay.total_seconds())
            if not await self._failure_of_ping(self.timeout):
                self.breaker.close()
                self.changed(SharedState.UP, "")
                return

    async def _failure_of_ping(self, timeout: timedelta) -> str:
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await self.redis.ping()
        except FAILURES as error:
            return _sentence(error)
        return ""


def redis_client(url: str, timeout: timedelta) -> Redis:
    """A client whose calls never retry by themselves.  Raises: ValueError for a URL that is none of Redis's."""
    pool = BlockingConnectionPool.from_url(
        url, max_connections=CONNECTIONS, timeout=timeout.total_seconds(), retry=Retry(NoBackoff(), 0)
    )
    return Redis.from_pool(pool)


def _sentence(error: BaseException) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
