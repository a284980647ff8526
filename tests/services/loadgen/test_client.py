"""How calls end, against a real gRPC server."""

import asyncio
from time import perf_counter

import grpc
import pytest
from tidegate.translation.v1 import translation_pb2 as pb

from services.loadgen.client import TranslationClient, served_by
from services.loadgen.mix import Call
from services.loadgen.tally import Outcome
from tests.support.work_translator import TranslatorDouble, serving_translator

UNARY = Call(language="en", source="en", target="es", text="Hello.", stream=False, hot=False)
STREAM = Call(language="en", source="", target="es", text="Hello. You.", stream=True, hot=False)


async def outcome_of(double: TranslatorDouble, call: Call, *, deadline_s: float = 5) -> Outcome:
    async with serving_translator(double) as address:
        client = TranslationClient(address, authority="translate.example.com", channels=2, deadline_s=deadline_s)
        outcome = await client.send(call, intended_at=perf_counter())
        await client.close()
    return outcome


@pytest.mark.parametrize("call", [UNARY, STREAM], ids=["unary", "stream"])
@pytest.mark.parametrize(
    ("double", "ends"),
    [
        pytest.param({}, ("OK", "v1", 1, "miss"), id="good"),
        pytest.param({"version": "v2", "attempts": "3"}, ("OK", "v2", 3, "miss"), id="retried"),
        pytest.param({"cache": pb.CACHE_RESULT_HIT_SHARED}, ("OK", "v1", 1, "hitShared"), id="cached"),
        pytest.param({"signed": False}, ("OK", "unknown", None, "miss"), id="unsigned"),
        pytest.param({"attempts": "many"}, ("OK", "v1", None, "miss"), id="count that is no number"),
        pytest.param(
            {"failure": grpc.StatusCode.UNAVAILABLE, "version": "v2"},
            ("UNAVAILABLE", "v2", 1, None),
            id="failed, signed",
        ),
        pytest.param(
            {"failure": grpc.StatusCode.INTERNAL, "signed": False}, ("INTERNAL", "unknown", None, None), id="failed"
        ),
        pytest.param({"item_code": 3}, ("ITEM_INVALID_ARGUMENT", "v1", 1, "miss"), id="its text failed"),
        pytest.param({"item_code": 99}, ("ITEM_99", "v1", 1, "miss"), id="code that gRPC doesn't know"),
        pytest.param({"text": ""}, ("EMPTY_ANSWER", "v1", 1, "miss"), id="success without text"),
    ],
)
async def test_how_a_call_ends(double: dict, ends: tuple, call: Call) -> None:
    outcome = await outcome_of(TranslatorDouble(**double), call)
    assert (outcome.status, outcome.version, outcome.attempts, outcome.cache) == ends


async def test_what_is_sent() -> None:
    double = TranslatorDouble()
    await outcome_of(double, UNARY)
    assert double.requests == [
        pb.TranslateTextRequest(contents=["Hello."], source_language_code="en", target_language_code="es")
    ]


async def test_the_first_segment_of_a_stream_is_timed() -> None:
    outcome = await outcome_of(TranslatorDouble(), STREAM)
    assert 0 < outcome.first_segment_s <= outcome.latency_s
    assert (await outcome_of(TranslatorDouble(), UNARY)).first_segment_s is None


async def test_a_call_ends_at_its_deadline() -> None:
    double = TranslatorDouble()
    double.gate.clear()
    outcome = await outcome_of(double, UNARY, deadline_s=0.2)
    assert (outcome.status, outcome.version) == ("DEADLINE_EXCEEDED", "unknown")
    assert 0.2 <= outcome.latency_s < 5


async def test_nobody_listens() -> None:
    async with serving_translator(TranslatorDouble()) as address:
        pass
    client = TranslationClient(address, authority=None, channels=1, deadline_s=60)
    outcome = await client.send(UNARY, intended_at=perf_counter())
    await client.close()
    assert (outcome.status, outcome.version) == ("UNAVAILABLE", "unknown")


async def test_each_channel_is_its_own_connection() -> None:
    double = TranslatorDouble()
    double.gate.clear()
    async with serving_translator(double, [("grpc.max_concurrent_streams", 1)]) as address:
        client = TranslationClient(address, authority=None, channels=3, deadline_s=60)
        sending = [asyncio.create_task(client.send(UNARY, intended_at=perf_counter())) for _ in range(3)]
        async with asyncio.timeout(60):
            while double.waiting < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        double.gate.set()
        assert [(await task).status for task in sending] == ["OK"] * 3
        await client.close()


async def test_latency_counts_from_the_intended_time() -> None:
    async with serving_translator(TranslatorDouble()) as address:
        client = TranslationClient(address, authority=None, channels=1, deadline_s=60)
        late = await client.send(UNARY, intended_at=perf_counter() - 2)
        early = await client.send(UNARY, intended_at=perf_counter() + 2)
        await client.close()
    assert late.latency_s > 2
    assert 0 < early.latency_s < 2


def test_binary_metadata_is_no_signature() -> None:
    assert served_by((("tidegate-served-by", b"v1"), ("x-bin", b"\xff"))) == ("v1", None)
    assert served_by(None) == ("unknown", None)
