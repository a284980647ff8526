"""How does a service call another one?"""

from datetime import timedelta

import grpc
import pytest
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc

from services.runtime.outgoing import open_channel
from tests.support.svc_probe import ask, failure, standing

LIMIT = timedelta(seconds=500)


async def test_the_callers_deadline_goes_on_and_its_mesh_headers_do_not():
    async with standing() as back, standing() as front:
        channel = front.runtime.channel(str(back.service.listen), limit=LIMIT)
        front.probe.upstream = pb_grpc.TranslationServiceStub(channel)
        sent = (("x-envoy-attempt-count", "3"), ("x-envoy-expected-rq-timeout-ms", "9"), ("tidegate-x", "y"))
        await front.stub.TranslateText(ask("forward"), metadata=sent, timeout=400)
        assert 0 < back.probe.remaining[0] < 450  # the caller's 400 s, not the limit's 500
        assert not [key for key in back.probe.metadata[0] if key.startswith(("x-envoy-", "tidegate-"))]
        assert front.probe.metadata[0]["x-envoy-attempt-count"] == "3"


async def test_without_a_deadline_the_channels_limit_holds():
    async with standing() as back, standing() as front:
        channel = front.runtime.channel(str(back.service.listen), limit=LIMIT)
        front.probe.upstream = pb_grpc.TranslationServiceStub(channel)
        await front.stub.TranslateText(ask("forward"))
        assert 300 < back.probe.remaining[0] < 550


async def test_even_headers_given_by_name_are_kept_out():
    async with standing() as back:
        channel = open_channel(str(back.service.listen), limit=LIMIT)
        stub = pb_grpc.TranslationServiceStub(channel)
        await stub.TranslateText(ask(), metadata=(("x-envoy-retry-on", "5xx"), ("x-request-id", "kept")), timeout=400)
        assert back.probe.metadata[0]["x-request-id"] == "kept"
        assert "x-envoy-retry-on" not in back.probe.metadata[0]
        assert back.probe.remaining[0] < 450
        await channel.close()


async def test_a_call_ends_with_the_limit():
    async with standing() as back:
        channel = open_channel(str(back.service.listen), limit=timedelta(milliseconds=50))
        error = await failure(pb_grpc.TranslationServiceStub(channel).TranslateText(ask("wait")))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await channel.close()


def test_a_word_that_is_no_address_is_refused():
    with pytest.raises(ValueError, match="neither HOST:PORT"):
        open_channel("nowhere", limit=LIMIT)
