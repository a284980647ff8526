"""The version, or one process of it? Three processes of each version serve, and one of the new ones is bad."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from control.api.client import GrpcShiftClient
from tests.support.control_story import Stage, controllers, load, stage
from tests.support.mesh_wait import until

KEY = ("default", "echo")
PROCESSES = 3
RATE = 60.0  # requests a second and entrance
FAILS = 0.3
SHIFT = b"""\
apiVersion: tidegate.dev/v1alpha1
kind: TrafficShift
metadata: {name: echo, namespace: default}
spec:
  target:
    host: echo
    routes: [{virtualService: echo, route: primary}, {virtualService: edge, route: primary}]
  stable: v1
  canary: v2
  poll: 500ms
  strategy: {kind: evidence, rungs: [10%, 20%, 50%], bake: {for: 0s}}
  metrics: [{name: outcomes}]
  budget: 500
"""


@pytest.mark.story
@pytest.mark.envoy
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        pytest.param([2], "PodSuspect", id="one process of three is held against no version"),
        pytest.param([0, 1, 2], "HarmFound", id="three of three are the version"),
    ],
)
async def test_one_bad_process_is_not_the_version(bad: list[int], reason: str, tmp_path: Path) -> None:
    async with stage(tmp_path, processes=PROCESSES) as scene, load(scene, rate=RATE), controllers(scene) as crew:
        scene.failing.update({("v2", number): FAILS for number in bad})
        await crew.start()
        history = await _decided(scene, await crew.ready(), reason)
        await crew.kill()
    gone_back = [entry["reason"] for entry in history if entry["reason"] in ("HarmFound", "BudgetSpent")]
    assert gone_back == ([reason] if reason == "HarmFound" else [])


async def _decided(scene: Stage, controller: str, reason: str) -> list[Mapping[str, Any]]:
    """The journal once a decision has this reason."""
    async with GrpcShiftClient(controller, scene.token_file.read_text().strip()) as tool:
        await tool.apply(SHIFT, "shift.yaml")

        async def decided() -> list[Mapping[str, Any]]:
            history = list(await tool.history(*KEY))
            return history if any(entry["reason"] == reason for entry in history) else []

        return await until(decided, within_s=90, what=reason)
