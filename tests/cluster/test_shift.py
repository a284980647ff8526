"""A shift on a real API server and a real istiod, with real Envoys between the load and both versions."""

import json
from typing import Any

import pytest

from tests.support.cluster_story import Scene
from tests.support.control_story import load

pytestmark = pytest.mark.cluster
RATE = 60.0


def ended(status: Any) -> bool:
    return status["phase"] in ("Promoted", "RolledBack", "Failed")


def without_weights(document: dict[str, Any]) -> str:
    for route in document["spec"]["http"]:
        for each in route["route"]:
            each.pop("weight", None)
    return json.dumps(document, sort_keys=True)


async def test_a_good_version_gets_all_traffic_and_a_bad_one_none(stage: Scene) -> None:
    before = {name: without_weights(await stage.document(name)) for name in ("echo", "edge")}
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift()
        done = await stage.told(ended, "it ends")
        assert (done["phase"], done["share"]["acknowledged"]) == ("Promoted", "1"), done["reason"]
        assert {stable for stable, _ in (await stage.weights()).values()} == {0}
        assert traffic.failures == []
        reasons = [entry["reason"] for entry in done["history"]]
        moves = [each for each in reasons if each in ("StepEntered", "FullEntered", "Promoted")]
        assert moves[-2:] == ["FullEntered", "Promoted"]
        assert set(moves[:-2]) == {"StepEntered"}
        await stage.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=60s")
    assert {name: without_weights(await stage.document(name)) for name in before} == before


async def test_a_bad_version_is_rolled_back(stage: Scene) -> None:
    before = {name: without_weights(await stage.document(name)) for name in ("echo", "edge")}
    stage.stage.failing["v2", 0] = 0.5
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift()
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "RolledBack"
    assert done["outcome"] in ("HarmFound", "BudgetSpent")
    assert {name: without_weights(await stage.document(name)) for name in before} == before
    assert {canary for _, canary in (await stage.weights()).values()} == {0}
    assert len(traffic.failures) < 0.1 * sum(traffic.answers.values())


async def test_a_command_is_taken_from_its_annotation_and_answered(stage: Scene) -> None:
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        await stage.apply_shift(strategy={"kind": "steps", "steps": ["10%", "50%", "100%"], "hold": "1h"})
        await stage.told(lambda status: status["step"] == 1, "the first step")
        command = json.dumps({"id": "one", "verb": "rollback", "reason": "a test"})
        notes = (f"tidegate.dev/command={command}", "tidegate.dev/command-by=admin")
        await stage.cluster.kubectl_run("annotate", "trafficshift", "echo", *notes)
        done = await stage.told(ended, "it is rolled back")
        assert (done["phase"], done["outcome"]) == ("RolledBack", "Commanded")
        assert done["lastCommand"]["id"] == "one"
        assert not done["lastCommand"]["refused"]
        assert any("admin (verified)" in entry["actor"] for entry in done["history"])
