"""How does a translator process start and end?"""

import asyncio
import os
import signal

import grpc
import pytest
from tidegate.translation.v1 import translation_pb2 as pb
from tidegate.translation.v1 import translation_pb2_grpc as pb_grpc

from tests.support.mesh_wait import alive, children_of, until
from tests.support.work_process import module

TEXT = pb.TranslateTextRequest(contents=["The house is big."], source_language_code="en", target_language_code="es")


@pytest.mark.apertium
async def test_it_translates_and_leaves_nothing_behind_even_when_it_is_killed():
    async with module("services.translator", "--version-label", "v9") as process:
        ready = await process.line()
        assert ready["ready"]
        assert children_of(process.process.pid) == []
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            answer = await pb_grpc.TranslationServiceStub(channel).TranslateText(TEXT, timeout=20)
        assert answer.translations[0].translated_text == "La casa es grande."
        assert answer.translations[0].served_by == "v9"
        stages = children_of(process.process.pid)
        assert len(stages) == 11
        os.kill(stages[5], signal.SIGKILL)
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            again = await pb_grpc.TranslationServiceStub(channel).TranslateText(TEXT, timeout=20)
        assert again.translations[0].translated_text == "La casa es grande."
        await until(lambda: not any(map(alive, stages)))
        stages = children_of(process.process.pid)
        assert len(stages) == 11
        await process.end(signal.SIGKILL)
        await until(lambda: not any(map(alive, stages)))


@pytest.mark.apertium
async def test_a_pair_can_be_made_ready_before_its_first_caller():
    async with module("services.translator", "--warm", "es-en") as process:
        await process.line()
        await until(lambda: len(children_of(process.process.pid)) == 10, within_s=90)
        assert await process.end() == 0


@pytest.mark.apertium
async def test_sigterm_while_requests_run_fails_none():
    async with module("services.translator", "--drain-delay", "1.5") as process:
        ready = await process.line()
        async with grpc.aio.insecure_channel(ready["listen"]) as channel:
            stub = pb_grpc.TranslationServiceStub(channel)
            await stub.TranslateText(TEXT)
            stages = children_of(process.process.pid)
            running = [asyncio.create_task(call(stub)) for _ in range(100)]
            await until(lambda: any(task.done() for task in running))
            ended = asyncio.create_task(process.end())
            running += [asyncio.create_task(call(stub)) for _ in range(20)]
            assert set(await asyncio.gather(*running)) == {"La casa es grande."}
            assert await ended == 0
        assert not any(map(alive, stages))


async def call(stub):
    return (await stub.TranslateText(TEXT)).translations[0].translated_text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--languages", "klingon"], "'klingon' is not one of"),
        (["--engine", "echo"], "No such option"),
        (["--warm", "en-pt"], "en-pt: not offered with --languages base (offered: en-es, es-en, es-fr, fr-es)"),
        (["--cache", "nowhere"], "neither HOST:PORT nor unix:PATH"),
        (["--fault", "errors"], "refused without --allow-faults"),
    ],
)
async def test_a_wrong_command_line_ends_it_with_a_sentence(arguments, sentence):
    async with module("services.translator", *arguments) as process:
        assert await process.exit_code() == 2
        assert sentence in " ".join((await process.complaint()).split())
