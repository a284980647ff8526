"""The controller is killed with `kill -9` at fifty random moments while traffic moves through real Envoys.

No request fails, every shift ends where it should, and no step is skipped or taken twice: the weights that the mesh
saw, the steps in the status and the journal all tell the same story.
"""

import asyncio
import contextlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from control.api.client import GrpcShiftClient
from control.errors import TidegateError
from tests.support.control_story import ROUTES, Controllers, Stage, controllers, load, stage, weights_seen
from tests.support.mesh_wait import until

KEY = ("default", "echo")
KILLS = 50
RATE = 60.0  # requests a second and entrance
MOVES = {"StepEntered", "FullEntered", "Promoted", "RolledBack", "HarmFound", "CanaryGone", "Conflict", "DriftRepaired"}
SEED = 20261130

SHIFT = """\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {{name: echo, namespace: default}}
spec:
  target:
    host: echo
    routes: [{{virtualService: echo, route: primary}}, {{virtualService: edge, route: primary}}]
  stable: {stable}
  canary: {canary}
  poll: 100ms
  strategy: {{kind: steps, steps: [25%, 50%, 100%], hold: 300ms, minRequests: 5}}
"""


@pytest.mark.story
@pytest.mark.envoy
async def test_fifty_kills_lose_no_request_and_no_step(tmp_path: Path) -> None:
    luck = random.Random(SEED)
    async with stage(tmp_path) as scene, load(scene, rate=RATE) as traffic, weights_seen(scene) as weights:
        async with controllers(scene) as crew:
            runs: list[Mapping[str, Any]] = []
            for _ in range(KILLS):
                await crew.start()
                await _for_a_while(crew, scene, runs, luck.uniform(0.05, 1.2))
                await crew.kill()
            await crew.start()
            await _last_run(crew, scene, runs)
            print(f"{len(runs)} shifts, {sum(traffic.answers.values())} requests")
        assert sum(traffic.answers.values()) > 1000
    assert traffic.failures == []
    assert sum(_counted(run) for run in runs) <= sum(traffic.answers.values()), "no request is counted twice"
    assert len(runs) >= 3, "the shifts made progress in spite of all"
    for n, run in enumerate(runs, start=1):
        _complete(run, n)
    moves = [(each["reason"], each["step"]) for each in runs[-1]["journal"] if each["reason"] in MOVES]
    assert moves == [("StepEntered", 1), ("StepEntered", 2), ("FullEntered", 3), ("Promoted", 3)] * len(runs)
    for ref in ROUTES:
        assert weights[ref] == _expected_weights(len(runs)), ref


async def _for_a_while(crew: Controllers, scene: Stage, runs: list[Mapping[str, Any]], for_s: float) -> None:
    """Whatever a person would do, for so long: look, and begin the next shift when one is done."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(for_s):
            address = await crew.ready()
            async with GrpcShiftClient(address, scene.token_file.read_text().strip()) as tool:
                while True:
                    await _begin_next(tool, runs)
                    async for change in tool.watch(*KEY):
                        if change.shift.status["phase"] == "Promoted":
                            break


async def _begin_next(tool: GrpcShiftClient, runs: list[Mapping[str, Any]]) -> None:
    """Applies the next shift, there and back again. The same text twice is one apply."""
    with contextlib.suppress(TidegateError):
        shift = await tool.get(*KEY)
        if shift.status["phase"] != "Promoted":
            return
        if len(runs) < shift.status["run"]:
            runs.append({**shift.document, "journal": await tool.history(*KEY)})
    await tool.apply(_text(len(runs)), "shift.yaml")


async def _last_run(crew: Controllers, scene: Stage, runs: list[Mapping[str, Any]]) -> None:
    """Lets the present shift come to its end undisturbed."""
    async with GrpcShiftClient(await crew.ready(), scene.token_file.read_text().strip()) as tool:

        async def promoted() -> bool:
            return bool((await tool.get(*KEY)).status["phase"] == "Promoted")

        await until(promoted, within_s=90, what="the last shift is promoted")
        shift = await tool.get(*KEY)
        if len(runs) < shift.status["run"]:
            runs.append({**shift.document, "journal": await tool.history(*KEY)})


def _text(done: int) -> bytes:
    stable, canary = ("v1", "v2") if done % 2 == 0 else ("v2", "v1")
    return SHIFT.format(stable=stable, canary=canary).encode()


def _complete(run: Mapping[str, Any], n: int) -> None:
    status = run["status"]
    assert status["run"] == n
    assert [(each["step"], each["share"]) for each in status["steps"]] == [(1, "1/4"), (2, "1/2"), (3, "1")]
    for each in status["steps"]:
        assert each["enteredAt"] <= each["acknowledgedAt"]
    assert status["share"]["acknowledged"] == "1"


def _counted(run: Mapping[str, Any]) -> int:
    """Requests that the controller used as evidence in a run."""
    steps = run["status"]["steps"]
    return sum(int(step[version]["requests"]) for step in steps for version in ("canary", "stable"))


def _expected_weights(runs: int) -> list[tuple[int, ...]]:
    there = [(75, 25), (50, 50), (0, 100)]
    back = [(25, 75), (50, 50), (100, 0)]
    expected = [(100, 0)]
    for n in range(runs):
        expected += there if n % 2 == 0 else back
    return expected
