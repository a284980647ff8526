"""Do failures on purpose happen as asked, and only then?"""

import asyncio

import grpc
import pytest
from tidegate.translation.v1 import translation_pb2 as pb

from services.runtime.faults import parse_faults
from services.runtime.metrics import FAULTS
from services.runtime.sabotage import Saboteur, run_process_faults
from tests.support.mesh_wait import until
from tests.support.svc_probe import ask, failure, standing, trailers


def fault(text, attempt=None):
    counted = [("x-envoy-attempt-count", str(attempt))] if attempt else []
    return [("tidegate-fault", text), *counted]


@pytest.mark.parametrize(
    ("text", "attempt", "code"),
    [
        pytest.param("first=2", 1, "UNAVAILABLE", id="first try of two fails"),
        pytest.param("first=2", 2, "UNAVAILABLE", id="second try of two fails"),
        pytest.param("first=2", 3, None, id="third try does not"),
        pytest.param("first=1", None, "UNAVAILABLE", id="no count is a first try"),
        pytest.param("first=1,status=ABORTED", 1, "ABORTED", id="its status"),
        pytest.param("share=0", 1, None, id="a share of nothing"),
        pytest.param("share=1,status=INTERNAL,when=after-headers", 1, "INTERNAL", id="after headers"),
    ],
)
async def test_a_request_asks_for_its_own_failure(text, attempt, code):
    async with standing(allow_faults=True) as s:
        call = s.stub.TranslateText(ask(), metadata=fault(text, attempt))
        if code is None:
            assert (await call).translations
            return
        error = await failure(call)
        assert error.code().name == code
        assert "injected on purpose" in error.details()
        assert trailers(error.trailing_metadata())["tidegate-attempt-count"] == str(attempt or "")
        assert s.probe.metadata == [], "the servicer must not have run"
        assert s.runtime.meter[FAULTS].labels("fail")._value.get() == 1


async def test_a_stream_fails_on_purpose_too():
    async with standing(allow_faults=True, faults=tuple(parse_faults("errors:1:INTERNAL:when=after-headers"))) as s:
        call = s.stub.StreamTranslate(pb.StreamTranslateRequest(content="x"))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await call.read()
        assert ended.value.code() is grpc.StatusCode.INTERNAL


async def test_a_process_that_does_not_allow_faults_refuses_them_and_serves_all_others():
    async with standing() as s:
        error = await failure(s.stub.TranslateText(ask(), metadata=fault("first=1")))
        assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert "--allow-faults" in error.details()
        assert (await s.stub.TranslateText(ask())).translations


async def test_a_fault_that_is_none_is_refused_with_all_its_mistakes():
    async with standing(allow_faults=True) as s:
        error = await failure(s.stub.TranslateText(ask(), metadata=fault("share=3,status=OK")))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "share '3'" in error.details()
        assert "'OK'" in error.details()


@pytest.mark.parametrize(("draws", "failed"), [([0.29, 0.31, 0.0, 0.99], [True, False, True, False])])
async def test_a_share_is_drawn_for_each_call(draws, failed):
    saboteur = Saboteur(True, parse_faults("errors:0.3"), draw=iter(draws).__next__)
    assert [await _fails(saboteur) for _ in draws] == failed


@pytest.mark.parametrize(
    ("text", "calls_at", "failed"),
    [
        pytest.param(
            "errors:1:for=20s", [500, 519.9, 520, 521], [True, True, False, False], id="from the first call on"
        ),
        pytest.param("errors:1:for=0s", [500, 500], [False, False], id="for no time at all"),
        pytest.param("errors:1", [500, 9000], [True, True], id="for ever"),
        pytest.param("errors:1:for=1s;internal:1", [500, 502], [True, True], id="each fault has its own time"),
    ],
)
async def test_a_fault_heals_in_its_time(text, calls_at, failed):
    saboteur = Saboteur(True, parse_faults(text))
    outcomes = []
    for at in calls_at:
        saboteur.clock = lambda at=at: at
        outcomes.append(await _fails(saboteur))
    assert outcomes == failed


async def _fails(saboteur):
    from services.runtime.call import begin_call
    from services.runtime.errors import CallError

    try:
        await saboteur.before_call(begin_call("/s/m", [], None), "", context=None)
    except CallError:
        return True
    return False


async def test_a_delay_is_waited_for():
    async with standing(allow_faults=True) as s:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await s.stub.TranslateText(ask(), metadata=fault("delay=60ms"))
        assert loop.time() - begun >= 0.06
        error = await failure(s.stub.TranslateText(ask(), metadata=fault("delay=1m"), timeout=0.05))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_the_process_dies_at_the_nth_request():
    deaths = []
    saboteur = Saboteur(True, parse_faults("crash:3"), crash=lambda: deaths.append(len(calls)))
    calls = []
    for number in range(3):
        calls.append(number)
        await _fails(saboteur)
    assert deaths == [3]


async def test_the_port_closes_while_the_process_lives():
    async with standing(allow_faults=True, faults=tuple(parse_faults("refuse"))) as s:

        async def refused():
            try:
                _, writer = await asyncio.open_connection(s.service.listen.host, s.service.listen.port)
            except ConnectionRefusedError:
                return True
            writer.close()
            return False

        await until(refused)


async def test_timed_faults_come_in_their_time():
    events = []

    async def close_port():
        events.append("closed")

    await run_process_faults(parse_faults("refuse:20ms;crash:1ms;crash:5"), close_port, lambda: events.append("died"))
    assert events == ["died", "closed"]
