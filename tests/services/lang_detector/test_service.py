"""DetectionService over the wire."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import grpc
import pytest
from tidegate.detection.v1 import detection_pb2 as pb
from tidegate.detection.v1.detection_pb2_grpc import DetectionServiceStub

from services.lang_detector.__main__ import NAME, open_service
from services.lang_detector.model import open_detector
from services.runtime.options import ServiceOptions
from services.runtime.service import serving
from tests.support.work_process import module


@pytest.fixture
async def stub() -> AsyncIterator[DetectionServiceStub]:
    opened = partial(open_service, open_detector(["en", "es", "fr"]))
    async with (
        serving(NAME, ServiceOptions(drain_delay=timedelta(0)), opened) as service,
        grpc.aio.insecure_channel(str(service.listen)) as channel,
    ):
        yield DetectionServiceStub(channel)


async def test_each_text_of_a_batch_is_answered_by_itself_and_in_order(stub: DetectionServiceStub) -> None:
    texts = ["Where is the library?", "12345", "¿Dónde está la biblioteca?", "Où est la bibliothèque ?", ""]
    answer = await stub.DetectLanguage(pb.DetectLanguageRequest(contents=texts))
    assert [found.language_code for found in answer.detections] == ["en", "und", "es", "fr", "und"]
    first = answer.detections[0]
    assert first.reliable
    assert first.languages[0].language_code == "en"
    assert first.languages[0].confidence == first.confidence


async def test_a_full_batch(stub: DetectionServiceStub) -> None:
    answer = await stub.DetectLanguage(pb.DetectLanguageRequest(contents=["Where is the library?"] * 1_024))
    assert {found.language_code for found in answer.detections} == {"en"}
    assert len(answer.detections) == 1_024


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        pytest.param(pb.DetectLanguageRequest(), "at least one text", id="no text"),
        pytest.param(pb.DetectLanguageRequest(contents=["a"] * 1_025), "1,024", id="too many texts"),
        pytest.param(pb.DetectLanguageRequest(contents=["a" * 30_721]), "30,720", id="too much text"),
        pytest.param(pb.DetectLanguageRequest(contents=["a"], mime_type="text/html"), "mime_type", id="not plain text"),
    ],
)
async def test_refusals(stub: DetectionServiceStub, request_: pb.DetectLanguageRequest, says: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.DetectLanguage(request_)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert says in caught.value.details()


async def test_the_process_starts_answers_and_drains() -> None:
    async with module("services.lang_detector", "--languages", "en,es", "--drain-delay", "0") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            answer = await DetectionServiceStub(channel).DetectLanguage(pb.DetectLanguageRequest(contents=["Good day"]))
        assert answer.detections[0].language_code == "en"
        assert await process.end() == 0


async def test_unknown_languages_stop_the_start() -> None:
    async with module("services.lang_detector", "--languages", "en,xx,yy") as process:
        assert await process.exit_code() == 2
        complaint = await process.complaint()
    assert "'xx'" in complaint
    assert "'yy'" in complaint
