"""What must survive: a leader that is killed again and again, one that is stopped past its lease."""

import asyncio
import os
import random
import signal
from collections import Counter

import pytest

from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import LEASE_S, Scene
from tests.support.control_story import load

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
KILLS = int(os.environ.get("TIDEGATE_TEST_KILLS", "30"))
"""CI asks for fewer (.ci/run): the moments are drawn from the same seed, so that its kills are the first of these."""
MOST_STEPS = 30
ENTERED = ("StepEntered", "FullEntered")


@pytest.fixture
def stage(shared: Scene) -> Scene:
    return shared


async def test_another_controller_goes_on_when_the_leader_is_killed(stage: Scene) -> None:
    """About a step for each kill, so that kills hit every part of a step."""
    luck, loop = random.Random(7), asyncio.get_running_loop()
    count = min(KILLS, MOST_STEPS)
    steps = [f"{round(100 * (number + 1) / count)}%" for number in range(count)]
    without_s = []
    await stage.hire()
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy={"kind": "steps", "steps": steps, "hold": "4s"})
        await stage.told(lambda status: status["step"] >= 1, "the first step")
        for _ in range(KILLS):
            leader = await stage.leader()
            await asyncio.sleep(luck.random() * 2)
            leader.kill()
            await leader.wait()
            began = loop.time()
            await stage.hire()
            await stage.leader()
            without_s.append(loop.time() - began)
        seen = await stage.status()
        done = await stage.told(ended, "it ends", within_s=60 + 10 * KILLS)
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ENTERED]
    unsaid, requests = stage.tape.unsaid(), sum(traffic.answers.values())
    print(
        f"{KILLS} kills up to step {seen['step']} of {len(steps)}: {requests:,} requests, {len(traffic.failures)} "
        f"failed, {len(unsaid)} weights not said; without a leader {max(without_s):.1f} s at most; "
        f"{Counter(each.partition(' ')[2] for each in traffic.failures)}"
    )
    assert done["phase"] == "Promoted", done["reason"]
    assert (traffic.failures, unsaid) == ([], [])
    assert entered == sorted(set(entered)), "a step was entered twice"
    assert entered[-1] == len(steps)
    assert stage.tape.shares("echo") == sorted(set(stage.tape.shares("echo")))
    assert len(stage.tape.shares("echo")) == len(steps)


async def test_a_leader_that_slept_past_its_lease_writes_nothing(stage: Scene) -> None:
    await stage.hire()
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy={"kind": "steps", "steps": ["10%", "50%", "100%"], "hold": "4s"})
        await stage.told(lambda status: status["step"] >= 1, "the first step")
        leader = await stage.leader()
        leader.send_signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE_S * 2.5)
        assert await stage.leader() is not leader
        leader.send_signal(signal.SIGCONT)
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    assert (traffic.failures, stage.tape.unsaid()) == ([], [])
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ENTERED]
    assert entered == sorted(set(entered))
