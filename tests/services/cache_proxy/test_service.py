"""CacheService over the wire, alone and with a real Redis that lives, dies and stalls."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from redis.asyncio import Redis
from tidegate.cache.v1 import cache_pb2 as pb
from tidegate.cache.v1.cache_pb2_grpc import CacheServiceStub

from services.cache_proxy.__main__ import NAME, CacheSettings, open_service
from services.runtime.options import ServiceOptions
from services.runtime.service import Runtime, serving
from tests.support.mesh_wait import until
from tests.support.redis_server import RedisServer, redis_server, stalling_proxy
from tests.support.work_process import module

LOCAL, SHARED, MISS = pb.CACHE_LEVEL_LOCAL, pb.CACHE_LEVEL_SHARED, pb.CACHE_LEVEL_UNSPECIFIED
PATIENT = timedelta(seconds=2)  # for tests that aren't about the time-out: the machine may be busy


@dataclass
class Cache:
    """A running cache, its stub and its metrics."""

    stub: Any
    runtime: Runtime

    async def store(self, *keys: pb.CacheKey, text: str = "hola", **more: Any) -> pb.BatchStoreResponse:
        value = pb.CachedTranslation(translated_text=text, unknown_ratio=0.25)
        entries = [pb.StoreEntry(key=key, value=value, **more) for key in keys]
        return await self.stub.BatchStore(pb.BatchStoreRequest(entries=entries))

    async def lookup(self, *keys: pb.CacheKey) -> Sequence[pb.LookupResult]:
        return (await self.stub.BatchLookup(pb.BatchLookupRequest(keys=keys))).results

    async def levels(self, *keys: pb.CacheKey) -> list[int]:
        return [result.level for result in await self.lookup(*keys)]

    def metric(self, name: str, **labels: str) -> float | None:
        return self.runtime.meter.registry.get_sample_value(f"tidegate_cache_{name}", labels)

    async def state(self, state: str) -> None:
        await until(lambda: self.metric("redis_state", state=state) == 1, within_s=10, what=f"redis {state}")


@asynccontextmanager
async def cache(settings: CacheSettings | None = None) -> AsyncIterator[Cache]:
    runtimes: list[Runtime] = []

    def opened(runtime: Runtime) -> Any:
        runtimes.append(runtime)
        return open_service(settings or CacheSettings(), runtime)

    async with (
        serving(NAME, ServiceOptions(drain_delay=timedelta(0)), opened) as service,
        grpc.aio.insecure_channel(str(service.listen)) as channel,
    ):
        yield Cache(CacheServiceStub(channel), runtimes[0])


@pytest.fixture
async def redis() -> AsyncIterator[RedisServer]:
    async with redis_server() as server:
        yield server


def key(content: str = "Hello.", **more: str) -> pb.CacheKey:
    return pb.CacheKey(source_language_code="en", target_language_code="es", model="m1", content=content, **more)


async def test_without_redis_the_first_level_answers_and_says_so() -> None:
    async with cache() as alone:
        assert await alone.levels(key()) == [MISS]
        assert await alone.store(key()) == pb.BatchStoreResponse(stored=1, shared=False)
        (found,) = await alone.lookup(key())
        assert (found.level, found.value.translated_text, found.value.unknown_ratio) == (LOCAL, "hola", 0.25)
        assert alone.metric("redis_state", state="absent") == 1
        assert (alone.metric("hits_total", level="local"), alone.metric("misses_total")) == (1, 1)
        assert (alone.metric("entries"), alone.metric("stored_total")) == (1, 1)


async def test_answers_keep_the_order_of_the_keys() -> None:
    async with cache() as alone:
        await alone.store(key("b"), key("d"))
        assert await alone.levels(*map(key, "abcdb")) == [MISS, LOCAL, MISS, LOCAL, LOCAL]


async def test_versions_and_tenants_never_read_each_others_answers() -> None:
    async with cache() as alone:
        await alone.store(key())
        v2 = key()
        v2.model = "m2"
        assert await alone.levels(v2, key(tenant="other"), key()) == [MISS, MISS, LOCAL]


async def test_a_shared_prefix_is_a_miss_and_is_counted() -> None:
    one, other = key("p" * 128 + "a" * 72), key("p" * 128 + "b" * 72)
    async with cache() as alone:
        await alone.store(one)
        assert await alone.levels(other) == [MISS]
        assert alone.metric("prefix_collision_total") == 1
        assert await alone.levels(one, key("q")) == [LOCAL, MISS]
        assert alone.metric("prefix_collision_total") == 1


async def test_later_entries_win() -> None:
    async with cache() as alone:
        entries = [pb.StoreEntry(key=key(), value=pb.CachedTranslation(translated_text=text)) for text in "ab"]
        await alone.stub.BatchStore(pb.BatchStoreRequest(entries=entries))
        assert [result.value.translated_text for result in await alone.lookup(key())] == ["b"]


async def test_an_entry_over_the_bound_is_not_taken() -> None:
    async with cache(CacheSettings(max_bytes=64 * 1024, tenant_share=0.5)) as alone:
        stored = await alone.store(key("large"), text="x" * 40_000)
        assert (stored.stored, alone.metric("refused_total"), alone.metric("bytes")) == (0, 1, 0)
        await alone.store(*[key(str(number)) for number in range(100)])
        assert 0 < alone.metric("bytes") <= 32 * 1024
        assert alone.metric("evictions_total", reason="quota") > 50


async def test_an_entry_lives_as_long_as_it_asked() -> None:
    async with cache() as alone:
        await alone.store(key(), ttl=Duration(nanos=20_000_000))
        await until(lambda: _all_missed(alone), what="the entry expires")


async def _all_missed(alone: Cache) -> bool:
    return await alone.levels(key()) == [MISS]


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        pytest.param(pb.BatchLookupRequest(), "at least one", id="no key"),
        pytest.param(pb.BatchLookupRequest(keys=[key("")] * 1_025), "1,024", id="too many keys"),
        pytest.param(pb.BatchStoreRequest(), "at least one", id="no entry"),
        pytest.param(
            pb.BatchStoreRequest(entries=[pb.StoreEntry(ttl=Duration(seconds=-1)), pb.StoreEntry(ttl=Duration())]),
            r"entries[1].ttl",
            id="lives that are none, all named",
        ),
        pytest.param(
            pb.BatchStoreRequest(entries=[pb.StoreEntry(ttl=Duration(seconds=10**9))]), "604800", id="too long a life"
        ),
    ],
)
async def test_refusals(request_: Any, says: str) -> None:
    async with cache() as alone:
        call = alone.stub.BatchLookup if isinstance(request_, pb.BatchLookupRequest) else alone.stub.BatchStore
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(request_)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert says in caught.value.details()


@pytest.mark.redis
async def test_replicas_share_through_redis_and_keep_what_they_read(redis: RedisServer) -> None:
    settings = CacheSettings(redis=redis.url, redis_timeout=PATIENT)
    async with cache(settings) as one, cache(settings) as other:
        assert await one.store(*map(key, "abc")) == pb.BatchStoreResponse(stored=3, shared=True)
        assert await other.levels(*map(key, "axc")) == [SHARED, MISS, SHARED]
        assert await other.levels(*map(key, "axc")) == [LOCAL, MISS, LOCAL]
        assert other.metric("hits_total", level="shared") == 2
        assert (await other.lookup(key("b")))[0].value.translated_text == "hola"


@pytest.mark.redis
async def test_lives_end_in_redis_too_within_the_jitter(redis: RedisServer) -> None:
    async with cache(CacheSettings(redis=redis.url, redis_timeout=PATIENT)) as one, Redis.from_url(redis.url) as client:
        await one.store(*[key(str(number)) for number in range(50)], ttl=Duration(seconds=1_000))
        lives = [await client.pttl(name) / 1000 for name in await client.keys("tc:1:*")]
    assert len(lives) == 50
    assert all(890 < life <= 1_100 for life in lives)
    assert max(lives) - min(lives) > 20


@pytest.mark.redis
@pytest.mark.parametrize(
    "foreign", [b"", b"not ours", b"\0\0\1\xff\0\0\0\0\xff\xff"], ids=["empty", "text", "no message"]
)
async def test_foreign_bytes_in_redis_are_a_miss(redis: RedisServer, foreign: bytes) -> None:
    async with cache(CacheSettings(redis=redis.url, redis_timeout=PATIENT)) as one, Redis.from_url(redis.url) as client:
        await one.store(key("known"))
        (name,) = await client.keys("tc:1:*")
        async with cache(CacheSettings(redis=redis.url, redis_timeout=PATIENT)) as other:
            await client.set(name, foreign)
            assert await other.levels(key("known")) == [MISS]


@pytest.mark.redis
async def test_redis_killed_in_the_middle_costs_no_request_and_comes_back_by_itself(redis: RedisServer) -> None:
    async with cache(CacheSettings(redis=redis.url, redis_timeout=PATIENT)) as one:
        assert (await one.store(key("before"))).shared
        await redis.kill()
        for number in range(20):
            stored = await one.store(key(f"during {number}"))
            assert (stored.stored, stored.shared) == (1, False)
            assert await one.levels(key(f"during {number}"), key("unknown")) == [LOCAL, MISS]
        await one.state("down")
        await redis.start()
        await one.state("up")
        assert (await one.store(key("after"))).shared


@pytest.mark.redis
async def test_a_redis_that_stalls_does_not_move_latency(redis: RedisServer) -> None:
    async with (
        stalling_proxy(redis.socket) as proxy,
        cache(CacheSettings(redis=proxy.address, redis_timeout=timedelta(milliseconds=50))) as one,
    ):
        await one.state("up")
        proxy.flowing.clear()
        times = [await _time_of(one, number) for number in range(100)]
        assert one.metric("redis_state", state="down") == 1
        assert max(times) < 1
        assert sum(time_s >= 0.05 for time_s in times) <= 10, "each call waited for the stalled Redis"
        proxy.flowing.set()
        await one.state("up")


async def _time_of(one: Cache, number: int) -> float:
    started = perf_counter()
    assert await one.levels(key(f"miss {number}")) == [MISS]
    return perf_counter() - started


@pytest.mark.redis
async def test_many_at_once_share_few_connections(redis: RedisServer) -> None:
    async with cache(CacheSettings(redis=redis.url, redis_timeout=PATIENT)) as one, Redis.from_url(redis.url) as client:
        answers = await asyncio.gather(*[one.levels(key(f"x{number}")) for number in range(300)])
        assert answers == [[MISS]] * 300
        assert len(await client.client_list()) <= 17


@pytest.mark.redis
async def test_a_redis_that_was_never_there_is_probed_until_it_is() -> None:
    async with redis_server() as server:
        await server.kill()
        async with cache(CacheSettings(redis=server.url, redis_timeout=PATIENT)) as one:
            await one.state("down")
            assert not (await one.store(key())).shared
            await server.start()
            await one.state("up")
            assert (await one.store(key())).shared


async def test_the_process_starts_answers_and_drains() -> None:
    async with module("services.cache_proxy", "--drain-delay", "0", "--max-bytes", "100000", "--ttl", "60") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            answer = await CacheServiceStub(channel).BatchLookup(pb.BatchLookupRequest(keys=[key()]))
        assert [result.level for result in answer.results] == [MISS]
        assert await process.end() == 0
        assert "memory of this process alone" in await process.complaint()


@pytest.mark.parametrize(
    "arguments", [("--redis", "http://example.com"), ("--max-bytes", "1"), ("--tenant-share", "0")], ids=lambda a: a[0]
)
async def test_bad_settings_stop_the_start(arguments: tuple[str, ...]) -> None:
    async with module("services.cache_proxy", *arguments) as process:
        assert await process.exit_code() == 2
        assert arguments[0] in await process.complaint()
