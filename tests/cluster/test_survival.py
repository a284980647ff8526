"""What must survive: a leader that is killed, one that is stopped past its lease, an API server that goes away."""

import asyncio
import os
import random
import signal

import pytest

from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import LEASE_S, Scene
from tests.support.control_story import load

pytestmark = pytest.mark.cluster
KILLS = int(os.environ.get("TIDEGATE_TEST_KILLS", "3"))


async def test_another_controller_goes_on_when_the_leader_is_killed(stage: Scene) -> None:
    luck = random.Random(7)
    await stage.hire()
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift()
        await stage.told(lambda status: status["step"] >= 1, "the first step")
        for _ in range(KILLS):
            leader = await stage.leader()
            await asyncio.sleep(luck.random() * 2)
            leader.kill()
            await leader.wait()
            await stage.hire()
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    assert traffic.failures == []
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ("StepEntered", "FullEntered")]
    assert entered == [1, 2, 3, 4]


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
    assert traffic.failures == []
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ("StepEntered", "FullEntered")]
    assert entered == sorted(set(entered))


async def test_a_shift_outlives_its_api_server(stage: Scene) -> None:
    await stage.hire()
    server = stage.cluster.processes["kube-apiserver"]
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift()
        await stage.told(lambda status: status["step"] >= 1, "the first step")
        os.kill(server, signal.SIGSTOP)
        try:
            await asyncio.sleep(12)
        finally:
            os.kill(server, signal.SIGCONT)
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    assert traffic.failures == []
