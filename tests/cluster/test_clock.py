"""The clock of every controller is set by an hour, forward and back, in the middle of a step.

Really set: libfaketime stands between the controllers and the wall clock, and reads by how much from a file. What
counts time without being set (CLOCK_MONOTONIC) is left alone, as a step of the real clock leaves it alone.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.test_outages import ENTERED, STEPS, in_force
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import LEASE_S, Scene
from tests.support.control_story import load

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
HOUR_S = 3600


class SetClock:
    """The wall clock of the processes with this environment; `by` sets it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.by(0)

    @property
    def environment(self) -> dict[str, str]:
        assert LIBRARY is not None, "apt-get install faketime"
        monotonic = dict.fromkeys(("FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC", "FAKETIME_NO_CACHE"), "1")
        return {"LD_PRELOAD": str(LIBRARY), "FAKETIME_TIMESTAMP_FILE": str(self._file), **monotonic}

    def by(self, seconds: int) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}s\n" if seconds else "+0s\n")
        fresh.replace(self._file)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((HOUR_S, 0), id="forward, then back", marks=pytest.mark.long),
        pytest.param((-HOUR_S, 0), id="back, then forward"),
    ],
)
async def test_a_clock_that_is_set_raises_no_weight_and_takes_no_lease(
    shared: Scene, tmp_path: Path, steps: Sequence[int]
) -> None:
    clock = SetClock(tmp_path / "offset")
    for _ in range(2):
        await shared.hire(**clock.environment)
    leader = await shared.leader()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "30m"}, blindFor="5m", gracePeriod="30m")
        await shared.told(in_force("1/10"), "10 % is in force")
        leaders, weights = [], []
        for by in steps:
            clock.by(by)
            for _ in range(LEASE_S * 3):
                await asyncio.sleep(1)
                leaders.append(await shared.leader())
                weights.append(await shared.weights())
        await shared.apply_shift(strategy=STEPS)
        done = await shared.told(ended, "it ends")
    told: list[Any] = [(entry["at"], entry["reason"]) for entry in done["history"]]
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ENTERED]
    print(f"clock set by {steps} s: leaders {len(set(leaders))}, weights {weights[0]} to {weights[-1]}; {told}")
    assert set(leaders) == {leader}
    assert all(each == {"echo": (90, 10), "edge": (90, 10)} for each in weights)
    assert (done["phase"], entered) == ("Promoted", [1, 2, 3]), done["reason"]
    assert (traffic.failures, shared.tape.unsaid()) == ([], [])


async def test_a_dead_leader_is_followed_at_once_though_the_clock_was_set_back(shared: Scene, tmp_path: Path) -> None:
    clock = SetClock(tmp_path / "offset")
    for _ in range(2):
        await shared.hire(**clock.environment)
    leader = await shared.leader()
    loop = asyncio.get_running_loop()
    clock.by(-HOUR_S)
    leader.kill()
    await leader.wait()
    began = loop.time()
    await shared.leader()
    print(f"clock set back by an hour, leader killed: another leads after {loop.time() - began:.1f} s")
    assert loop.time() - began < HOUR_S / 2
