"""`python -m services.cache_proxy`: the process that remembers translations, in its memory and in Redis."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import click
from tidegate.cache.v1.cache_pb2_grpc import add_CacheServiceServicer_to_server

from services.cache_proxy.cache import TwoLevelCache
from services.cache_proxy.memory import MemoryCache
from services.cache_proxy.metrics import CacheMeter
from services.cache_proxy.servicer import MAX_TTL, CacheServicer
from services.cache_proxy.shared import NoSharedLevel, RedisLevel, SharedLevel, SharedState, redis_client
from services.runtime.options import ServiceOptions, service_options
from services.runtime.service import Binding, Runtime, run_service

NAME = "cache-proxy"
SERVICE_NAME = "tidegate.cache.v1.CacheService"
MIN_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How a cache is run.

    `redis`: URL of the second level; None: the first level only. `redis_timeout`: longest that a call waits for it.
    `max_bytes`: bound of the first level. `tenant_share`: how much of it one tenant may fill, 0 to 1. `ttl`: life of
    an entry that names none, ±10 %.
    """

    redis: str | None = None
    redis_timeout: timedelta = timedelta(milliseconds=5)
    max_bytes: int = 64 * 1024 * 1024
    tenant_share: float = 0.5
    ttl: timedelta = timedelta(hours=1)


@click.command(context_settings={"show_default": True})
@service_options
@click.option("--redis", help="redis://HOST:PORT/0 or unix:///PATH of the second level; none without.")
@click.option("--redis-timeout", type=click.FloatRange(0.1, 10_000), default=5.0, help="Milliseconds.")
@click.option("--max-bytes", type=click.IntRange(MIN_BYTES), default=64 * 1024 * 1024, help="Bound of the first level.")
@click.option(
    "--tenant-share", type=click.FloatRange(0, 1, min_open=True), default=0.5, help="Of the bound, for one tenant."
)
@click.option("--ttl", type=click.FloatRange(0.1, MAX_TTL.total_seconds()), default=3600.0, help="Seconds.")
def main(
    service: ServiceOptions, redis: str | None, redis_timeout: float, max_bytes: int, tenant_share: float, ttl: float
) -> None:
    """Remember translations, in memory and in Redis."""
    settings = CacheSettings(
        redis, timedelta(milliseconds=redis_timeout), max_bytes, tenant_share, timedelta(seconds=ttl)
    )
    try:
        shared_level(settings)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--redis") from error
    run_service(NAME, service, partial(open_service, settings))


@asynccontextmanager
async def open_service(settings: CacheSettings, runtime: Runtime) -> AsyncIterator[Sequence[Binding]]:
    """CacheService over fresh memory and the configured Redis."""
    meter = CacheMeter(runtime.meter)
    meter.start()
    memory = MemoryCache(settings.max_bytes, int(settings.max_bytes * settings.tenant_share), meter.evicted)
    async with _opened(shared_level(settings), runtime, meter) as shared:
        cache = TwoLevelCache(memory, shared, meter, random.Random().random)  # noqa: S311
        servicer = CacheServicer(cache, settings.ttl, partial(datetime.now, UTC))
        yield [Binding(SERVICE_NAME, partial(add_CacheServiceServicer_to_server, servicer))]


def shared_level(settings: CacheSettings) -> NoSharedLevel | RedisLevel:
    """The second level, not yet asked.  Raises: ValueError for a URL that is none of Redis's."""
    if settings.redis is None:
        return NoSharedLevel()
    return RedisLevel(redis_client(settings.redis, settings.redis_timeout), settings.redis_timeout)


@asynccontextmanager
async def _opened(level: NoSharedLevel | RedisLevel, runtime: Runtime, meter: CacheMeter) -> AsyncIterator[SharedLevel]:
    def changed(state: SharedState, reason: str) -> None:
        meter.redis(state)
        note = "" if state is SharedState.UP else "going on with the memory of this process alone"
        (runtime.log.info if state is SharedState.UP else runtime.log.warning)(
            "redis", state=state, reason=reason, note=note
        )

    if isinstance(level, NoSharedLevel):
        changed(SharedState.ABSENT, "no --redis given")
        yield level
        return
    level.changed = changed
    await level.open()
    try:
        yield level
    finally:
        await level.close()


if __name__ == "__main__":
    main()
