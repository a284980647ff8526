"""What happens around every call?"""

import asyncio

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from prometheus_client import generate_latest
from tidegate.translation.v1 import translation_pb2 as pb

from services.runtime.metrics import ATTEMPTS, IN_FLIGHT, REQUESTS
from tests.support.mesh_wait import until
from tests.support.svc_probe import METHOD, ask, failure, standing, trailers

COUNTED = (("x-envoy-attempt-count", "2"),)


def count(standing, code):
    return standing.runtime.meter[REQUESTS].labels(METHOD, code)._value.get()


@pytest.mark.parametrize(
    ("word", "code", "details"),
    [
        ("refuse", grpc.StatusCode.INVALID_ARGUMENT, "contents[0]: is refused"),
        ("abort", grpc.StatusCode.NOT_FOUND, "gone"),
        ("bug", grpc.StatusCode.INTERNAL, "internal error; see the service's log"),
    ],
)
async def test_every_failure_has_its_code_its_trailers_and_is_counted(word, code, details):
    async with standing(version_label="v7") as s:
        error = await failure(s.stub.TranslateText(ask(word), metadata=COUNTED))
        assert (error.code(), error.details()) == (code, details)
        assert trailers(error.trailing_metadata())["tidegate-served-by"] == "v7"
        assert trailers(error.trailing_metadata())["tidegate-attempt-count"] == "2"
        await until(lambda: count(s, code.name) == 1)


async def test_an_answer_has_trailers_and_the_count_is_never_made_up():
    async with standing(version_label="v7") as s:
        call = s.stub.TranslateText(ask())
        assert (await call).translations[0].translated_text == "echo"
        assert trailers(await call.trailing_metadata()) == {"tidegate-served-by": "v7", "tidegate-attempt-count": ""}
        await until(lambda: count(s, "OK") == 1)
        assert s.runtime.meter[ATTEMPTS].labels("1")._value.get() == 1


async def test_a_stream_has_trailers_too():
    async with standing(version_label="v7") as s:
        call = s.stub.StreamTranslate(pb.StreamTranslateRequest(content="x"), metadata=COUNTED)
        assert [answer.segment.index async for answer in call] == [0, 1, 2]
        assert trailers(await call.trailing_metadata()) == {"tidegate-served-by": "v7", "tidegate-attempt-count": "2"}


async def test_a_refusal_carries_its_fields_and_reason():
    async with standing() as s:
        status = rpc_status.from_call(await failure(s.stub.TranslateText(ask("refuse"))))
        bad, info = error_details_pb2.BadRequest(), error_details_pb2.ErrorInfo()
        assert status.details[0].Unpack(bad)
        assert status.details[1].Unpack(info)
        assert [(v.field, v.description) for v in bad.field_violations] == [("contents[0]", "is refused")]
        assert (info.reason, info.domain) == ("REFUSED", "tidegate.dev")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x0a\x03\xed\xa0\x80", id="a lone surrogate as UTF-8"),
        pytest.param(b"\x0a\x02\xff\xfe", id="not UTF-8"),
        pytest.param(b"\x0a\x7f", id="a message cut off"),
    ],
)
async def test_bytes_that_are_no_message_are_an_invalid_argument(data):
    async with standing() as s:
        error = await failure(s.channel.unary_unary(METHOD)(data))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "not a valid message" in error.details()
        assert "tidegate-served-by" in trailers(error.trailing_metadata())


async def test_a_client_that_hangs_up_cancels_the_work():
    async with standing() as s:
        call = s.stub.TranslateText(ask("wait"))
        await s.probe.begun.wait()
        assert s.runtime.meter[IN_FLIGHT].labels(METHOD)._value.get() == 1
        call.cancel()
        await asyncio.wait_for(s.probe.cancelled.wait(), 5)
        await until(lambda: count(s, "CANCELLED") == 1)
        assert s.runtime.meter[IN_FLIGHT].labels(METHOD)._value.get() == 0


async def test_a_client_that_leaves_a_stream_ends_it():
    async with standing() as s:
        call = s.stub.StreamTranslate(pb.StreamTranslateRequest(content="wait"))
        assert (await call.read()).segment.index == 0
        await s.probe.begun.wait()
        call.cancel()
        await asyncio.wait_for(s.probe.cancelled.wait(), 5)


async def test_a_deadline_ends_the_work():
    async with standing() as s:
        error = await failure(s.stub.TranslateText(ask("wait"), timeout=0.5))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(s.probe.cancelled.wait(), 5)
        assert 0 < s.probe.remaining[0] < 1  # half a second, as gRPC rounds it


async def test_more_calls_than_allowed_are_turned_away():
    async with standing(max_in_flight=1) as s:
        first = s.stub.TranslateText(ask("wait"))
        await s.probe.begun.wait()
        error = await failure(s.stub.TranslateText(ask()))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        s.probe.release.set()
        assert await first


async def test_a_message_over_the_limit_is_turned_away():
    async with standing() as s:
        error = await failure(s.stub.TranslateText(ask("x" * (4 * 1024 * 1024 + 1))))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_header_cannot_grow_the_metrics():
    async with standing() as s:
        for number in (9, 10, 11, 999_999):
            await s.stub.TranslateText(ask(), metadata=(("x-envoy-attempt-count", str(number)),))
        text = generate_latest(s.runtime.meter.registry).decode()
        assert 'tidegate_request_attempts_total{attempt="9"} 1.0' in text
        assert 'tidegate_request_attempts_total{attempt="10+"} 3.0' in text
        assert "999999" not in text
