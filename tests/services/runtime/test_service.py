"""How does a service process live and end? Real processes, real signals."""

import asyncio
import signal
import urllib.request

import grpc
import pytest
from click.testing import CliRunner
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc

from tests.support.svc_probe import SERVICE, ask, failure, main, standing
from tests.support.work_process import module

PROBE = "tests.support.svc_probe"
NAP = pb.StreamTranslateRequest(content="nap")


def page(address):
    with urllib.request.urlopen(address, timeout=5) as answer:
        return answer.read().decode()


async def test_sigterm_fails_no_request_and_ends_well():
    async with module(PROBE, "--drain-delay", "1", "--nap", "0.6") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            stub, health = pb_grpc.TranslationServiceStub(channel), health_pb2_grpc.HealthStub(channel)
            watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE))
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
            running = [stub.StreamTranslate(NAP) for _ in range(20)]
            await asyncio.gather(*(call.read() for call in running))
            ended = asyncio.create_task(process.end())
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
            late = [stub.TranslateText(ask("nap")) for _ in range(20)]
            assert len(await asyncio.gather(*late)) == 20
            assert [[(await call.read()).segment.index for _ in range(2)] for call in running] == [[1, 2]] * 20
            assert {await call.code() for call in running} == {grpc.StatusCode.OK}
            assert await watch.read() is grpc.aio.EOF
            assert await ended == 0


async def test_a_call_that_never_ends_is_given_the_grace_and_no_more():
    async with module(PROBE, "--drain-delay", "0", "--grace", "0.1", "--nap", "600") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            call = pb_grpc.TranslationServiceStub(channel).StreamTranslate(NAP)
            await call.read()
            assert await process.end(signal.SIGINT) == 0
            assert await call.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


async def test_metrics_and_a_unix_socket(tmp_path):
    socket = tmp_path / "probe.sock"
    async with module(
        PROBE, "--listen", f"unix:{socket}", "--metrics", "127.0.0.1:0", "--log-level", "debug"
    ) as process:
        ready = await process.line()
        assert ready["listen"] == f"unix:{socket}"
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            await pb_grpc.TranslationServiceStub(channel).TranslateText(ask(), metadata=(("x-request-id", "r-1"),))
        text = await asyncio.to_thread(page, f"http://{ready['metrics']}/metrics")
        assert 'tidegate_requests_total{code="OK",method="/tidegate.translation.v1.TranslationService' in text
        assert "process_resident_memory_bytes" in text
        assert await process.end() == 0
        lines = [line for line in (await process.complaint()).splitlines() if '"event": "request"' in line]
        assert len(lines) == 1
        assert '"request_id": "r-1"' in lines[0]


async def test_a_process_that_crashes_on_purpose_dies_without_a_word():
    async with module(PROBE, "--allow-faults", "--fault", "crash:2") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            assert await stub.TranslateText(ask())
            assert (await failure(stub.TranslateText(ask()))).code() is grpc.StatusCode.UNAVAILABLE
        assert await process.exit_code() == -signal.SIGKILL


@pytest.mark.parametrize("option", ["--listen", "--metrics"])
async def test_a_port_that_is_taken_is_an_error_with_a_sentence(option):
    async with standing() as other, module(PROBE, option, str(other.service.listen)) as process:
        assert await process.exit_code() == 1
        said = await process.complaint()
        assert f"{other.service.listen}" in said
        assert f"another {option}" in said
        assert "Traceback" not in said


async def test_reflection_and_health_know_the_service():
    async with standing() as s:
        reflection = reflection_pb2_grpc.ServerReflectionStub(s.channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        async for answer in reflection.ServerReflectionInfo(iter([request])):
            names = {service.name for service in answer.list_services_response.service}
        assert names == {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
        health = health_pb2_grpc.HealthStub(s.channel)
        for name in ("", SERVICE):
            status = (await health.Check(health_pb2.HealthCheckRequest(service=name))).status
            assert status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fault", "errors"], "--fault is refused without --allow-faults"),
        (["--allow-faults", "--fault", "errors:2:OK"], "share '2' is not between 0 and 1; 'OK' is not a gRPC status"),
        (["--listen", "nowhere"], "neither HOST:PORT nor unix:PATH"),
        (["--metrics", "unix:/tmp/x"], "--metrics takes HOST:PORT"),
        (["--grace", "-1"], "--grace"),
    ],
)
def test_a_wrong_command_line_is_refused(arguments, sentence):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())
