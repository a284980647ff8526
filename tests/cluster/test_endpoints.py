"""Serving processes go away in the middle of a shift: the canary's, half of stable's, all of stable's."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from control.local.cluster.running import Cluster
from tests.cluster.test_outages import STEPS, check_outlived, in_force
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene, scene
from tests.support.control_story import load

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept_stage(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """Two processes of each version."""
    async with scene(cluster, tmp_path_factory.mktemp("endpoints"), processes=2) as made:
        yield made
    await asyncio.sleep(0)


async def test_without_canary_processes_all_traffic_goes_back(shared: Scene) -> None:
    """What the fault costs is what was sent to the canary until its weight was 0; not a request more."""
    await shared.hire()
    loop = asyncio.get_running_loop()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        assert traffic.failures == []
        began = loop.time()
        await shared.lose(("v2", 0), ("v2", 1))
        done = await shared.told(ended, "it goes back")
        took_s, lost = loop.time() - began, len(traffic.failures)
        await asyncio.sleep(3)
        later = len(traffic.failures) - lost
    told = [entry["reason"] for entry in done["history"]]
    print(f"canary gone at 10 %: {lost} requests lost until it was back after {took_s:.1f} s, {later} later; {told}")
    assert (done["phase"], done["outcome"]) == ("RolledBack", "CanaryGone")
    assert lost <= 0.25 * 2 * RATE * took_s, "more than the canary's share failed"
    assert later == 0
    assert shared.tape.unsaid() == []
    assert set((await shared.weights()).values()) == {(100, 0)}
    assert told[-2:] == ["StepAcknowledged", "RolledBack"]
    assert "CanaryGone" in told


async def test_half_of_the_canary_that_is_left_goes_on(shared: Scene) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS)
        await shared.told(in_force("1/10"), "10 % is in force")
        await shared.cluster.kubectl_run("delete", "workloadentry", "echo-v2-1")
        done = await shared.told(ended, "it ends")
    assert done["canaryEndpoints"] == 1
    check_outlived(shared, done, traffic, "half of the canary gone")


@pytest.mark.long
async def test_half_of_stable_gone_is_no_fault_of_the_canary(shared: Scene) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS)
        await shared.told(in_force("1/10"), "10 % is in force")
        await shared.lose(("v1", 1))
        done = await shared.told(ended, "it ends")
    print(f"half of stable gone: {len(traffic.failures)} of {sum(traffic.answers.values()):,} requests failed")
    assert (done["phase"], done["stableEndpoints"]) == ("Promoted", 1), done["reason"]
    assert len(traffic.failures) <= 0.01 * sum(traffic.answers.values()), traffic.failures[:3]
    assert shared.tape.unsaid() == []


async def test_without_stable_nothing_is_promoted_and_nothing_goes_back_to_it(shared: Scene) -> None:
    """Nobody is there to compare with: that is no evidence for the canary. Once stable is back, it goes on."""
    await shared.hire()
    async with load(shared.stage, rate=RATE):
        await shared.apply_shift(strategy=STEPS | {"hold": "2s"})
        await shared.told(in_force("1/10"), "10 % is in force")
        await shared.lose(("v1", 0), ("v1", 1))
        await shared.told(lambda status: status["stableEndpoints"] == 0, "stable is seen to be gone")
        seen = [await shared.status()]
        for _ in range(10):
            await asyncio.sleep(1)
            seen.append(await shared.status())
        held = {(each["phase"], each["stepShare"]) for each in seen}
        reasons = {each["reason"] for each in seen}
        await shared.find(("v1", 0), ("v1", 1))
        done = await shared.told(ended, "it ends")
    print(f"stable gone for 10 s: {held}, {reasons}; then {done['phase']}")
    assert held == {("Progressing", "1/10")}
    assert done["phase"] == "Promoted", done["reason"]
    assert shared.tape.unsaid() == []
