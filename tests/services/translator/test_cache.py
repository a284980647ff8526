"""What does the cache know, and what if it is away?"""

import grpc
import pytest
from tidegate.cache.v1 import cache_pb2 as pb
from tidegate.translation.v1 import translation_pb2

from services.translator.cache import CacheProxy, Entry, Key, Look, NoCache, batches
from services.translator.languages import Pair

HIT, MISS, AWAY = (
    translation_pb2.CACHE_RESULT_HIT_SHARED,
    translation_pb2.CACHE_RESULT_MISS,
    translation_pb2.CACHE_RESULT_UNAVAILABLE,
)


def key(content, model="m"):
    return Key(Pair("en", "es"), "", model, content)


class Stub:
    """A cache-proxy that answers as it is told."""

    def __init__(self, answer):
        self.answer, self.requests = answer, []

    async def BatchLookup(self, request):
        self.requests.append(request)
        return self.answer(request)

    BatchStore = BatchLookup


def away(_request):
    raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata())


def known(request):
    found = pb.LookupResult(
        level=pb.CACHE_LEVEL_SHARED, value=pb.CachedTranslation(translated_text="hola", unknown_ratio=0.5)
    )
    return pb.BatchLookupResponse(results=[found if k.content == "hello" else pb.LookupResult() for k in request.keys])


async def test_each_key_has_its_look_in_order():
    stub = Stub(known)
    looks = await CacheProxy(stub).lookup([key("x"), key("hello")])
    assert looks == [Look(MISS), Look(HIT, "hola", 0.5)]
    assert [look.hit for look in looks] == [False, True]
    sent = stub.requests[0].keys[1]
    assert (sent.source_language_code, sent.target_language_code, sent.model) == ("en", "es", "m")
    assert (sent.mime_type, sent.content) == ("text/plain", "hello")


@pytest.mark.parametrize("answer", [away, lambda _: pb.BatchLookupResponse()], ids=["away", "answers for other keys"])
async def test_a_cache_that_cannot_be_trusted_is_a_value(answer):
    assert await CacheProxy(Stub(answer)).lookup([key("a"), key("b")]) == [Look(AWAY)] * 2


async def test_a_cache_that_is_away_is_told_once():
    stub = Stub(away)
    await CacheProxy(stub).store([Entry(key(str(n) * 20_000), "x", 0) for n in range(3)])
    assert len(stub.requests) == 1


async def test_without_a_cache_nothing_was_asked():
    looks = await NoCache().lookup([key("a")])
    assert looks == [Look(translation_pb2.CACHE_RESULT_UNSPECIFIED)]
    await NoCache().store([])


async def test_the_same_text_twice_is_stored_once():
    stub = Stub(lambda _: pb.BatchStoreResponse())
    await CacheProxy(stub).store([Entry(key("a"), "x", 0), Entry(key("a"), "y", 0), Entry(key("b"), "z", 0)])
    assert [(e.key.content, e.value.translated_text) for e in stub.requests[0].entries] == [("a", "y"), ("b", "z")]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([10, 10], [2]),
        ([30_720, 1], [1, 1]),
        ([20_000, 10_720, 1], [2, 1]),
        ([1] * 2_049, [1_024, 1_024, 1]),
        ([40_000], [1]),
    ],
)
def test_a_batch_respects_the_limits_of_one_request(sizes, expected):
    keys = [key("x" * size) for size in sizes]
    parts = list(batches(keys))
    assert [len(part) for part in parts] == expected
    assert [k for part in parts for k in part] == keys
