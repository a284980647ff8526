"""Can an answer ever reach the wrong caller? Stages made of plain tools stand in for broken engines."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from services.translator.engines.apertium.pipeline import DEPTH, NotSentError, PipelineDiedError, open_pipeline
from tests.support.mesh_wait import alive, until

CAT = ("cat",)
SED = ("sed", "-u", "-z")
SLOW = """
import sys, time
for byte in iter(lambda: sys.stdin.buffer.read(1), b""):
    sys.stdout.buffer.write(byte)
    if byte == b"\\0":
        time.sleep(0.04)
        sys.stdout.buffer.flush()
"""


@asynccontextmanager
async def pipeline(*stages, limit=timedelta(seconds=10)):
    opened = await open_pipeline("test", stages, time_limit=limit)
    try:
        yield opened
    finally:
        await asyncio.wait_for(opened.close(), 60)
    assert not any(map(alive, opened.pids))


async def test_many_questions_at_once_have_their_own_answers_in_order():
    async with pipeline(CAT, (*SED, "s/q/a/"), CAT) as p:
        answers = await asyncio.gather(*(p.ask(f"q{number}") for number in range(5 * DEPTH)))
        assert answers == [f"a{number}" for number in range(5 * DEPTH)]
        assert p.in_flight == 0
        assert p.answered == 5 * DEPTH


async def test_stages_are_one_process_group_of_their_own():
    async with pipeline(CAT, CAT, CAT) as p:
        assert {os.getpgid(pid) for pid in p.pids} == {p.pids[0]}
        assert os.getpgid(0) != p.pids[0]


@pytest.mark.parametrize("which", [0, 1, 2], ids=["first", "middle", "last"])
async def test_the_death_of_any_stage_ends_all_of_them_and_every_question(which):
    async with pipeline(CAT, (*SED, "s/x/x/"), CAT) as p:
        assert await p.ask("x") == "x"
        os.kill(p.pids[1], signal.SIGSTOP)
        waiting = [asyncio.create_task(p.ask(str(number))) for number in range(3)]
        await until(lambda: p.in_flight == 3)
        os.kill(p.pids[which], signal.SIGKILL)
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [PipelineDiedError] * 3
        await until(lambda: not any(map(alive, p.pids)))
        with pytest.raises(NotSentError):
            await p.ask("late")


async def test_however_a_stage_and_a_pipe_end_at_once_nothing_is_left(caplog):
    """The end of the first stage breaks our pipe at the same moment: both say so, in either order."""
    for _ in range(30):
        async with pipeline(CAT, (*SED, "s/x/x/"), CAT) as p:
            os.kill(p.pids[1], signal.SIGSTOP)
            waiting = asyncio.create_task(p.ask("x"))
            await until(lambda p=p: p.in_flight == 1)
            os.kill(p.pids[0], signal.SIGKILL)
            await asyncio.gather(waiting, return_exceptions=True)
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


@pytest.mark.parametrize(
    ("stage", "why"),
    [
        pytest.param((*SED, r"s/\[b./[bz/"), "did not carry its question's nonce", id="a wrong nonce at the front"),
        pytest.param((*SED, r"s/\[e.*//"), "did not carry its question's nonce", id="an answer cut off"),
        pytest.param((*SED, r"s/^/x/"), "did not carry its question's nonce", id="something before the frame"),
        pytest.param((*SED, r"s/q/\xff/"), "did not carry its question's nonce", id="not UTF-8"),
        pytest.param(("yes",), "an answer without end", id="output without end"),
        pytest.param(("sleep", "60"), "an answer was late", id="no answer"),
        pytest.param(("true",), "ended", id="a stage that ends at once"),
        pytest.param((*SED, "/q/Q1"), "ended", id="a stage that dies of the text"),
    ],
)
async def test_a_doubt_kills_the_pipeline(stage, why):
    limit = timedelta(seconds=0.3 if stage[0] == "sleep" else 10)
    async with pipeline(CAT, stage, limit=limit) as p:
        with pytest.raises(PipelineDiedError):
            await p.ask("q")
        assert why in p.why_dead
        await until(lambda: not any(map(alive, p.pids)))


async def test_answers_out_of_step_never_reach_the_next_caller():
    async with pipeline((*SED, "p")) as p:
        assert await p.ask("first") == "first"
        with pytest.raises(PipelineDiedError):
            await p.ask("second")
        assert "nonce" in p.why_dead


async def test_a_caller_that_hangs_up_leaves_the_others_in_step():
    async with pipeline(CAT) as p:
        os.kill(p.pids[0], signal.SIGSTOP)
        tasks = [asyncio.create_task(p.ask(str(number))) for number in range(10)]
        await until(lambda: p.in_flight == 10)
        for task in tasks[::2]:
            task.cancel()
        os.kill(p.pids[0], signal.SIGCONT)
        assert [await task for task in tasks[1::2]] == ["1", "3", "5", "7", "9"]
        assert await p.ask("next") == "next"


async def test_callers_that_wait_for_a_place_can_leave():
    async with pipeline(CAT) as p:
        os.kill(p.pids[0], signal.SIGSTOP)
        tasks = [asyncio.create_task(p.ask(str(number))) for number in range(DEPTH + 10)]
        await until(lambda: p.in_flight == DEPTH)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        os.kill(p.pids[0], signal.SIGCONT)
        assert await p.ask("next") == "next"
        assert p.answered == DEPTH + 1


async def test_the_time_limit_is_for_the_one_that_is_due_not_for_those_behind_it():
    async with pipeline((sys.executable, "-Sc", SLOW), limit=timedelta(seconds=2)) as p:
        begun = asyncio.get_running_loop().time()
        assert await asyncio.gather(*(p.ask(str(n)) for n in range(DEPTH))) == [str(n) for n in range(DEPTH)]
        assert asyncio.get_running_loop().time() - begun > 2
        assert not p.why_dead


async def test_a_text_with_a_nul_cannot_be_framed():
    async with pipeline(CAT) as p:
        with pytest.raises(ValueError, match="NUL"):
            await p.ask("a\0b")
        assert await p.ask("a") == "a"


async def test_a_program_that_is_not_there_leaves_nothing_behind():
    with pytest.raises(FileNotFoundError):
        await open_pipeline("test", (CAT, ("no-such-program-here",), CAT))
